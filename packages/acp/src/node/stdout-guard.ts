// stdin and stdout belong to the wire. While a guard is installed, whatever this process or the
// children it starts through node:child_process print to stdout goes to stderr, and no child reads
// the wire's input. Out of reach without native code: fs.writeSync(1, ...), native add-ons, and a
// spawnSync or execSync that CommonJS code took out of the module before; only a launcher that moves the wire to a descriptor of its own (PARLEY_WIRE_FD) stops those.

import childProcess, { ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Readable } from "node:stream";

type Restore = () => void;

/** Sends console.*, process.stdout.write and process.stdout.end to stderr. */
export function guardStdout(): Restore {
  const stdout = process.stdout;
  // write() and end() are overloaded; both streams are of one class, so the arguments fit as they are.
  const write = (...args: unknown[]): boolean => Reflect.apply(process.stderr.write, process.stderr, args);
  const end = (...args: unknown[]): NodeJS.WriteStream => {
    if (args.length > 0 && typeof args[0] !== "function") write(...args);
    return stdout;
  };
  // A write() that was bound or taken from the prototype before comes by these two.
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
 * Shows an empty process.stdin to whoever looks. The real one would be a second reader of the wire;
 * even to create it, for a mere `isTTY`, throws EEXIST once the wire is being read.
 */
export function guardStdin(): Restore {
  let empty: Readable | undefined;
  const get = (): Readable => {
    empty ??= Readable.from([]);
    return empty;
  };
  return replaceProperty(process, "stdin", { get, configurable: true, enumerable: true });
}

/** Gives children that would inherit stdin an empty one, and those that would inherit fd 1 our stderr. */
export function guardChildren(options: { readonly stdoutIsWire: boolean }): Restore {
  const guarded = (stdio: unknown): unknown => guardedStdio(stdio, options.stdoutIsWire);
  // The one door of spawn, exec, execFile and fork; the types do not show the method.
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

/** What to give to a child in place of `stdio`. */
function guardedStdio(stdio: unknown, stdoutIsWire: boolean): unknown {
  if (stdio === "inherit") return guardedStdio([0, 1, 2], stdoutIsWire);
  if (!Array.isArray(stdio)) return stdio;
  return stdio.map((entry: unknown, index) => {
    const fd = entry === "inherit" ? index : fdOf(entry);
    if (fd === 0 || entry === process.stdin) return "ignore";
    return stdoutIsWire && fd === 1 ? 2 : entry;
  });
}

/** The descriptor that a number or a stream stands for. */
function fdOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "fd" in entry ? entry.fd : entry;
}

function hasStdio(value: unknown): value is { stdio: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "stdio" in value;
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
