// Opens the stdin and stdout of an agent as a byte channel.

import { Buffer } from "node:buffer";
import childProcess, { ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import { isObject, optional } from "../base/objects.ts";
import type { ByteChannel } from "../transport/byte-channel.ts";
import type { ByteTransportOptions } from "../transport/byte-transport.ts";
import { StreamChannel } from "./stream-channel.ts";

/** The wire of an agent on stdin and stdout. */
export interface StdioTransportOptions extends Omit<ByteTransportOptions, "platform"> {
  /**
   * The descriptor to write to. Default: the environment's PARLEY_WIRE_FD (N, or N:PID for the child of that process
   * only), else 1. A launcher can run
   * `exec 3>&1 1>&2` and pass 3 to keep the wire clean even of native code that prints to stdout.
   */
  readonly wireFd?: number | undefined;
  /** How long `close` waits for a client that does not read. Default 2000. */
  readonly flushMs?: number | undefined;
  /**
   * Exits 1.5 seconds after the client has closed the connection, even if something still runs. Closing the transport
   * here never ends the process. Default true.
   */
  readonly exitOnEnd?: boolean | undefined;
}

/** Enough for commands to clean up, and less than the two seconds that editors wait. */
const exitGraceMs = 1_500;

// libuv reads 64 KiB at a time
const readBufferBytes = 64 * 1024;

const fileWrites = { open: fs.open, write: fs.write, writev: fs.writev };

let inUse = false;

/**
 * Opens stdin and stdout as the wire of an agent. Until it is closed, everything that this process and its children
 * print to stdout goes to stderr, and children that inherit stdin get an empty one. Not redirected when the wire is
 * fd 1: fs.writeSync(1, ...), native add-ons, and streams opened on fd 1 by other means. A client that uses this library
 * gives its agents a descriptor of their own, which none of these can reach.
 */
export function stdioChannel(options: StdioTransportOptions = {}): ByteChannel {
  if (inUse) throw new Error("stdio is in use by another channel of this process; close that one first");
  const named = wireFromEnvironment();
  // children do not get this descriptor
  delete process.env.PARLEY_WIRE_FD;
  const wireFd = options.wireFd ?? named?.fd ?? 1;
  const isFromClient = options.wireFd === undefined && named?.isFromClient === true;
  const stat = statOf(wireFd);
  // a client that gave us a descriptor reads stdout too, and may take it for the wire until we write
  const isGuarded = isFromClient || wireFd === 1 || isSameFile(stat, fs.fstatSync(1));
  // from here on the client takes what is on stdout for prints
  if (isFromClient) announce(wireFd);
  const channel = new StreamChannel({
    output: openOutput(wireFd, stat),
    sharedOutput: wireFd <= 2,
    openInput: inputOpener(),
    ...optional({ flushMs: options.flushMs }),
    closed(ended) {
      for (const restore of restores) restore();
      inUse = false;
      // unref: an idle process exits at once
      if (ended !== undefined && options.exitOnEnd !== false)
        setTimeout(() => process.exit(), exitGraceMs).unref();
    },
  });
  const restores = isGuarded ? [guardStdout()] : [];
  restores.push(guardStdin(), guardChildren({ stdoutIsWire: isGuarded }));
  inUse = true;
  return channel;
}

type InputOpener = (bytes: (chunk: Uint8Array) => void) => Readable;

function inputOpener(): InputOpener {
  const stat = fs.fstatSync(0);
  if (stat.isFIFO() || stat.isSocket()) return openInput;
  // read now, because the guard will hide process.stdin
  const stdin = tty().isatty(0)
    ? process.stdin
    : fs.createReadStream("", { fd: 0, fs: { open: fs.open, read: fs.read, close: keepOpen } });
  return (bytes) => stdin.on("data", bytes);
}

function openInput(bytes: (chunk: Uint8Array) => void): Readable {
  // one buffer for all reads takes 0.2 instead of 0.75 ms CPU per MB
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

/** Never process.stdout: it cannot be destroyed, so a client that does not read would keep this process alive. */
export function openOutput(fd: number, stat: fs.Stats = fs.fstatSync(fd)): Writable {
  if (stat.isFIFO() || stat.isSocket()) return new Socket({ fd, readable: false, writable: true });
  const { isatty, WriteStream } = tty();
  if (isatty(fd)) return new WriteStream(fd);
  return fs.createWriteStream("", fd > 2 ? { fd } : { fd, fs: { ...fileWrites, close: keepOpen } });
}

/** Loaded on use, because editors use pipes. */
function tty(): typeof import("node:tty") {
  return process.getBuiltinModule("node:tty");
}

/** Keeps fd 0 and 1 open: the next opened file would otherwise become stdin or stdout. */
function keepOpen(_fd: number, done?: (error?: null) => void): void {
  done?.();
}

interface NamedWire {
  readonly fd: number;
  readonly isFromClient: boolean;
}

/**
 * `3` from a launcher that has moved stdout there. `3:PID` from a client on this library that has made the descriptor: its
 * own child may use it, and other processes, which inherit the variable only, ignore it.
 */
function wireFromEnvironment(): NamedWire | undefined {
  const given = process.env.PARLEY_WIRE_FD;
  if (given === undefined || given === "") return undefined;
  const [, fd, client] = /^(\d{1,4})(?::(\d{1,10}))?$/.exec(given) ?? [];
  if (fd === undefined)
    throw new Error(`PARLEY_WIRE_FD must be the number of an open descriptor, got "${given.slice(0, 40)}"`);
  if (client === undefined) return { fd: Number(fd), isFromClient: false };
  const isOurs = Number(client) === process.ppid && isPipe(Number(fd));
  return isOurs ? { fd: Number(fd), isFromClient: true } : undefined;
}

function announce(fd: number): void {
  try {
    fs.writeSync(fd, "\n");
  } catch {
    // the first message announces it too
  }
}

/** A program in between may have closed it, and its number may mean another file now. */
function isPipe(fd: number): boolean {
  try {
    const stat = fs.fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
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

// Not caught: fs.writeSync(1, ...), native add-ons, and a spawnSync or execSync that CommonJS code imported earlier.
// A launcher that moves the wire to its own descriptor (PARLEY_WIRE_FD) prevents those.

type Restore = () => void;

/** Sends console.*, process.stdout.write and process.stdout.end to stderr. */
export function guardStdout(): Restore {
  const stdout = process.stdout;
  // both streams have the same class, so all overloads fit
  const write = (...args: unknown[]): boolean => Reflect.apply(process.stderr.write, process.stderr, args);
  const end = (...args: unknown[]): NodeJS.WriteStream => {
    if (args.length > 0 && typeof args[0] !== "function") write(...args);
    return stdout;
  };
  // for a write() that was bound or taken from the prototype earlier
  const one = (chunk: unknown, encoding: unknown, done: unknown): void => void write(chunk, encoding, done);
  const many = (chunks: readonly { chunk: unknown; encoding: unknown }[], done: () => void): void => {
    for (const { chunk, encoding } of chunks) write(chunk, encoding);
    done();
  };
  const restores = [
    replace(stdout, "write", write),
    replace(stdout, "end", end),
    replace(stdout, "_write", one),
    replace(stdout, "_writev", many),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

/**
 * Replaces process.stdin by an empty stream. The real one would be a second reader of the wire, and creating it, even
 * for `isTTY`, throws EEXIST while the wire is read.
 */
export function guardStdin(): Restore {
  let empty: Readable | undefined;
  const get = (): Readable => {
    empty ??= Readable.from([]);
    return empty;
  };
  return replaceProperty(process, "stdin", { get, configurable: true, enumerable: true });
}

/** Gives children that inherit stdin an empty one, and those that inherit fd 1 our stderr. */
export function guardChildren(options: { readonly stdoutIsWire: boolean }): Restore {
  const guarded = (stdio: unknown): unknown => guardedStdio(stdio, options.stdoutIsWire);
  // spawn, exec, execFile and fork all call this method, which the types do not show
  const prototype = ChildProcess.prototype as unknown as { spawn(options: { stdio?: unknown }): unknown };
  const spawn = prototype.spawn;
  const restores = [
    replace(prototype, "spawn", function (this: unknown, given: { stdio?: unknown }): unknown {
      return Reflect.apply(spawn, this, [{ ...given, stdio: guarded(given.stdio) }]);
    }),
    ...(["spawnSync", "execFileSync", "execSync"] as const).map((name) => {
      const original = childProcess[name];
      return replace(childProcess, name, (...args: unknown[]): unknown =>
        Reflect.apply(
          original,
          childProcess,
          args.map((arg) => (hasStdio(arg) ? { ...arg, stdio: guarded(arg.stdio) } : arg)),
        ),
      );
    }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** The `stdio` option to use instead. */
function guardedStdio(stdio: unknown, stdoutIsWire: boolean): unknown {
  if (stdio === "inherit") return guardedStdio([0, 1, 2], stdoutIsWire);
  if (!Array.isArray(stdio)) return stdio;
  return stdio.map((entry: unknown, index) => {
    const fd = entry === "inherit" ? index : fdOf(entry);
    if (fd === 0 || entry === process.stdin) return "ignore";
    return stdoutIsWire && fd === 1 ? 2 : entry;
  });
}

/** The descriptor of a number or a stream. */
function fdOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "fd" in entry ? entry.fd : entry;
}

function hasStdio(value: unknown): value is { stdio: unknown } {
  return isObject(value) && "stdio" in value;
}

function replace(target: object, name: string, value: unknown): Restore {
  return replaceProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
}

function replaceProperty(target: object, name: string, descriptor: PropertyDescriptor): Restore {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, descriptor);
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}
