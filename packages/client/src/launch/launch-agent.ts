// Starts or reaches an agent and connects to it.

import {
  type ClientDefinition,
  type ConnectedAgent,
  ConnectionError,
  client,
  RequestError,
} from "@parley/acp";
import type { AgentEntry, CommandEntry } from "../agents/agent-entry.ts";
import { agentEnvironment, passedKeys, withoutKeys } from "../agents/environment.ts";
import { abortableTransport } from "./abortable-transport.ts";
import { LaunchError, stderrHint } from "./launch-error.ts";
import { pausableTransport } from "./pausable-transport.ts";
import { type Explanation, type ReachedAgent, reachCommand } from "./reach-command.ts";
import { reachRemote } from "./reach-remote.ts";
import { reportWaiting, type WaitingEvent } from "./report-waiting.ts";
import { type Unread, watchedInput } from "./watched-input.ts";

/** What happens until an agent can be used, for whoever waits in front of a screen. */
export type LaunchEvent =
  | {
      readonly kind: "starting";
      readonly agent: string;
      readonly command: readonly string[];
      readonly keys: readonly string[];
    }
  | { readonly kind: "connecting"; readonly agent: string; readonly url: string }
  | WaitingEvent
  | {
      readonly kind: "ready";
      readonly handshakeMs: number;
      readonly agent: string;
      readonly version: number;
    };

export interface LaunchOptions {
  /** Who we are, and what we offer to the agent. */
  readonly definition: ClientDefinition;
  /** Where a program is started. Default: our own working directory. */
  readonly cwd?: string;
  /** Ours, of which the agent gets a part. Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Given to the agent beside that: what somebody typed to log in. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long it may take to answer `initialize`. Default: what the entry says, else 60,000 ms. */
  readonly handshakeTimeoutMs?: number;
  readonly onProgress?: (event: LaunchEvent) => void;
  /** Sees all of its stderr. */
  readonly onStderr?: (text: string) => void;
  /** Sees what it wrote to its stdout that could not be read. */
  readonly onUnread?: (unread: Unread) => void;
  /** Gives up. */
  readonly signal?: AbortSignal;
  /** Ends the agent and everything that it started at once, whatever it is given time for. */
  readonly kill?: AbortSignal;
}

export interface LaunchedAgent {
  readonly entry: AgentEntry;
  readonly agent: ConnectedAgent;
  /** Of the program, where it is one of this machine. */
  readonly pid: number | undefined;
  readonly handshakeMs: number;
  /** The last that it wrote to stderr. */
  stderrTail(): string;
  /** Reads nothing more of it until `resume`: it has to wait. A message that was already read may still arrive. */
  pause(): void;
  resume(): void;
  /** Tells it that nothing more will come; what it still says is read. False where that cannot be told. */
  endInput(): boolean;
  /** Ends the agent and everything that it started. */
  close(): Promise<void>;
}

const defaultHandshakeMs = 60_000;

/** Rejects with a LaunchError that says what to do; nothing of the agent is left then. */
export async function launchAgent(entry: AgentEntry, options: LaunchOptions): Promise<LaunchedAgent> {
  const { definition, onProgress, signal } = options;
  const timeoutMs = options.handshakeTimeoutMs ?? entry.handshakeTimeoutMs ?? defaultHandshakeMs;
  if (signal?.aborted) throw givenUp(entry);
  const started = performance.now();
  const reached = entry.transport === "stdio" ? startProgram(entry, options) : startRemote(entry, options);
  const answered = reportWaiting({ what: "initialize", timeoutMs }, reached.stderrTail, onProgress);
  const held = pausableTransport(watchedInput(reached.transport, (unread) => options.onUnread?.(unread)));
  const { transport, settled } =
    signal === undefined
      ? { transport: held.transport, settled() {} }
      : abortableTransport(held.transport, signal);
  try {
    const ours = { ...offered(entry, definition), handshakeTimeoutMs: timeoutMs };
    const agent = await client(ours).connect(transport);
    const handshakeMs = performance.now() - started;
    const name = agent.info?.title ?? agent.info?.name ?? entry.name;
    onProgress?.({ kind: "ready", handshakeMs, agent: name, version: agent.version });
    const { pid, stderrTail } = reached;
    const { pause, resume } = held;
    const endInput = () => {
      reached.transport.endOutput?.();
      return reached.transport.endOutput !== undefined;
    };
    return {
      entry,
      agent,
      pid,
      handshakeMs,
      stderrTail,
      pause,
      resume,
      endInput,
      close: () => agent.close(),
    };
  } catch (error) {
    if (signal?.aborted) throw givenUp(entry);
    const isUnexplained = error instanceof ConnectionError && error.kind !== "handshake_timeout";
    const explained = isUnexplained ? await reached.explain?.(error) : undefined;
    throw failure(entry, reached, error, { timeoutMs, explained });
  } finally {
    answered();
    settled();
  }
}

function startProgram(entry: CommandEntry, options: LaunchOptions): ReachedAgent {
  const environment = { ...agentEnvironment(entry, options.environment ?? process.env), ...options.env };
  const { command, args, name } = entry;
  options.onProgress?.({
    kind: "starting",
    agent: name,
    command: [command, ...args],
    keys: passedKeys(environment),
  });
  const reached = reachCommand(entry, environment, options);
  return { ...reached, stderrTail: () => withoutKeys(reached.stderrTail(), environment, options.env) };
}

function startRemote(entry: Exclude<AgentEntry, CommandEntry>, options: LaunchOptions): ReachedAgent {
  const reached = reachRemote(entry);
  options.onProgress?.({ kind: "connecting", agent: entry.name, url: entry.url });
  return reached;
}

/** What we offer, less what this agent is known to be better without. */
function offered({ quirks = {} }: AgentEntry, definition: ClientDefinition): ClientDefinition {
  const { ownFiles } = quirks;
  const { files, ...rest } = definition;
  return {
    ...rest,
    ...(ownFiles || files === undefined ? {} : { files }),
  };
}

function givenUp({ name }: AgentEntry): LaunchError {
  return new LaunchError("aborted", `starting ${name} was given up`, { hint: "start it again" });
}

function failure(
  entry: AgentEntry,
  reached: ReachedAgent,
  error: unknown,
  { timeoutMs, explained }: { readonly timeoutMs: number; readonly explained: Explanation | undefined },
): Error {
  const stderr = reached.stderrTail().trim() || undefined;
  const { name } = entry;
  const servesHint = `check that this ${entry.transport === "stdio" ? "command" : "address"} serves ACP`;
  if (error instanceof RequestError) {
    const message = `${name} refused initialize: ${error.message} (${error.code})`;
    return new LaunchError("protocol", message, {
      hint: servesHint,
      stderr,
      cause: error,
    });
  }
  if (!(error instanceof ConnectionError)) return error instanceof Error ? error : new Error(String(error));
  const { exitCode, signal } = error;
  const details = { stderr, exitCode, signal, cause: error };
  switch (error.kind) {
    case "handshake_timeout":
      return new LaunchError("handshake_timeout", `${name} did not answer within ${timeoutMs / 1000} s`, {
        ...details,
        hint: `${servesHint}; an agent that is slow to start may get more time`,
      });
    case "spawn_failed":
      return new LaunchError("spawn_failed", error.message, { ...details, hint: installHint(entry) });
    case "exited":
      return new LaunchError("exited", `${name} ended before it could be used: ${error.message}`, {
        ...details,
        hint: whyHint(stderr),
      });
    case "protocol":
      return new LaunchError("protocol", `${name}: ${error.message}`, {
        ...details,
        hint: explained?.hint ?? servesHint,
      });
    default:
      if (explained === undefined) {
        return new LaunchError("exited", `${name}: ${error.message}`, { ...details, hint: whyHint(stderr) });
      }
      return new LaunchError("unreachable", `${name}: ${explained.message ?? error.message}`, {
        ...details,
        hint: explained.hint,
      });
  }
}

function whyHint(stderr: string | undefined): string {
  return `${stderrHint(stderr)}; check that this command serves ACP`;
}

/** How to get what is not there. */
export function installHint(entry: AgentEntry): string {
  if (entry.transport !== "stdio" || entry.install === undefined) return "install it, or give the full path";
  return `install it: ${entry.install}`;
}
