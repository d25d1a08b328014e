// Starts a command with its output on a pipe and an empty stdin.

import { Buffer } from "node:buffer";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { isContinuation } from "../../base/byte-tail.ts";
import { optional } from "../../base/objects.ts";
import type { ExitStatus } from "../../model/content.ts";
import { hasPid, ProcessGroup } from "../process-group.ts";
import { groupMark } from "../watchdog.ts";
import { type ByteSink, type RunningCommand, startFailure, type TerminalCommand } from "./command.ts";

/** The size of a pipe on Linux. */
const readBytes = 64 * 1024;

/** Resolves when the command runs; rejects with a RequestError when it cannot be started. */
export async function startPiped(spec: TerminalCommand, sink: ByteSink): Promise<RunningCommand> {
  const fifo = await openFifo();
  const mark = groupMark();
  const child = await startChild({ ...spec, env: { ...spec.env, [mark]: "1" } }, fifo);
  const output = fifo === undefined ? readTwo(child, sink) : readFifo(fifo.readFd, sink);
  const exit = Promise.withResolvers<ExitStatus>();
  child.once("exit", (code, signal) =>
    exit.resolve(signal === null ? optional({ exitCode: code ?? undefined }) : { signal }),
  );
  child.on("error", () => {
    // it could not be signalled; ProcessGroup checks whether it exits
  });
  return {
    pid: child.pid,
    group: new ProcessGroup(child, mark),
    exited: exit.promise,
    outputEnded: output.ended,
    pty: undefined,
    stopReading: output.stop,
  };
}

async function startChild(
  spec: TerminalCommand,
  fifo: Awaited<ReturnType<typeof openFifo>>,
): Promise<ChildProcess & { readonly pid: number }> {
  const output = fifo?.writeFd ?? "pipe";
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["ignore", output, output],
    });
    if (hasPid(child)) return child;
    const [error] = await once(child, "error");
    throw error;
  } catch (error) {
    if (fifo !== undefined) closeSync(fifo.readFd);
    // spawn fails with system errors only
    throw startFailure(spec, error as NodeJS.ErrnoException);
  } finally {
    // the reader sees the end only when all writers have closed
    if (fifo !== undefined) closeSync(fifo.writeFd);
  }
}

interface OutputReader {
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

function readFifo(fd: number, sink: ByteSink): OutputReader {
  // one buffer for all reads: a third faster, and no garbage
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  const callback = (length: number): boolean => {
    sink(buffer.subarray(0, length));
    return true;
  };
  const stream = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
  stream.resume();
  return { ended: closed(stream), stop: () => stream.destroy() };
}

/** Reads both streams in order of arrival, without splitting characters. */
function readTwo({ stdout, stderr }: ChildProcess, sink: ByteSink): OutputReader {
  const streams = [stdout, stderr].filter((stream) => stream !== null);
  for (const stream of streams) {
    let pending = Buffer.alloc(0);
    stream.on("data", (chunk: Buffer) => {
      const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const whole = bytes.length - partialCharacterLength(bytes);
      pending = Buffer.from(bytes.subarray(whole));
      if (whole > 0) sink(bytes.subarray(0, whole));
    });
    stream.on("end", () => {
      if (pending.length > 0) sink(pending);
    });
  }
  return {
    ended: Promise.all(streams.map(closed)).then(() => {}),
    stop: () => {
      for (const stream of streams) stream.destroy();
    },
  };
}

function closed(stream: Readable): Promise<void> {
  stream.on("error", () => {
    // 'close' follows
  });
  return new Promise((resolve) => stream.once("close", () => resolve()));
}

/** Runs mkfifo, because Node's own pipes are sockets. The caller closes both descriptors. undefined on Windows, and without a usable directory for temporary files. */
async function openFifo(): Promise<{ readFd: number; writeFd: number } | undefined> {
  if (process.platform === "win32") return undefined;
  // loaded on first use: 2 ms
  const { mkdtemp, rm } = await import("node:fs/promises");
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "parley-output-"));
    const path = join(folder, "fifo");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // in this order neither blocks
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
  } catch {
    // a read-only or full disk, no mkfifo, or out of descriptors: the caller uses two pipes
    return undefined;
  } finally {
    if (folder !== undefined) {
      await rm(folder, { recursive: true, force: true }).catch(() => {
        // an empty directory stays behind
      });
    }
  }
}

/** How many bytes at the end are the beginning of an incomplete character; 0 to 3. */
function partialCharacterLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined) return 0;
    if (!isContinuation(byte)) return characterLength(byte) > back ? back : 0;
  }
  return 0;
}

/** The length of a character by its first byte; 0 for an invalid one. */
function characterLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
