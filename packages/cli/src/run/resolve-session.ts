// What a run learns about its session from the agent that it is for: whether the agent itself has one of that name, which no
// history knows, and what the agent calls itself.

import type { AgentSession, LiveAgent } from "@parley/client";
import type { HistorySession } from "@parley/client/history";
import { usageError } from "../command/command-error.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunHistory } from "./run-recorder.ts";
import type { RunTarget } from "./run-target.ts";

const longestName = 80;

/** The same target, with what the agent knows of the session that the user named. */
export async function resolveSession(
  target: RunTarget,
  live: LiveAgent,
  options: RunOptions,
  { history, notice }: { readonly history: RunHistory | undefined; readonly notice: (text: string) => void },
): Promise<RunTarget> {
  const named = withOwnName(target, live);
  const { session, isCwdGiven, cwd } = options;
  if (session === undefined || target.known !== undefined) return named;
  const listed = await listedAs(session, live, notice);
  if (listed === undefined) {
    const lists = live.connected.features.list
      ? ""
      : `, and ${escapedLine(live.entry.name)} does not list its own`;
    const note = `there is no session ${escapedLine(session)} yet${lists}: a new one begins under this name`;
    return { ...named, note };
  }
  if (isCwdGiven && cwd !== listed.cwd) {
    throw usageError(
      `the session ${escapedLine(session)} is in ${escapedLine(listed.cwd)}, not in ${escapedLine(cwd)}`,
      "leave --cwd out, or give another name to begin a new session",
    );
  }
  return { ...named, cwd: listed.cwd, known: await keptAs(listed, named, history), listed };
}

/** `node` says nothing about what was started by a command; what the agent calls itself does. */
function withOwnName(target: RunTarget, { connected }: LiveAgent): RunTarget {
  const own = safeLine(connected.info?.name ?? "").slice(0, longestName);
  const { agent } = target;
  return agent.command === undefined || own === "" ? target : { ...target, agent: { ...agent, name: own } };
}

async function listedAs(
  sessionId: string,
  live: LiveAgent,
  notice: (text: string) => void,
): Promise<AgentSession | undefined> {
  const { list, load, resume } = live.connected.features;
  if (!list || !(load || resume)) return undefined;
  try {
    const { sessions } = await live.listAll();
    return sessions.find((each) => each.sessionId === sessionId);
  } catch (error) {
    // it is not what the user wants of it
    notice(`the agent did not list its sessions: ${safeLine(error instanceof Error ? error.message : "")}`);
    return undefined;
  }
}

/** What was recorded of it before, under another name. */
async function keptAs(
  { sessionId }: AgentSession,
  { agent }: RunTarget,
  history: RunHistory | undefined,
): Promise<HistorySession | undefined> {
  const kept = await (await history?.open())?.list({ agent, limit: Number.POSITIVE_INFINITY });
  return kept?.find((each) => each.agentSessionId === sessionId);
}
