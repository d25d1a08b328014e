// Reads trace files line by line, since they may be larger than memory.

import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  TraceError,
  type TraceHeader,
  type TraceRecord,
  traceHeader,
  traceRecord,
} from "@parley/conformance";
import { CommandError, usageError } from "../command/command.ts";

const newline = 0x0a;
const followMs = 200;

export interface LineOptions {
  /** Waits for more at the end of the file. */
  readonly follow?: boolean;
}

/** Every line without its line feed; `cutOff` if the last one has none. */
export async function* fileLines(
  path: string,
  { follow = false }: LineOptions = {},
): AsyncGenerator<{ readonly text: string; readonly cutOff: boolean }> {
  const file = await open(path, "r");
  try {
    let parts: Buffer[] = [];
    for (;;) {
      const buffer = Buffer.allocUnsafe(256 * 1024);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) {
        if (!follow) break;
        await delay(followMs);
        continue;
      }
      let from = 0;
      for (
        let to = buffer.indexOf(newline);
        to !== -1 && to < bytesRead;
        to = buffer.indexOf(newline, from)
      ) {
        parts.push(buffer.subarray(from, to));
        yield { text: Buffer.concat(parts).toString("utf8"), cutOff: false };
        parts = [];
        from = to + 1;
      }
      if (from < bytesRead) parts.push(buffer.subarray(from, bytesRead));
    }
    if (parts.length > 0) yield { text: Buffer.concat(parts).toString("utf8"), cutOff: true };
  } finally {
    await file.close();
  }
}

export type TraceItem =
  | { readonly kind: "header"; readonly header: TraceHeader }
  /** Counted from 1; record 1 is line 2. Unknown events are skipped. */
  | { readonly kind: "record"; readonly number: number; readonly record: TraceRecord }
  | { readonly kind: "cut off" };

/** Throws a TraceError if the file is not a trace. */
export async function* traceItems(path: string, options: LineOptions = {}): AsyncGenerator<TraceItem> {
  let line = 0;
  for await (const { text, cutOff } of fileLines(path, options)) {
    line += 1;
    if (line === 1) yield { kind: "header", header: traceHeader(text) };
    else if (cutOff) yield { kind: "cut off" };
    else {
      const record = traceRecord(text, line);
      if (record === undefined) continue;
      yield { kind: "record", number: line - 1, record };
      if (options.follow && "event" in record && (record.event === "end" || record.event === "limit")) return;
    }
  }
  // an empty file is not a trace either
  if (line === 0) traceHeader("");
}

/** The file that a command was given. Throws a usage error if there is none. */
export function traceFile([path]: readonly string[], command: string): string {
  if (path !== undefined) return path;
  throw usageError(
    `expected a trace file: parley ${command} FILE`,
    "record one with parley tap; without --out it prints where it writes",
  );
}

/** Does some work with a trace; rejects with a CommandError if the user can fix the problem. */
export async function withTraceErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw commandError(path, error) ?? error;
  }
}

function commandError(path: string, error: unknown): CommandError | undefined {
  if (error instanceof TraceError) {
    const hint = "record traces with parley tap; see docs/tap.md";
    return new CommandError("trace", `${path}: ${error.message}`, hint);
  }
  const { code, message, path: which = path } = error as NodeJS.ErrnoException; // any error; checked next
  if (code === "ENOENT") {
    return which === path
      ? new CommandError("not_found", `file not found: ${path}`, "check the name; parley tap prints it")
      : new CommandError(
          "not_found",
          `cannot create ${which}: its folder does not exist`,
          "create the folder, or choose another file",
        );
  }
  if (code === "EEXIST") {
    return new CommandError(
      "exists",
      message.replace(/^EEXIST: /, ""),
      "choose another name, or remove the file",
    );
  }
  return code === "EACCES" || code === "EISDIR" || code === "ENOSPC"
    ? new CommandError("file", `${path}: ${message}`, "check the file and its folder")
    : undefined;
}
