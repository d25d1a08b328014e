// Starts the agent of a session of a conversation, and opens the session there.

import { homedir } from "node:os";
import type { Entry, SessionUpdate } from "@parley/acp";
import { exportSession } from "@parley/client/history";
import { separateCalls } from "@parley/client/internal";
import { CommandError } from "../../command/command.ts";
import type { AgentTarget } from "../../live/agent-target.ts";
import { checkNew, releaseKnown } from "../../live/history-opener.ts";
import type { LiveAgentSession } from "../../live/live-agent.ts";
import { keepHeapSmall } from "../../live/small-heap.ts";
import type { ChatSession, ChatSessionOptions } from "./chat-session.ts";
import type { ExportFormat } from "./conversation.ts";
import { ConversationAgent, type HostOptions } from "./conversation-agent.ts";

interface Opening {
  /** The agent and the session are known; nothing is started yet. */
  begun(host: ConversationAgent): void;
  entry(entry: Entry): void;
}

export interface Hosted {
  readonly host: ConversationAgent;
  readonly opened: LiveAgentSession;
}

/** Rejects with an error that a user can read. */
export async function openHosted(
  session: ChatSession,
  given: ChatSessionOptions,
  { begun, entry }: Opening,
): Promise<Hosted> {
  // after the first paint, whose garbage is not worth it
  keepHeapSmall();
  session.separate = separateCalls();
  if (given.forks !== undefined) return openFork(session, given.forks, given, { begun, entry });
  const target = await ConversationAgent.find(given, session, { claims: !given.copies });
  try {
    return await openTarget(target, session, given, { begun, entry });
  } catch (error) {
    // its agent could not be started, for example
    if (target.known !== undefined && !given.copies) await releaseKnown(given.history, target.known);
    throw error;
  }
}

async function openTarget(
  target: AgentTarget,
  session: ChatSession,
  given: ChatSessionOptions,
  { begun, entry }: Opening,
): Promise<Hosted> {
  const host = new ConversationAgent(given, target, session);
  begun(host);
  if (target.known !== undefined && session.view.seq === 0) await replay(target.known.id, entry, given);
  const { capabilities } = await host.agent.start();
  if (given.copies) {
    if (!capabilities.fork)
      throw new CommandError(
        "not_offered",
        `${host.agent.target.entry.name} cannot copy sessions`,
        "close the session where it is open, and try again",
      );
    return { host, opened: await host.agent.fork(target.known?.agentSessionId ?? "", entry) };
  }
  const { listed } = await host.agent.resolve();
  begun(host);
  // what the history does not have comes from the agent
  const replays = listed !== undefined && session.view.seq === 0;
  const { session: name } = given.options;
  const opened = await host.agent.open(entry, { name, replays });
  if (name !== undefined && target.known === undefined) {
    await checkNew(opened.recorder, name);
  }
  const { note } = host.agent.target;
  if (note !== undefined) session.notice("info", note);
  return { host, opened };
}

async function openFork(
  session: ChatSession,
  original: ChatSession,
  given: ChatSessionOptions,
  { begun, entry }: Opening,
): Promise<Hosted> {
  const { host, sessionId, historyId } = original;
  if (host === undefined || sessionId === undefined)
    throw new CommandError(
      "not_ready",
      "the session to copy has not been started yet",
      "try again when it has",
    );
  host.join(session);
  begun(host);
  const stored = (await host.agent.historyOf(sessionId)) ?? historyId;
  if (stored !== undefined) await replay(stored, entry, given);
  else if (original.view.seq > 0)
    session.notice(
      "info",
      "The agent knows the conversation that this is a copy of. It is not stored, so it cannot be shown here.",
    );
  return { host, opened: await host.agent.fork(sessionId, entry) };
}

/** Renames a session at its agent and in the history. */
export async function renamed(
  title: string,
  host: ConversationAgent | undefined,
  opened: LiveAgentSession | undefined,
): Promise<SessionUpdate> {
  const { session, recorder } = opened ?? {};
  if (host?.agent.running?.capabilities.setTitle === true) await session?.setTitle(title);
  const update: SessionUpdate = { sessionUpdate: "session_info_update", title };
  recorder?.entry({ format: 1, seq: 0, time: Date.now(), kind: "update", update });
  return update;
}

/** Shows what the history has of a session. */
async function replay(id: string, show: (entry: Entry) => void, { history }: HostOptions): Promise<void> {
  const opened = await history?.open();
  if (opened === undefined) return;
  for await (const entry of opened.entries(id)) show(entry);
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
