// Starts the agent of a session of a conversation, and opens the session there.

import { homedir } from "node:os";
import type { Entry } from "@parley/acp";
import { reviewKey } from "@parley/acp/extensions";
import type { JsonValue } from "@parley/acp/model";
import { exportSession } from "@parley/client/history";
import type { ManagedSession } from "@parley/client/internal";
import {
  AgentHost,
  type BranchPoint,
  type KnownSession,
  type OpenedSession,
  openBranch,
  type SessionAgent,
  type SessionHost,
} from "@parley/client/internal";
import { CommandError } from "../../command/command.ts";
import type { AgentTarget } from "../../live/agent-target.ts";
import { releaseKnown } from "../../live/history-opener.ts";
import { findTarget, foundBy, hostedAgent } from "../../live/hosted-agent.ts";
import { type AgentUse, type HostOptions, LiveAgent, type LiveAgentSession } from "../../live/live-agent.ts";
import { keepHeapSmall } from "../../live/small-heap.ts";
import type { ExportFormat } from "./conversations.ts";

const use: AgentUse = {
  // the user forces an agent that takes too long
  cancelTimeoutMs: 60_000,
  unstable: ["fork", "plans", "subagents"],
  // so that our own agent leaves snapshots and /undo to the review of chat
  _meta: { [reviewKey]: true },
};

/** Which session is opened. */
export interface Opening extends HostOptions {
  /** The session to copy. */
  readonly forks?: SessionHost | undefined;
  /** The session of which a branch is opened, and where it begins. */
  readonly branch?: { readonly of: SessionHost; readonly point: BranchPoint } | undefined;
  /** The session whose agent, folder and options a new one gets. */
  readonly like?: SessionHost | undefined;
  /** Whether a copy is opened of the session that the options name, which somebody else uses. */
  readonly copies: boolean;
}

type Found = (session: KnownSession) => void;

/** Rejects with an error that a user can read. */
export async function openHosted(session: SessionHost, given: Opening, found: Found): Promise<OpenedSession> {
  // after the first paint, whose garbage is not worth it
  keepHeapSmall();
  if (given.forks !== undefined) return openFork(session, given.forks, given, found);
  if (given.branch !== undefined) return openBranched(session, given.branch, given, found);
  if (given.like !== undefined) return openLike(session, given.like, found);
  const warn = (text: string) => session.notice("warning", text);
  const target = await findTarget(given, { claims: !given.copies, warn });
  try {
    return await openFound(target, session, given, found);
  } catch (error) {
    // its agent could not be started, for example
    if (target.known !== undefined && !given.copies) await releaseKnown(given.history, target.known);
    throw error;
  }
}

async function openFound(
  target: AgentTarget,
  session: SessionHost,
  given: Opening,
  found: Found,
): Promise<OpenedSession> {
  const agent = hostedAgent(given, target, session, { ...use, isVerbose: given.options.showsStderr });
  found(foundBy(agent));
  if (target.known !== undefined && session.isEmpty) await replay(target.known.id, session, given);
  const { capabilities } = await agent.agent.start();
  if (given.copies) {
    if (!capabilities.fork)
      throw new CommandError(
        "not_offered",
        `${agent.agent.target.entry.name} cannot copy sessions`,
        "close the session where it is open, and try again",
      );
    return { agent, ...(await forkOf(agent, target.known?.agentSessionId ?? "", session)) };
  }
  const { listed } = await agent.agent.resolve();
  found(foundBy(agent));
  // what the history does not have comes from the agent
  const replays = listed !== undefined && session.isEmpty;
  const opened = await agent.agent.open(session, replays);
  const { note } = agent.agent.target;
  if (note !== undefined) session.notice("info", note);
  return { agent, ...opened };
}

async function openFork(
  session: SessionHost,
  original: SessionHost,
  given: Opening,
  found: Found,
): Promise<OpenedSession> {
  const { agent, sessionId } = started(original);
  const { historyId } = original;
  agent.join(session);
  found({ ...foundBy(agent), isContinued: true });
  const stored = (await agent.agent.historyOf(sessionId)) ?? historyId;
  if (stored !== undefined) await replay(stored, session, given);
  else if (!original.isEmpty)
    session.notice(
      "info",
      "The agent knows the conversation that this is a copy of. It is not stored, so it cannot be shown here.",
    );
  return { agent, ...(await forkOf(agent, sessionId, session)) };
}

function forkOf(
  { agent }: AgentHost<LiveAgent>,
  sessionId: string,
  session: SessionHost,
): Promise<LiveAgentSession> {
  return agent.another(sessionId, session, (running, place) => running.forkSession(sessionId, place));
}

type BranchOf = NonNullable<Opening["branch"]>;

async function openBranched(
  session: SessionHost,
  { of, point }: BranchOf,
  given: Opening,
  found: Found,
): Promise<OpenedSession> {
  const { agent, sessionId } = started(of);
  agent.join(session);
  found({ ...foundBy(agent), historyId: undefined, title: point.title, cwd: point.cwd, isContinued: true });
  await replay(of.historyId ?? "", session, given, point.atSeq);
  let memory: OpenedSession["memory"];
  const branch = await agent.agent.another(sessionId, session, async (running, place) => {
    const opened = await openBranch(running, sessionId, point, place);
    memory = opened.memory;
    return opened.session;
  });
  await setLike(branch.session, of, session);
  return { agent, ...branch, memory };
}

async function openLike(session: SessionHost, like: SessionHost, found: Found): Promise<OpenedSession> {
  const { agent } = started(like);
  agent.join(session);
  found({ ...foundBy(agent), historyId: undefined, title: undefined, isContinued: false });
  const opened = await agent.agent.another(undefined, session, (running, place) => running.newSession(place));
  await setLike(opened.session, like, session);
  return { agent, ...opened };
}

/** Sets the mode, the model and the other options as they are in the other session. */
async function setLike(
  { configOptions, setConfigOption }: ManagedSession,
  like: SessionHost,
  session: SessionHost,
) {
  for (const { configId, currentValue, name } of like.options) {
    const own = configOptions.find((each) => each.configId === configId);
    if (own === undefined || own.currentValue === currentValue || currentValue === undefined) continue;
    await setConfigOption(configId, currentValue as JsonValue).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      session.notice("warning", `${name} is not as it was: ${why}`);
    });
  }
}

function started({ agent, sessionId }: SessionHost) {
  if (isRunHere(agent) && sessionId !== undefined) return { agent, sessionId };
  throw new CommandError(
    "not_ready",
    "the agent of the session has not been started yet",
    "try again when it has",
  );
}

function isRunHere(agent: SessionAgent | undefined): agent is AgentHost<LiveAgent> {
  return agent instanceof AgentHost && agent.agent instanceof LiveAgent;
}

/** Shows what the history has of a session. */
async function replay(
  id: string,
  session: SessionHost,
  { history }: HostOptions,
  atSeq = Number.POSITIVE_INFINITY,
): Promise<void> {
  const opened = await history?.open();
  if (opened === undefined) return;
  for await (const entry of opened.entries(id)) {
    if (entry.seq > atSeq) return;
    session.past(entry);
  }
}

/** The transcript without secrets. */
export async function exportedSession(
  id: string | undefined,
  { history, secrets }: HostOptions,
  format: ExportFormat,
): Promise<string> {
  if (history === undefined)
    throw new CommandError(
      "not_stored",
      "nothing is stored here, so there is nothing to export: the demo and --no-history store nothing",
      "start parley chat without --no-history",
    );
  const opened = await history.open();
  const session = id === undefined ? undefined : await opened?.find(id);
  if (opened === undefined || session === undefined)
    throw new CommandError(
      "not_stored",
      "this session is not stored yet, so it cannot be exported; send a prompt first",
      "send a prompt first",
    );
  const entries: Entry[] = [];
  for await (const entry of opened.entries(session.id)) entries.push(entry);
  const { text } = await exportSession(session, entries, {
    format,
    secrets: await secrets(),
    homeFolder: homedir(),
  });
  return text;
}
