// Starts or reaches an agent and connects to it.

import {
  type ClientConnection,
  type ClientDefinition,
  ConnectionError,
  client,
  RequestError,
  type Transport,
} from "@parley/acp";
import { isDialectError } from "@parley/acp/internal";
import { checkOptions, optional, withTimeout } from "@parley/acp/jsonrpc";
import { editionNamed } from "@parley/dialects";
import type { AgentEntry, CommandEntry } from "../agents/agent-spec.ts";
import { agentEnvironment, passedKeys, withoutKeys } from "../agents/environment.ts";
import { traitsOf } from "../agents/ready-agents.ts";
import { type AgentSandbox, wantedSandbox } from "./agent-sandbox.ts";
import { LaunchError, type LaunchErrorKind, stderrHint } from "./launch-error.ts";
import type { LaunchEvent } from "./launch-event.ts";
import { type Explanation, type ReachedAgent, reachCommand } from "./reach-command.ts";
import { reportWaiting } from "./report-waiting.ts";
import { sandboxedBridge } from "./sandboxed-bridge.ts";
import { abortableTransport, noiseEvent, pausableTransport, watchedInput } from "./watched-transport.ts";

/** How an agent is started or reached. */
export interface ReachOptions {
  /** The working directory of the agent. Default: ours. */
  readonly cwd?: string | undefined;
  /** The environment from which the agent gets its variables. Default `process.env`. */
  readonly inherited?: Readonly<Record<string, string | undefined>> | undefined;
  /** Further variables for the agent, such as credentials. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: what its entry says. */
  readonly sandbox?: boolean | AgentSandbox | undefined;
  /** Called for each event of the launch. */
  readonly onEvent?: ((event: LaunchEvent) => void) | undefined;
  /** Puts something in front of the agent, such as a chain of proxies. */
  readonly front?: ((agent: Transport, entry: AgentEntry) => Transport) | undefined;
  /** Kills the agent and all processes that it started, without a grace time. */
  readonly kill?: AbortSignal | undefined;
}

/** How an agent is launched. */
export interface LaunchOptions extends ReachOptions {
  /** The client. The time for the handshake is that of the definition, else that of the entry, else 60,000 ms. */
  readonly definition: ClientDefinition;
  /** Aborts the launch. */
  readonly signal?: AbortSignal | undefined;
}

/** An agent that was launched. */
export interface LaunchedAgent {
  /** The agent. */
  readonly entry: AgentEntry;
  /** The connection to it. */
  readonly agent: ClientConnection;
  /** The process id of an agent on this machine. */
  readonly pid: number | undefined;
  /** How long it took to answer `initialize`, in milliseconds. */
  readonly handshakeMs: number;
  /** The end of its stderr. */
  stderrTail(): string;
  /** Stops reading until `resume`. A message that was already read may still arrive. */
  pause(): void;
  /** Continues reading. */
  resume(): void;
  /** Ends its input and keeps reading. False where the transport cannot do that. */
  endInput(): boolean;
  /** Lets it outlive this process; the watchdog ends it then. False if it cannot be left. */
  leave(): boolean;
  /** Ends the agent and all processes that it started. */
  close(reason?: string): Promise<void>;
}

const defaultHandshakeMs = 60_000;
/** How long to wait for the end of a sandbox whose agent was killed. */
const releaseMs = 5_000;

/**
 * Starts or reaches an agent and connects to it.
 *
 * @throws {LaunchError} When it cannot be started or does not answer. No process is left then.
 *
 * @example
 * import { commandEntry, launchAgent } from "@parley/client/launch";
 *
 * const entry = commandEntry(["my-agent", "--acp"]);
 * const launched = await launchAgent(entry, { definition: { name: "my-app", version: "1.0.0" } });
 * console.log(launched.agent.info?.name, launched.handshakeMs);
 * await launched.close();
 */
export async function launchAgent(entry: AgentEntry, options: LaunchOptions): Promise<LaunchedAgent> {
  checkOptions("launchAgent", options, launchKeys);
  const { definition, onEvent, signal } = options;
  const timeoutMs =
    definition.connection?.handshakeTimeoutMs ?? entry.handshakeTimeoutMs ?? defaultHandshakeMs;
  if (signal?.aborted) throw aborted(entry);
  // it throws for a definition that cannot be served, before anything is started
  const hasFiles = definition.files != null || definition.policy?.services !== undefined;
  const bridge = sandboxedBridge(entry, options);
  const offered = entry.traits?.ownFiles ? { ...definition, files: null } : definition;
  const app = client({
    ...offered,
    ...optional({ mcp: bridge?.mcp }),
    ...(entry.edition !== undefined && { editions: [editionNamed(entry.edition)] as const }),
    connection: { ...offered.connection, handshakeTimeoutMs: timeoutMs },
  });
  const started = performance.now();
  const reached = await reachAgent(entry, { ...options, ...optional({ sandbox: bridge?.sandbox }) }).catch(
    (error: unknown) => {
      bridge?.close();
      throw error;
    },
  );
  const answered = reportWaiting({ what: "initialize", timeoutMs }, reached.stderrTail, onEvent);
  let noise: string | undefined;
  const held = pausableTransport(
    watchedInput(reached.transport, (event) => {
      if (event.why === "noise") noise ??= event.head;
      onEvent?.(event);
    }),
  );
  const { transport, settled } = abortableTransport(held.transport, signal);
  try {
    const agent = await app.connect(transport);
    const { ownFiles } = traitsOf(agent.info?.name);
    // the client says what it offers before the agent says who it is
    if (ownFiles && hasFiles && entry.traits?.ownFiles === undefined) {
      await agent.close();
      await released(reached);
      bridge?.close();
      return await launchAgent({ ...entry, traits: { ...entry.traits, ownFiles } }, options);
    }
    const handshakeMs = performance.now() - started;
    if (bridge !== undefined) void agent.closed.then(() => bridge.close());
    const name = agent.info?.title ?? agent.info?.name ?? entry.name;
    onEvent?.({ kind: "ready", handshakeMs, agent: name, edition: agent.edition });
    return {
      entry,
      agent,
      pid: reached.pid,
      handshakeMs,
      stderrTail: reached.stderrTail,
      pause: held.pause,
      resume: held.resume,
      endInput() {
        reached.transport.endOutput?.();
        return reached.transport.endOutput !== undefined;
      },
      leave: () => reached.leave?.() ?? false,
      async close(reason) {
        await agent.close(reason);
        await released(reached);
      },
    };
  } catch (error) {
    bridge?.close();
    // it may still be held, until it is clear what the stdout of the program is for
    const unread = reached.noise?.();
    if (signal?.aborted) {
      if (unread !== undefined && noise === undefined) onEvent?.(noiseEvent(unread));
      await released(reached);
      throw aborted(entry);
    }
    const isUnexplained = error instanceof ConnectionError && error.kind !== "handshake_timeout";
    const explained = isUnexplained ? await reached.explain?.(error) : undefined;
    await released(reached);
    const hasFront = options.front !== undefined;
    throw failure(entry, reached, error, { timeoutMs, explained, noise: noise ?? unread, hasFront });
  } finally {
    answered();
    settled();
  }
}

/** A process that cannot be killed must not keep us. */
async function released({ released: gone }: ReachedAgent): Promise<void> {
  if (gone !== undefined) await withTimeout(releaseMs, gone);
}

/**
 * Starts or reaches an agent and sends nothing.
 *
 * @throws {LaunchError} When it cannot be started or reached.
 *
 * @example
 * import { commandEntry, reachAgent } from "@parley/client/launch";
 *
 * const { transport } = await reachAgent(commandEntry(["my-agent", "--acp"]), {});
 * await transport.close();
 */
export async function reachAgent(entry: AgentEntry, options: ReachOptions): Promise<ReachedAgent> {
  const reached = await (entry.transport === "stdio"
    ? startProgram(entry, options)
    : startRemote(entry, options));
  const { front } = options;
  return front === undefined ? reached : { ...reached, transport: front(reached.transport, entry) };
}

async function startProgram(entry: CommandEntry, options: ReachOptions): Promise<ReachedAgent> {
  const sandbox = wantedSandbox(entry, options.sandbox);
  const environment = { ...agentEnvironment(entry, options.inherited ?? process.env), ...options.env };
  const { command, args, name } = entry;
  const keys = passedKeys(environment);
  options.onEvent?.({ kind: "starting", agent: name, command: [command, ...args], keys });
  const { onEvent, cwd, kill } = options;
  const onStderr = onEvent && ((text: string) => onEvent({ kind: "stderr", text }));
  const reached = await reachCommand(entry, environment, {
    ...optional({ cwd, kill, onStderr, sandbox, user: options.inherited }),
    onLeftBehind: (left) => onEvent?.({ kind: "left_behind", ...left }),
  });
  const clean = (text: string) => withoutKeys(text, environment, options.env);
  return {
    ...reached,
    stderrTail: () => clean(reached.stderrTail()),
    noise() {
      const line = reached.noise?.();
      return line === undefined ? undefined : clean(line);
    },
  };
}

async function startRemote(
  entry: Exclude<AgentEntry, CommandEntry>,
  options: ReachOptions,
): Promise<ReachedAgent> {
  wantedSandbox(entry, options.sandbox);
  // most agents are programs, and node:https takes 10 ms to load
  const { reachRemote } = await import("./reach-remote.ts");
  const reached = reachRemote(entry, options.onEvent);
  options.onEvent?.({ kind: "connecting", agent: entry.name, url: entry.url });
  return reached;
}

function aborted({ name }: AgentEntry): LaunchError {
  return new LaunchError("aborted", `starting ${name} was aborted`, { hint: "start it again" });
}

/** The component that our conductor names as the cause of a failure. Undefined if the agent itself failed. */
function failedComponent({ data }: RequestError): string | undefined {
  const { reason, component } = (data ?? {}) as { readonly reason?: unknown; readonly component?: unknown }; // as: any object
  const isOurs = reason === "component_gone" || reason === "bad_component";
  return isOurs && typeof component === "string" ? component : undefined;
}

function failure(
  entry: AgentEntry,
  reached: ReachedAgent,
  error: unknown,
  {
    timeoutMs,
    explained,
    noise,
    hasFront,
  }: {
    readonly timeoutMs: number;
    readonly explained: Explanation | undefined;
    readonly noise: string | undefined;
    readonly hasFront: boolean;
  },
): Error {
  const stderr = reached.stderrTail().trim() || undefined;
  const { name } = entry;
  const servesHint = isDialectError(error)
    ? "docs/editions.md says which edition is spoken when"
    : `check that this ${entry.transport === "stdio" ? "command" : "address"} serves ACP`;
  const { exitCode, signal } = error instanceof ConnectionError ? error : {};
  const launchError = (kind: LaunchErrorKind, message: string, hint: string) =>
    new LaunchError(kind, message, {
      hint,
      stderr,
      status: explained?.status,
      exitCode,
      signal,
      cause: error,
    });
  if (error instanceof RequestError) {
    // a part of a chain that stands in front of the agent, or the agent behind it
    const component = hasFront ? failedComponent(error) : undefined;
    if (component !== undefined)
      return launchError(
        "exited",
        error.message,
        component === name ? servesHint : `check the command of ${component}`,
      );
    const message = `${name} refused initialize: ${error.message} (${error.code})`;
    return launchError("protocol", message, servesHint);
  }
  if (!(error instanceof ConnectionError)) return error instanceof Error ? error : new Error(String(error));
  const { kind, message } = error;
  const sandboxHint = reached.released === undefined ? "" : sandboxedHint;
  const exitHint =
    entry.transport === "stdio" ? `${stderrHint(stderr)}; ${servesHint}${sandboxHint}` : servesHint;
  switch (kind) {
    case "handshake_timeout": {
      const late = `${name} did not answer within ${timeoutMs / 1000} s`;
      const printed =
        noise === undefined ? "" : `; its stdout has a line that is not a message: ${shown(noise)}`;
      const lines = noise === undefined ? "" : "; each message must be JSON on one line";
      const hint = `${servesHint}${lines}; raise the timeout for an agent that starts slowly${sandboxHint}`;
      return launchError(kind, `${late}${printed}`, hint);
    }
    case "spawn_failed":
      return launchError(kind, message, installHint(entry));
    case "exited":
      return launchError(kind, `${name} ended before it could be used: ${message}`, exitHint);
    case "protocol":
      return launchError(kind, `${name}: ${message}`, explained?.hint ?? servesHint);
    default:
      return explained === undefined
        ? launchError("exited", `${name}: ${message}`, exitHint)
        : launchError("unreachable", `${name}: ${explained.message ?? message}`, explained.hint);
  }
}

const shownChars = 80;

function shown(line: string): string {
  const text = line.trim();
  return JSON.stringify(text.length > shownChars ? `${text.slice(0, shownChars)}…` : text);
}

const sandboxedHint =
  "; it ran in a sandbox, where it writes only to its workspace and to the folders in `state` of its entry";

/** The hint for a program that is not installed. */
export function installHint(entry: AgentEntry): string {
  if (entry.transport !== "stdio") return "check the address of this agent";
  if (entry.install === undefined) return "install it, or give the full path";
  return `install it: ${entry.install}`;
}

const reachKeys: Readonly<Record<keyof ReachOptions, true>> = {
  cwd: true,
  inherited: true,
  env: true,
  sandbox: true,
  onEvent: true,
  kill: true,
  front: true,
};

const launchKeys: Readonly<Record<keyof LaunchOptions, true>> = {
  ...reachKeys,
  definition: true,
  signal: true,
};
