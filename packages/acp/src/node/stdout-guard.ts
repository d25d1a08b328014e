// Keeps stdin and stdout for the wire: redirects prints of this process and its children to stderr.

import childProcess, { ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Readable } from "node:stream";
import { isObject } from "../base/objects.ts";

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
