// The files of an audit folder: logs, their line counts, and the mark of pruned logs.

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";
import { isProcessRunning, replaceFileSync } from "@parley/acp/node";

/**
 * Returns the paths of the logs in an audit folder, the oldest first.
 *
 * @example
 * import { auditFiles } from "@parley/client/audit";
 *
 * console.log(auditFiles("/home/me/.local/state/my-app/audit"));
 */
export function auditFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(folder, name));
}

function headPath(log: string): string {
  return log.replace(/\.ndjson$/, ".head");
}

/** Keeps the number of lines of an open log in a file beside it. */
export class LineCount {
  readonly #path: string;
  readonly #file: number;

  constructor(log: string) {
    this.#path = headPath(log);
    this.#file = openSync(this.#path, "wx", 0o600);
  }

  write(lines: number): void {
    // it only ever grows, so nothing of the one before is left behind it
    writeSync(this.#file, String(lines), 0);
  }

  /** The log has an end of its own. */
  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

/** How many lines a log without an end must have. Older versions wrote the number of the last line, from 0. */
export function linesWritten(log: string): number | undefined {
  const value = readJson(headPath(log));
  const count = isObject(value) ? Number(value["seq"]) + 1 : value;
  return typeof count === "number" && Number.isSafeInteger(count) ? count : undefined;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Limits of an audit folder. */
export interface AuditBounds {
  /** How long after its last line a log is kept. Default 90 days. */
  readonly keepMs?: number;
  /** How many bytes all logs together may have. Default 256 MiB. */
  readonly keepBytes?: number;
}

const day = 24 * 60 * 60 * 1000;
const defaults = { keepMs: 90 * day, keepBytes: 256 * 1024 * 1024 };

/** Never throws: the log itself is complete. */
export function pruneAudit(log: string, bounds: AuditBounds): void {
  try {
    const folder = dirname(log);
    const mark = join(folder, "pruned");
    const lately = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    // it has just got its last line, by the clock that all files have
    const now = statSync(log).mtimeMs;
    if (now - lately < day) return;
    const gone = tooMany(folder, now, { ...defaults, ...bounds });
    const upTo = [prunedUpTo(folder), ...gone.map((path) => basename(path))].sort().at(-1) ?? "";
    // first: what is interrupted here must not look like a loss
    replaceFileSync(mark, JSON.stringify({ upTo }));
    for (const path of gone) for (const each of [path, headPath(path)]) rmSync(each, { force: true });
  } catch {
    // the next process will try again
  }
}

function tooMany(folder: string, now: number, { keepMs, keepBytes }: Required<AuditBounds>): string[] {
  let bytes = 0;
  // the newest are kept first
  return auditFiles(folder)
    .reverse()
    .filter((path) => {
      const { size, mtimeMs } = statSync(path);
      if (isInUse(path)) return false;
      bytes += size;
      return now - mtimeMs > keepMs || bytes > keepBytes;
    });
}

/** It has no end, and its process runs. */
function isInUse(path: string): boolean {
  return existsSync(headPath(path)) && isWriterRunning(path);
}

/** Whether the process that is named in the log's name runs. */
export function isWriterRunning(log: string): boolean {
  return isProcessRunning(basename(log).split("-")[1] ?? "");
}

/** Logs up to this name may be missing. */
export function prunedUpTo(folder: string): string {
  const record = readJson(join(folder, "pruned"));
  return isObject(record) && typeof record["upTo"] === "string" ? record["upTo"] : "";
}
