// Looks up the named session at the agent, and the agent's own name.

import type { AgentSession, LiveAgent } from "@parley/client";
import type { HistorySession } from "@parley/client/history";
import { usageError } from "../command/command-error.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunHistory } from "./run-recorder.ts";
import type { RunTarget } from "./run-target.ts";

const longestName = 80;

/** The target with what the agent knows about the named session. */
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
      : ` in the history, and ${escapedLine(live.entry.name)} does not list its own`;
    const note = `no session ${escapedLine(session)} yet${lists}: starting a new one with this name`;
    return { ...named, note };
  }
  if (isCwdGiven && cwd !== listed.cwd) {
    throw usageError(
      `the session ${escapedLine(session)} is in ${escapedLine(listed.cwd)}, not in ${escapedLine(cwd)}`,
      "omit --cwd, or choose another name to start a new session",
    );
  }
  return { ...named, cwd: listed.cwd, known: await inHistory(listed, named, history), listed };
}

/** For an agent started by a command, its own name says more than `node`. */
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
    // a failing list does not prevent the run
    notice(`cannot list the agent's sessions: ${safeLine(error instanceof Error ? error.message : "")}`);
    return undefined;
  }
}

/** The same session in the history, under another name. */
async function inHistory(
  { sessionId }: AgentSession,
  { agent }: RunTarget,
  history: RunHistory | undefined,
): Promise<HistorySession | undefined> {
  const all = await (await history?.open())?.list({ agent, limit: Number.POSITIVE_INFINITY });
  return all?.find((each) => each.agentSessionId === sessionId);
}
