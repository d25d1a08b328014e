// The files of an audit folder: logs, their signed heads, the key, and the mark of pruned logs.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
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

/** How far a log goes that has no end yet. */
export interface AuditHead {
  readonly seq: number;
  /** Of the last line. */
  readonly line: string;
}

function headPath(log: string): string {
  return log.replace(/\.ndjson$/, ".head");
}

/** Made once for this user. Other processes may be making it at the same moment. */
export function auditKey(folder: string): Buffer {
  const path = join(folder, "key");
  try {
    replaceFileSync(path, randomBytes(32).toString("hex"), { onlyNew: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return Buffer.from(readFileSync(path, "utf8").trim(), "hex");
}

/** Of a line it is chained to that of the line before. */
export function signature(key: Buffer, text: string, before = ""): string {
  return createHmac("sha256", key).update(`${before}\n${text}`).digest("hex");
}

export function isSigned(key: Buffer, mac: string, text: string, before?: string): boolean {
  const [given, wanted] = [Buffer.from(mac, "hex"), Buffer.from(signature(key, text, before), "hex")];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function signedRecord(key: Buffer, kind: string, record: object): string {
  return JSON.stringify({ ...record, mac: signature(key, JSON.stringify(record), kind) });
}

/** Undefined where there is none that was signed here. */
function readSigned(key: Buffer, kind: string, path: string): unknown {
  try {
    const { mac, ...record }: Record<string, unknown> = JSON.parse(readFileSync(path, "utf8"));
    return isSigned(key, String(mac), JSON.stringify(record), kind) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the head anew with each line. */
export class HeadWriter {
  readonly #path: string;
  readonly #key: Buffer;
  readonly #file: number;

  constructor(log: string, key: Buffer) {
    this.#path = headPath(log);
    this.#key = key;
    this.#file = openSync(this.#path, "wx", 0o600);
  }

  write(head: AuditHead): void {
    // it only ever grows, so nothing of the one before is left behind it
    writeSync(this.#file, signedRecord(this.#key, "head", head), 0);
  }

  /** The log has an end of its own. */
  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

export function readHead(log: string, key: Buffer): AuditHead | undefined {
  // as: the signature shows that we wrote it
  return readSigned(key, "head", headPath(log)) as AuditHead | undefined;
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
export function pruneAudit(log: string, key: Buffer, bounds: AuditBounds): void {
  try {
    const folder = dirname(log);
    const mark = join(folder, "pruned");
    const lately = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    // it has just got its last line, by the clock that all files have
    const now = statSync(log).mtimeMs;
    if (now - lately < day) return;
    const gone = tooMany(folder, now, { ...defaults, ...bounds });
    const upTo = [prunedUpTo(folder, key), ...gone.map((path) => basename(path))].sort().at(-1) ?? "";
    // first: what is interrupted here must not look like a loss
    replaceFileSync(mark, signedRecord(key, "pruned", { upTo }));
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
export function prunedUpTo(folder: string, key: Buffer): string {
  // as: the signature shows that we wrote it
  const record = readSigned(key, "pruned", join(folder, "pruned")) as { readonly upTo: string } | undefined;
  return record?.upTo ?? "";
}
