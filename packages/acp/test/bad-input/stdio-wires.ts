// Wires over stdio: to a process that is the subject, and from a hostile process to our client.

import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type Socket } from "node:net";
import type { Writable } from "node:stream";
import { spawnTransport } from "../../src/node.ts";
import { programFile } from "../support/programs.ts";
import { startSubject } from "./subject.ts";
import { frameLimits, Inbox, type LastWords, type LinkOptions, lineSplitter, type Wire } from "./wire.ts";

// The young generation may grow to 48 MiB of what is garbage already; with little of it, the process has resident
// what is held and little more.
const flags = ["--disable-warning=ExperimentalWarning", "--expose-gc", "--max-semi-space-size=2"];
const subjectAgent = programFile("acp/test/bad-input/subject-agent.ts");
const hostileAgent = programFile("acp/test/bad-input/hostile-agent.ts");

export interface StdioOptions extends LinkOptions {
  /** Everything that is sent goes through a process that writes one byte at a time. */
  readonly byteByByte?: boolean;
}

/** One write per line: two small ones would wait for one another on a socket. */
function sender(output: Writable): (frame: string | Uint8Array) => void {
  return (frame) => output.write(typeof frame === "string" ? `${frame}\n` : Uint8Array.of(...frame, 0x0a));
}

/** A client that says anything to our agent. */
export function openAgentProcess(options: StdioOptions): Wire {
  const { byteByByte = false, ...subjectOptions } = options;
  const argv = [process.execPath, ...flags, subjectAgent, JSON.stringify(subjectOptions)];
  const [command = "", ...args] = byteByByte
    ? ["/bin/sh", "-c", 'dd bs=1 status=none | "$@"', "sh", ...argv]
    : argv;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const input = child.stdin;
  // an agent that closes first is what some cases are about
  input.on("error", () => undefined);
  const inbox = new Inbox();
  child.stdout.setEncoding("utf8").on(
    "data",
    lineSplitter((line) => inbox.push(line)),
  );
  child.stdout.on("end", () => inbox.end("the agent has closed its stdout"));
  const exited = exit(child);
  const lastWords = hear(child, exited);
  return {
    send: sender(input),
    next: () => inbox.next(),
    ended: lastWords,
    async close() {
      input.end();
      const impatience = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(impatience);
    },
    stream: { write: (bytes) => input.write(bytes), end: () => input.end(), lastWords },
  };
}

async function exit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}

async function hear(child: ChildProcess, exited: Promise<number | null>): Promise<LastWords> {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const exitCode = await exited;
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith("{"))
    throw new Error(`the agent ended with ${exitCode} and without last words: ${text}`);
  return { ...(JSON.parse(last) as Omit<LastWords, "exitCode">), exitCode };
}

/** An agent that says anything to our client. */
export async function openHostileAgent(options: StdioOptions): Promise<Wire> {
  const { byteByByte = false } = options;
  const connected = Promise.withResolvers<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, connected.resolve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const argv = [process.execPath, ...flags, hostileAgent, String(port)];
  const [command = "", ...args] = byteByByte
    ? ["/bin/sh", "-c", '"$@" | dd bs=1 status=none', "sh", ...argv]
    : argv;
  const agent = spawnTransport(command, args, { limits: frameLimits(options) });
  const subject = startSubject(agent, options);
  const socket = await Promise.race([
    connected.promise,
    agent.exited.then((status) => Promise.reject(new Error(`no agent: ${JSON.stringify(status)}`))),
  ]);
  const inbox = new Inbox();
  socket.setEncoding("utf8").on(
    "data",
    lineSplitter((line) => inbox.push(line)),
  );
  socket.on("end", () => {
    inbox.end("the client has closed the agent's stdin");
    socket.end();
  });
  // a client that ends its agent is what some cases are about
  socket.on("error", () => inbox.end("the agent is gone"));
  return {
    send: sender(socket),
    next: () => inbox.next(),
    ended: subject.closed,
    async close() {
      await subject.close();
      socket.destroy();
      server.close();
    },
    stream: { write: (bytes) => socket.write(bytes), end: () => socket.end() },
  };
}
