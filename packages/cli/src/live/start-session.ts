// Starts the agent, and opens or continues its session.

import { type AgentCapabilities, ConnectionError, RequestError } from "@parley/acp";
import { versionOf } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import { LaunchError, problemOf } from "@parley/client";
import {
  type ManageAgentOptions,
  type ManagedConnection,
  type ManagedSession,
  type ManagedSessionOptions,
  manageAgent,
} from "@parley/client/internal";
import { endHint } from "@parley/client/launch";
import { CommandError } from "../command/command.ts";
import { isOwnAgent } from "../settings/named-agent.ts";
import { isTokenRefusal } from "../settings/remote-address.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import type { AgentTarget } from "./agent-target.ts";
import { busySession, exitCodes, isBusy, LiveError } from "./live-error.ts";

const shownStderr = 4096;

export interface TakenSession {
  readonly session: ManagedSession;
  /** The agent knows the previous conversation. */
  readonly isResumed: boolean;
}

/** Rejects with a LiveError, which contains stderr unless it was printed already. */
export async function startAgent(
  target: AgentTarget,
  { isStderrShown, tokenHint }: { readonly isStderrShown: boolean; readonly tokenHint?: string | undefined },
  options: ManageAgentOptions,
): Promise<ManagedConnection> {
  try {
    return await manageAgent(target.entry, options);
  } catch (error) {
    // the policy has an invalid rule
    if (error instanceof CommandError) throw error;
    if (tokenHint !== undefined && error instanceof LaunchError && isTokenRefusal(error.status))
      throw new LiveError(exitCodes.notStarted, error.kind, safeText(error.message), tokenHint);
    throw ownRefusal(error, target) ?? liveErrorFrom(error, { isStderrShown, server: serverOf(target) });
  }
}

/** Where a remote agent runs. */
export function serverOf({ entry }: Pick<AgentTarget, "entry">): string | undefined {
  return entry.transport === "stdio" ? undefined : new URL(entry.url).host;
}

/** What our own agent says when it does not start with the model or the settings that it was given. */
function ownRefusal(error: unknown, { entry }: AgentTarget): LiveError | undefined {
  if (!(error instanceof LaunchError) || entry.transport !== "stdio" || !isOwnAgent(entry)) return undefined;
  const [, said] = error.exitCode === 2 ? (/^parley: (.+)$/m.exec(error.stderr ?? "") ?? []) : [];
  const hint =
    "choose a model with --model, or with parley config set agent.model; docs/models.md lists them";
  return said === undefined ? undefined : new LiveError(exitCodes.usage, "setup", said, hint);
}

interface TakenWith {
  /** The settings that the user typed: "mode", "model", "option x". */
  readonly flags: readonly string[];
  /** Whether the agent sends the earlier conversation of a session that it continues. */
  readonly replays: boolean;
  /** Whether it is taken from another client that has it. */
  readonly takesOver?: boolean;
  notice(text: string): void;
}

/** Rejects with a LiveError. */
export async function takeSession(
  running: ManagedConnection,
  target: AgentTarget,
  options: ManagedSessionOptions,
  given: TakenWith,
): Promise<TakenSession> {
  const { flags, notice, takesOver } = given;
  const taking = takesOver ? { ...options, takeover: true } : options;
  const { known, listed } = target;
  try {
    const old = listed?.sessionId ?? known?.agentSessionId;
    const again = old === undefined ? undefined : await reopened(running, old, taking, given);
    const session = again ?? (await running.newSession(options));
    for (const { what, why, message } of session.setupProblems) {
      // only settings that the user typed are errors
      if (!flags.includes(what)) notice(message);
      else if (why === "refused") throw new LiveError(exitCodes.agentError, "setup", message);
      else throw new LiveError(exitCodes.usage, "setup", message, "see parley help run");
    }
    return { session, isResumed: again !== undefined };
  } catch (error) {
    throw liveErrorFrom(error, { server: serverOf(target) });
  }
}

/** It has neither a program nor stderr here. */
export function isRemote({ entry }: Pick<AgentTarget, "entry">): boolean {
  return entry.transport !== "stdio";
}

/** Undefined, with a notice, if the agent cannot continue the session: a new one is started then. */
async function reopened(
  running: ManagedConnection,
  sessionId: string,
  options: ManagedSessionOptions,
  { replays, notice }: TakenWith,
): Promise<ManagedSession | undefined> {
  const { resume, load } = running.capabilities;
  if (!resume && !load) {
    notice(`the agent cannot continue sessions: ${newSession}`);
    return undefined;
  }
  try {
    return replays
      ? await running.loadSession(sessionId, options)
      : await running.resumeSession(sessionId, options);
  } catch (error) {
    // agents use many codes for unknown sessions; opening a new one shows whether the agent works
    if (!(error instanceof RequestError) || problemOf(error).kind === "login_needed") throw error;
    if (isBusy(error)) {
      const isElsewhere = isRemote({ entry: running.spec });
      throw busySession(sessionId, error, { isElsewhere });
    }
    notice(`the agent cannot open the session (${safeLine(error.message)}): ${newSession}`);
    return undefined;
  }
}

const newSession = "starting a new one; it does not know the previous conversation";

export function liveErrorFrom(
  error: unknown,
  {
    isStderrShown = false,
    server,
  }: { readonly isStderrShown?: boolean; readonly server?: string | undefined },
): Error {
  if (error instanceof LaunchError) {
    const { kind, message, hint, stderr = "" } = error;
    const text = withStderr(message, isStderrShown ? "" : stderr);
    if (kind === "login_needed") return new LiveError(exitCodes.loginNeeded, kind, text, hint);
    // the caller knows why
    if (kind === "aborted") return new LiveError(exitCodes.cancelled, kind, text);
    return new LiveError(
      kind === "crash_loop" ? exitCodes.agentError : exitCodes.notStarted,
      kind,
      text,
      hint,
    );
  }
  if (error instanceof ConnectionError) {
    const { kind, message, stderr = "" } = error;
    if (kind === "session_taken")
      return new LiveError(
        exitCodes.sessionTaken,
        kind,
        "another client has taken the session; a running turn may continue there",
        "--takeover takes it back",
      );
    const isWrong = kind === "protocol" || kind === "too_large";
    return new LiveError(
      exitCodes.agentError,
      isWrong ? "protocol" : "agent_gone",
      withStderr(`the agent ${isWrong ? "violated the protocol" : "ended unexpectedly"}: ${message}`, stderr),
      server !== undefined ? (endHint(error) ?? remoteHint) : isWrong ? tapHint : goneHint(stderr),
    );
  }
  if (error instanceof RequestError) return notOpened(error, server);
  // the options need a feature that the agent does not offer
  if (error instanceof TypeError) return new LiveError(exitCodes.usage, "not_offered", error.message);
  return error instanceof Error ? error : new Error(String(error));
}

function notOpened(error: RequestError, server: string | undefined): LiveError {
  const { kind, message } = problemOf(error);
  const at = server === undefined ? "" : ` at ${server}`;
  const isElsewhere = server !== undefined && /director|cwd/i.test(message);
  return new LiveError(
    kind === "login_needed" ? exitCodes.loginNeeded : exitCodes.agentError,
    "agent_error",
    `the agent${at} could not open a session: ${safeLine(message)} (${error.code})`,
    ...(isElsewhere ? [`--cwd DIR names a directory of ${server}`] : []),
    ...(isUnusableStore(error) ? [storeHint] : []),
  );
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
