// Makes transports from this process's stdio, a socket or a spawned agent, and serves an agent on stdio.

import type { Duplex } from "node:stream";
import { withTimeout } from "../base/abortable.ts";
import { checkOptions, type Keys } from "../base/known-options.ts";
import { spawnTransportKeys } from "../base/option-keys.gen.ts";
import type { Log } from "../jsonrpc/connection-options.ts";
import { argumentText } from "../jsonrpc/errors.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { ExitStatus } from "../model/content.ts";
import type { ServedAgent } from "../peer/agent/served-agent.ts";
import { byteTransport } from "../transport/byte-transport.ts";
import { type AgentProcess, type SpawnTransportOptions, spawnAgent } from "./spawn.ts";
import { type StdioTransportOptions, stdioChannel } from "./stdio.ts";
import { nodePlatform, type StreamTransportOptions, streamChannel } from "./stream-channel.ts";

/** The wire to an agent that was started here. Closing it ends the agent and everything that it started. */
export interface SpawnedTransport extends Transport {
  /** The agent's process id; undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the agent's own process has exited; with {} when it could not be started. */
  readonly exited: Promise<ExitStatus>;
  /** The end of the agent's stderr so far. */
  stderrTail(): string;
  /** Closes it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Uses stdin and stdout as the transport of an agent. Everything else that the process prints goes to stderr.
 * `serveStdio` also closes the agent and exits.
 *
 * @throws {Error} When stdio is already in use as a transport.
 *
 * @example
 * import { agent } from "@parley/acp";
 * import { stdioTransport } from "@parley/acp/node";
 *
 * const mine = agent({ name: "my-agent", version: "1.0.0", prompt: () => undefined });
 * await mine.connect(stdioTransport()).closed;
 */
export function stdioTransport(options: StdioTransportOptions = {}): Transport {
  checkOptions("stdioTransport", options, stdioKeys);
  return byteTransport(stdioChannel(options), { ...options, platform: nodePlatform });
}

/**
 * Uses a connected socket, or any other stream in both directions, as a transport. Closing the transport closes the
 * stream.
 *
 * @throws {TypeError} When it cannot be read and written.
 *
 * @example
 * import { createServer } from "node:net";
 * import { agent } from "@parley/acp";
 * import { streamTransport } from "@parley/acp/node";
 *
 * const mine = agent({ name: "my-agent", version: "1.0.0", prompt: () => undefined });
 * createServer((socket) => mine.connect(streamTransport(socket))).listen("/run/my-agent.sock");
 */
export function streamTransport(socket: Duplex, options: StreamTransportOptions = {}): Transport {
  // only the compiler knows that it is one
  const stream: Partial<Duplex> | null | undefined = socket;
  if (typeof stream?.write !== "function" || typeof stream.read !== "function") {
    throw new TypeError(
      `streamTransport: expected a stream that can be read and written, such as a socket, got ${argumentText(socket)}`,
    );
  }
  checkOptions("streamTransport", options, streamKeys);
  return byteTransport(streamChannel(socket, socket, options), { ...options, platform: nodePlatform });
}

/**
 * Starts an agent without a shell and connects to its stdin and stdout. An agent that does not start is reported as the
 * end of the connection, with ConnectionError "spawn_failed".
 *
 * @param command - The program. On Windows name the .exe, because .cmd files need a shell.
 * @param args - Its arguments. Default: none.
 * @throws {TypeError} When an option is unknown, or the command is a line for a shell.
 *
 * @example
 * import { client } from "@parley/acp";
 * import { spawnTransport } from "@parley/acp/node";
 *
 * await using transport = spawnTransport("my-agent", ["--acp"], { cwd: "/project" });
 * const connection = await client({ name: "my-client", version: "1.0.0" }).connect(transport);
 */
export function spawnTransport(
  command: string,
  args?: readonly string[],
  options: SpawnTransportOptions = {},
): SpawnedTransport {
  checkOptions("spawnTransport", options, spawnTransportKeys);
  const agent = spawnAgent(command, args ?? noArguments(command), options);
  const transport = byteTransport(agent, { ...options, platform: nodePlatform });
  agents.set(transport, agent);
  return Object.assign(transport, {
    pid: agent.pid,
    exited: agent.exited,
    stderrTail: () => agent.stderrTail(),
    [Symbol.asyncDispose]: () => transport.close(),
  });
}

const agents = new WeakMap<Transport, AgentProcess>();

/** See `AgentProcess.leave`. False for a transport that is not of `spawnTransport`. */
export function leaveAgent(transport: Transport): boolean {
  return agents.get(transport)?.leave() ?? false;
}

/** See `AgentProcess.noise`. */
export function noiseOf(transport: Transport): string | undefined {
  return agents.get(transport)?.noise();
}

/** Throws a TypeError for a command line: it was probably meant for a shell. */
function noArguments(command: string): readonly string[] {
  if (typeof command !== "string" || !/\s/u.test(command) || command.includes("/")) return [];
  const [program, ...rest] = command.split(/\s+/u).map((word) => JSON.stringify(word));
  throw new TypeError(
    `the agent's command contains spaces, and no shell is used: pass ${program}, [${rest.join(", ")}]`,
  );
}

/** How long an agent may take to close, before the process exits without waiting for it. */
const closeMs = 1_000;

/**
 * Serves one client on stdin and stdout. At the end of input it closes the agent and its store, and exits the process,
 * even if the agent has left something running. Errors are printed to stderr, unless the agent's definition has a
 * `log`.
 *
 * @throws {Error} When stdio is already in use as a transport.
 * @throws {TypeError} When the argument is not an agent, for example a definition (as a rejection).
 *
 * @example
 * import { agent } from "@parley/acp";
 * import { serveStdio } from "@parley/acp/node";
 *
 * await serveStdio(agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) }));
 */
export async function serveStdio(agent: ServedAgent, options: StdioTransportOptions = {}): Promise<void> {
  checkAgent(agent);
  checkOptions("serveStdio", options, stdioKeys);
  const { log = printErrors } = agent.definition;
  await agent.connect(stdioTransport(options), { log: printErrors }).closed;
  try {
    await withTimeout(closeMs, agent.close());
  } catch (error) {
    log("error", "the agent could not be closed", { error });
  }
  process.exit();
}

/** Throws a TypeError for what `agent()` has not made, such as a definition. */
function checkAgent(agent: ServedAgent): void {
  // only the compiler knows that it is one
  const methods: Partial<ServedAgent> | null | undefined = agent;
  if (typeof methods?.connect === "function" && typeof methods.close === "function") return;
  const got = `serveStdio: expected an agent that agent() has made, got ${argumentText(agent)}`;
  throw new TypeError(`${got}; call serveStdio(agent({ name, version, prompt }))`);
}

const printErrors: Log = (level, message, { error, ...fields }) => {
  if (level !== "error") return;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}: ${String(value)}`);
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error ?? "");
  process.stderr.write(`${message}${details.join(",")}${cause === "" ? "" : `\n${cause}`}\n`);
};

const streamKeys: Keys<StreamTransportOptions> = { flushMs: true, framing: true, limits: true };
const stdioKeys: Keys<StdioTransportOptions> = {
  wireFd: true,
  flushMs: true,
  exitOnEnd: true,
  framing: true,
  limits: true,
};
