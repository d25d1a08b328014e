// The agent's own end of the wire: reads fd 0, writes fd 1 or a descriptor given by the launcher.

import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { ByteChannel } from "../transport/byte-channel.ts";
import { guardChildren, guardStdin, guardStdout } from "./stdout-guard.ts";
import { StreamChannel } from "./stream-channel.ts";

export interface StdioOptions {
  /**
   * The descriptor to write to. Default: the environment's PARLEY_WIRE_FD, else 1. A launcher that does
   * `exec 3>&1 1>&2` and passes 3 keeps the wire clean even of native code that prints to stdout.
   */
  readonly wireFd?: number;
  /** How long closing waits for a client that does not read. Default 2000. */
  readonly flushMs?: number;
  /**
   * An agent whose client has gone must not linger: a second and a half after the wire has closed from the other side,
   * the process ends, whatever still runs in it. Default true; a close of our own never ends the process.
   */
  readonly exitOnEnd?: boolean;
  /** The beginning of the input, where somebody has read it before. */
  readonly alreadyRead?: Uint8Array | undefined;
}

/** As long as commands may take to tidy up, and less than the two seconds that an editor's end may take in all. */
const exitGraceMs = 1_500;

// One pipe holds 64 KiB, a socket pair of Node's spawn 208 KiB; libuv reads 64 KiB at a time.
const readBufferBytes = 64 * 1024;

const fileWrites = { open: fs.open, write: fs.write, writev: fs.writev };

let inUse = false;

/**
 * Opens stdin and stdout as the wire, for an agent. Until it is closed, what this process prints to
 * stdout (console.log, process.stdout) goes to stderr, and so does what its children print that
 * would inherit stdout; children that would inherit stdin get an empty one. Not caught when the wire
 * is fd 1: fs.writeSync(1, ...), native add-ons, and streams opened on fd 1 by other means.
 */
export function stdioChannel(options: StdioOptions = {}): ByteChannel {
  if (inUse) throw new Error("stdio is in use by another channel of this process; close that one first");
  const wireFd = options.wireFd ?? wireFdFromEnvironment() ?? 1;
  // Children must not take it for theirs: they get no such descriptor.
  delete process.env.PARLEY_WIRE_FD;
  const stat = statOf(wireFd);
  const stdoutIsWire = wireFd === 1 || isSameFile(stat, fs.fstatSync(1));
  const channel = new StreamChannel({
    output: openOutput(wireFd, stat),
    sharedOutput: wireFd <= 2,
    openInput: withBeginning(options.alreadyRead, inputOpener()),
    ...(options.flushMs === undefined ? {} : { flushMs: options.flushMs }),
    closed(ended) {
      for (const restore of restores) restore();
      inUse = false;
      // unref'ed: a process with nothing left to do leaves at once
      if (ended !== undefined && options.exitOnEnd !== false)
        setTimeout(() => process.exit(), exitGraceMs).unref();
    },
  });
  const restores = stdoutIsWire ? [guardStdout()] : [];
  restores.push(guardStdin(), guardChildren({ stdoutIsWire }));
  inUse = true;
  return channel;
}

type InputOpener = (bytes: (chunk: Uint8Array) => void) => Readable;

function withBeginning(beginning: Uint8Array | undefined, open: InputOpener): InputOpener {
  if (beginning === undefined) return open;
  return (bytes) => {
    // nothing is received before the transport has started, and nothing else can come before this
    process.nextTick(bytes, beginning);
    return open(bytes);
  };
}

function inputOpener(): InputOpener {
  const stat = fs.fstatSync(0);
  if (stat.isFIFO() || stat.isSocket()) return openInput;
  // Taken now: the guard is going to hide process.stdin.
  const stdin = tty().isatty(0)
    ? process.stdin
    : fs.createReadStream("", { fd: 0, fs: { open: fs.open, read: fs.read, close: keepOpen } });
  return (bytes) => stdin.on("data", bytes);
}

function openInput(bytes: (chunk: Uint8Array) => void): Readable {
  // One buffer for every read: 0.2 instead of 0.75 ms CPU per MB and half the memory of 'data' events.
  const buffer = Buffer.allocUnsafeSlow(readBufferBytes);
  return new Socket({
    fd: 0,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(length) {
        bytes(length === buffer.length ? buffer : buffer.subarray(0, length));
        return true;
      },
    },
  });
}

/** Not process.stdout, also for fd 1: that one cannot be destroyed, so a client that never reads would keep us alive. */
function openOutput(fd: number, stat: fs.Stats): Writable {
  if (stat.isFIFO() || stat.isSocket()) return new Socket({ fd, readable: false, writable: true });
  const { isatty, WriteStream } = tty();
  if (isatty(fd)) return new WriteStream(fd);
  return fs.createWriteStream("", fd > 2 ? { fd } : { fd, fs: { ...fileWrites, close: keepOpen } });
}

/** For people who type at an agent; editors give it pipes. */
function tty(): typeof import("node:tty") {
  return process.getBuiltinModule("node:tty");
}

/** For streams on files, which would close 0 or 1, and the next file to be opened would become our stdout. */
function keepOpen(_fd: number, done?: (error?: null) => void): void {
  done?.();
}

function wireFdFromEnvironment(): number | undefined {
  const given = process.env.PARLEY_WIRE_FD;
  if (given === undefined || given === "") return undefined;
  if (/^\d{1,4}$/.test(given)) return Number(given);
  throw new Error(`PARLEY_WIRE_FD must be the number of an open descriptor, got "${given.slice(0, 40)}"`);
}

function statOf(fd: number): fs.Stats {
  try {
    return fs.fstatSync(fd);
  } catch (cause) {
    const hint =
      "open it before the agent starts (exec 3>&1 1>&2), or unset PARLEY_WIRE_FD to write to stdout";
    throw new Error(`the wire's descriptor ${fd} is not open; ${hint}`, { cause });
  }
}

function isSameFile(a: fs.Stats, b: fs.Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
