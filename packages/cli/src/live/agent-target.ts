// Determines the agent, session and directory.

import type { SessionInfo } from "@parley/acp";
import { normalPath } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { AgentSandbox } from "@parley/client";
import type { HistoryAgent, HistorySession } from "@parley/client/history";
import { allSessions, isSameAgent, type ManagedConnection } from "@parley/client/internal";
import { commandEntry } from "@parley/client/launch";
import type { Rule } from "@parley/client/policy";
import { usageError } from "../command/command.ts";
import { mountsOf } from "../permissions/policy-rules.ts";
import { type ChosenAgent, chooseAgent, isOwnAgent } from "../settings/named-agent.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import type { HistoryOpener } from "./history-opener.ts";
import type { LiveOptions } from "./live-options.ts";

export interface AgentTarget extends ChosenAgent {
  /** Its name in the history. */
  readonly agent: HistoryAgent;
  readonly cwd: string;
  readonly known: HistorySession | undefined;
  /** The session as listed by the agent. */
  readonly listed?: SessionInfo;
  /** Printed when the session has started. */
  readonly note?: string;
}

/** `warn` is told about unknown names in the config file. Default: stderr. */
export async function agentTarget(
  options: LiveOptions,
  history: HistoryOpener | undefined,
  warn?: (text: string) => void,
): Promise<AgentTarget> {
  const { agent: name, command, address, edition, session, cwd, isCwdGiven } = options;
  const isGiven = name !== undefined || command.length > 0 || address !== undefined;
  const chosen = chooseAgent(name, command, edition, address, warn);
  const given = historyAgent(chosen.entry.name, command);
  const known = await knownSession(options, history, given, isGiven);
  const agent = known === undefined || isGiven ? given : known.agent;
  if (known !== undefined && !isSameAgent(agent, known.agent)) {
    throw usageError(
      `the session ${session} belongs to ${escapedLine(known.agent.name)}, not to ${escapedLine(agent.name)}`,
      "omit the agent, or choose another name to start a new session",
    );
  }
  // sessions resume with their own directory (C15)
  if (known !== undefined && isCwdGiven && normalPath(cwd) !== normalPath(known.cwd)) {
    throw usageError(
      `the session ${escapedLine(session ?? "")} is in ${escapedLine(known.cwd)}, not in ${escapedLine(cwd)}`,
      "omit --cwd, or choose another name to start a new session",
    );
  }
  const target =
    agent === given ? chosen : chooseAgent(agent.name, agent.command ?? [], edition, undefined, warn);
  const entry = withOwnArguments(target.entry, options, target.sandbox);
  // another agent would not tell the process that has it
  if (options.takesOver === true && entry.transport === "stdio" && !isOwnAgent(entry))
    throw usageError(
      `--takeover: ${escapedLine(entry.name)} cannot take a session from another process`,
      "it is for sessions of Parley's own agent, and with --url; close the session where it is open",
    );
  const isMissing = known === undefined && options.isContinued && session === undefined;
  const note = isMissing ? `${nothingToContinue(cwd, given, isGiven)}: starting a new one` : undefined;
  return { ...target, entry, agent, cwd: known?.cwd ?? cwd, known, ...optional({ note }) };
}

/** The sandbox of the agent's process. What rules deny on plain paths, the system denies the whole agent. */
export function agentSandbox(
  { entry, cwd }: AgentTarget,
  { sandboxesAgent, extraRoots }: LiveOptions,
  rules: readonly Rule[],
): AgentSandbox | undefined {
  if (!sandboxesAgent && !(entry.transport === "stdio" && entry.sandbox === true)) return undefined;
  const roots = [cwd, ...extraRoots];
  return { roots, ...mountsOf(rules, roots) };
}

/** Options that our own agent needs when it starts. */
function withOwnArguments(
  entry: ChosenAgent["entry"],
  { keepsHistory, model, hidesNotice, sandbox: typed }: LiveOptions,
  configured: ChosenAgent["sandbox"],
): ChosenAgent["entry"] {
  const sandbox = typed ?? configured;
  if (entry.transport !== "stdio" || !isOwnAgent(entry)) return entry;
  return {
    ...entry,
    args: [
      ...entry.args,
      ...(keepsHistory ? [] : ["--no-history"]),
      // it does not start with an unusable model of the config file
      ...(model === undefined ? [] : ["--model", model]),
      ...(hidesNotice === true ? ["--no-notice"] : []),
      ...(sandbox === undefined ? [] : ["--sandbox", sandbox]),
    ],
  };
}

async function knownSession(
  { session, isContinued, beginsAnyway = false, cwd }: LiveOptions,
  history: HistoryOpener | undefined,
  agent: HistoryAgent,
  isAgentGiven: boolean,
): Promise<HistorySession | undefined> {
  if (session !== undefined) return (await history?.open())?.find(session, { agent, cwd });
  if (!isContinued) return undefined;
  const query = { cwd, limit: 1, ...optional({ agent: isAgentGiven ? agent : undefined }) };
  const [last] = (await (await history?.open())?.list(query)) ?? [];
  if (last !== undefined || beginsAnyway) return last;
  throw usageError(
    nothingToContinue(cwd, agent, isAgentGiven),
    "omit --continue to start one; parley sessions list shows those of other directories",
  );
}

function nothingToContinue(cwd: string, agent: HistoryAgent, isAgentGiven: boolean): string {
  const whose = isAgentGiven ? ` with ${escapedLine(agent.name)}` : "";
  return `no session${whose} to continue in ${escapedLine(cwd)}`;
}

function historyAgent(name: string, command: readonly string[]): HistoryAgent {
  return command.length === 0 ? { name } : { name: commandEntry(command).name, command };
}

const longestName = 80;

/** The target with what the agent knows about the named session. */
export async function resolveSession(
  target: AgentTarget,
  running: ManagedConnection,
  options: LiveOptions,
  {
    history,
    notice,
  }: { readonly history: HistoryOpener | undefined; readonly notice: (text: string) => void },
): Promise<AgentTarget> {
  const named = withOwnName(target, running);
  const { session, isCwdGiven, cwd } = options;
  if (session === undefined || target.known !== undefined) return named;
  const listed = await listedAs(session, running, notice);
  if (listed === undefined && options.isResumed === true)
    throw usageError(`there is no session ${escapedLine(session)}`, "see parley sessions");
  if (listed === undefined) {
    const lists = running.capabilities.list
      ? ""
      : ` in the history, and ${escapedLine(running.spec.name)} does not list its own`;
    const note = `no session ${escapedLine(session)} yet${lists}: starting a new one with this name`;
    return { ...named, note };
  }
  if (isCwdGiven && normalPath(cwd) !== normalPath(listed.cwd)) {
    throw usageError(
      `the session ${escapedLine(session)} is in ${escapedLine(listed.cwd)}, not in ${escapedLine(cwd)}`,
      "omit --cwd, or choose another name to start a new session",
    );
  }
  return { ...named, cwd: listed.cwd, known: await inHistory(listed, named, history), listed };
}

/** For an agent started by a command, its own name says more than `node`. */
function withOwnName(target: AgentTarget, { info }: ManagedConnection): AgentTarget {
  const own = safeLine(info?.name ?? "").slice(0, longestName);
  const { agent } = target;
  return agent.command === undefined || own === "" ? target : { ...target, agent: { ...agent, name: own } };
}

async function listedAs(
  sessionId: string,
  running: ManagedConnection,
  notice: (text: string) => void,
): Promise<SessionInfo | undefined> {
  const { list, load, resume } = running.capabilities;
  if (!list || !(load || resume)) return undefined;
  try {
    const { sessions } = await allSessions(running);
    return sessions.find((each) => each.sessionId === sessionId);
  } catch (error) {
    // a failing list does not prevent the run
    notice(`cannot list the agent's sessions: ${safeLine(error instanceof Error ? error.message : "")}`);
    return undefined;
  }
}

/** The same session in the history, under another name. */
async function inHistory(
  { sessionId }: SessionInfo,
  { agent }: AgentTarget,
  history: HistoryOpener | undefined,
): Promise<HistorySession | undefined> {
  return (await history?.open())?.ofAgent(agent, sessionId);
}
