// Starts the agent, and opens or continues the session of a run.

import { type AgentCapabilities, ConnectionError, RequestError } from "@parley/acp";
import { optional, versionOf } from "@parley/acp/internal";
import type { McpServer } from "@parley/acp/model";
import { LaunchError, PromptInputError } from "@parley/client";
import {
  endHint,
  type ManageAgentOptions,
  type ManagedConnection,
  type ManagedSession,
  type ManagedSessionOptions,
  manageAgent,
  problemOf,
} from "@parley/client/internal";
import { CommandError } from "../command/command.ts";
import { isOwnAgent } from "../settings/named-agent.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { exitCodes, RunError } from "./run-ending.ts";
import type { RunTarget } from "./run-target.ts";

const shownStderr = 4096;

export interface TakenSession {
  readonly session: ManagedSession;
  /** The agent knows the previous conversation. */
  readonly isResumed: boolean;
}

/** Rejects with a RunError, which contains stderr unless it was printed already. */
export async function startAgent(
  target: RunTarget,
  { isStderrShown, tokenHint }: { readonly isStderrShown: boolean; readonly tokenHint?: string | undefined },
  options: ManageAgentOptions,
): Promise<ManagedConnection> {
  try {
    return await manageAgent(target.entry, options);
  } catch (error) {
    if (tokenHint !== undefined && error instanceof LaunchError && /\bgot (?:401|429)\b/.test(error.message))
      throw new RunError(exitCodes.notStarted, error.kind, safeText(error.message), tokenHint);
    throw ownRefusal(error, target) ?? runErrorFrom(error, { isStderrShown, server: serverOf(target) });
  }
}

/** Where a remote agent runs. */
function serverOf({ entry }: Pick<RunTarget, "entry">): string | undefined {
  return entry.transport === "stdio" ? undefined : new URL(entry.url).host;
}

/** What our own agent says when it does not start with the model or the settings that it was given. */
function ownRefusal(error: unknown, { entry }: RunTarget): RunError | undefined {
  if (!(error instanceof LaunchError) || entry.transport !== "stdio" || !isOwnAgent(entry)) return undefined;
  const [, said] = error.exitCode === 2 ? (/^parley: (.+)$/m.exec(error.stderr ?? "") ?? []) : [];
  const hint =
    "choose a model with --model, or with parley config set agent.model; docs/models.md lists them";
  return said === undefined ? undefined : new RunError(exitCodes.usage, "setup", said, hint);
}

interface TakeOptions {
  readonly flags: readonly string[];
  readonly notice: (text: string) => void;
  readonly takesOver?: boolean | undefined;
}

const takeover = { "_parley.dev/takeover": true };

/** Rejects with a RunError. `flags` are the settings that the user typed: "mode", "model", "option x". */
export async function takeSession(
  running: ManagedConnection,
  target: RunTarget,
  options: ManagedSessionOptions,
  { flags, notice, takesOver = false }: TakeOptions,
): Promise<TakenSession> {
  const { known, listed } = target;
  try {
    const taking = takesOver ? { ...options, _meta: takeover } : options;
    const old = listed?.sessionId ?? known?.agentSessionId;
    const again = old === undefined ? undefined : await reopened(running, old, taking, notice);
    const session = again ?? (await running.newSession(options));
    for (const { what, why, message } of session.setupProblems) {
      // only settings that the user typed are errors
      if (!flags.includes(what)) notice(message);
      else if (why === "refused") throw new RunError(exitCodes.agentError, "setup", message);
      else throw new RunError(exitCodes.usage, "setup", message, "see parley help run");
    }
    return { session, isResumed: again !== undefined };
  } catch (error) {
    throw runErrorFrom(error, { server: serverOf(target) });
  }
}

/** It has neither a program nor stderr here. */
export function isRemote({ entry }: Pick<RunTarget, "entry">): boolean {
  return entry.transport !== "stdio";
}

/** Undefined, with a notice, if the agent cannot continue the session: a new one is started then. */
async function reopened(
  running: ManagedConnection,
  sessionId: string,
  options: ManagedSessionOptions,
  notice: (text: string) => void,
): Promise<ManagedSession | undefined> {
  const { resume, load } = running.capabilities;
  if (!resume && !load) {
    notice(`the agent cannot continue sessions: ${newSession}`);
    return undefined;
  }
  try {
    return await running.resumeSession(sessionId, options);
  } catch (error) {
    // agents use many codes for unknown sessions; opening a new one shows whether the agent works
    if (!(error instanceof RequestError) || problemOf(error).kind === "login_needed") throw error;
    if (isBusy(error)) throw busySession(sessionId, error, isRemote({ entry: running.spec }));
    notice(`the agent cannot open the session (${safeLine(error.message)}): ${newSession}`);
    return undefined;
  }
}

const newSession = "starting a new one; it does not know the previous conversation";

export function runErrorFrom(
  error: unknown,
  {
    isStderrShown = false,
    server,
  }: { readonly isStderrShown?: boolean; readonly server?: string | undefined },
): Error {
  if (error instanceof LaunchError) {
    const { kind, message, hint, stderr = "" } = error;
    const text = withStderr(message, isStderrShown ? "" : stderr);
    if (kind === "login_needed") return new RunError(exitCodes.loginNeeded, kind, text, hint);
    // the caller knows why
    if (kind === "aborted") return new RunError(exitCodes.cancelled, kind, text);
    return new RunError(
      kind === "crash_loop" ? exitCodes.agentError : exitCodes.notStarted,
      kind,
      text,
      hint,
    );
  }
  if (error instanceof ConnectionError) {
    const { kind, message, stderr = "" } = error;
    const isWrong = kind === "protocol" || kind === "too_large";
    return new RunError(
      exitCodes.agentError,
      isWrong ? "protocol" : "agent_gone",
      withStderr(`the agent ${isWrong ? "violated the protocol" : "ended unexpectedly"}: ${message}`, stderr),
      server !== undefined ? (endHint(error) ?? remoteHint) : isWrong ? tapHint : goneHint(stderr),
    );
  }
  if (error instanceof RequestError) return notOpened(error, server);
  // the options need a feature that the agent does not offer
  if (error instanceof TypeError) return new RunError(exitCodes.usage, "not_offered", error.message);
  return error instanceof Error ? error : new Error(String(error));
}

function notOpened(error: RequestError, server: string | undefined): RunError {
  const { kind, message } = problemOf(error);
  const at = server === undefined ? "" : ` at ${server}`;
  const isElsewhere = server !== undefined && /director|cwd/i.test(message);
  return new RunError(
    kind === "login_needed" ? exitCodes.loginNeeded : exitCodes.agentError,
    "agent_error",
    `the agent${at} could not open a session: ${safeLine(message)} (${error.code})`,
    ...(isElsewhere ? [`--cwd DIR names a directory of ${server}`] : []),
    ...(isUnusableStore(error) ? [storeHint] : []),
  );
}

/** The end of a run by any error; rethrows those that are ours. */
export function failureFrom(error: unknown, target: RunTarget | undefined): RunError {
  if (error instanceof RunError) return error;
  if (error instanceof CommandError)
    return new RunError(error.exitCode, error.code, error.message, error.hint);
  if (error instanceof PromptInputError) {
    return new RunError(exitCodes.usage, "usage", error.message, "see parley help run");
  }
  if (error instanceof Error && error.name === "AbortError") {
    return new RunError(exitCodes.cancelled, "cancelled", "cancelled");
  }
  const known = runErrorFrom(error, { server: target && serverOf(target) });
  if (known instanceof RunError) return known;
  throw known;
}

const remoteHint = "check the network between here and the agent and try again, or ask whoever runs it";
const tapHint = "record its messages with parley tap -- COMMAND";

function goneHint(stderr: string): string {
  return `${stderr.trim() === "" ? "it wrote nothing to stderr" : "see its stderr above"}; try again`;
}

const storeHint =
  "use --verbose to see the agent's log; for Parley's own agent run parley doctor, set PARLEY_HOME, or use --no-history";

function isUnusableStore({ data }: RequestError): boolean {
  return typeof data === "object" && data !== null && "reason" in data && data.reason === "store_unusable";
}

/** Appends the end of the agent's stderr to the message. */
function withStderr(message: string, stderr: string): string {
  const tail = safeText(stderr.slice(-shownStderr)).trim();
  return tail === "" || message.includes(`\n${tail}`) ? safeText(message) : `${safeText(message)}\n${tail}`;
}

export function describeAgent({ info, edition }: ManagedConnection, name: string) {
  return {
    agent: { name: info?.name ?? name, ...optional({ version: info?.version }) },
    protocol: versionOf(edition),
    edition,
  };
}

/** Another process uses the session, or has just started it. */
export function isBusy(error: unknown): boolean {
  const { reason } = (error instanceof RequestError ? (error.data ?? {}) : {}) as {
    readonly reason?: unknown;
  }; // any JSON
  return reason === "session_held" || reason === "session_exists";
}

export function busySession(name: string, error: unknown, isElsewhere = false): RunError {
  const { data } = error as { readonly data?: { readonly holder?: { readonly pid?: unknown } } }; // isBusy has looked at it
  const pid = data?.holder?.pid;
  return new RunError(
    exitCodes.notStarted,
    "session_busy",
    `the session ${safeLine(name)} is in use by ${typeof pid === "number" ? `process ${pid}` : isElsewhere ? "another client" : "another process"}`,
    isElsewhere
      ? "take it over with --takeover, or close it there"
      : "try again when it is done, or choose another name",
  );
}

export function sessionMcpServers(
  typed: readonly McpServer[],
  configured: readonly McpServer[],
  features: AgentCapabilities,
  notice: (text: string) => void,
): readonly McpServer[] {
  const names = new Set(typed.map(({ name }) => name));
  const others = configured.filter(({ name }) => !names.has(name));
  const isUsable = ({ type }: McpServer) => {
    if (type === "http") return features.mcpHttp;
    return type === "sse" ? features.mcpSse : features.mcpStdio;
  };
  const unusable = others.filter((server) => !isUsable(server)).map(({ name }) => String(name));
  // opening the session fails for unsupported servers that were typed
  if (unusable.length > 0)
    notice(`the agent does not support these configured MCP servers: ${unusable.join(", ")}`);
  return [...others.filter(isUsable), ...typed];
}
