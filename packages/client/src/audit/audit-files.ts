// The files of an audit folder: logs, their signed heads, the key, and the mark of pruned logs.

import { createHmac, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The oldest first: their names begin with their time. */
export function auditFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(folder, name));
}

export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Where it is: there for as long as the log has no end. */
export function headPath(log: string): string {
  return log.replace(/\.ndjson$/, ".head");
}

export function signature(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

export function isSigned(key: Buffer, text: string, mac: string): boolean {
  const [given, wanted] = [Buffer.from(mac, "hex"), Buffer.from(signature(key, text), "hex")];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Writes it anew with each line. */
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
    const text = JSON.stringify({ ...head, mac: signature(this.#key, `head ${head.seq} ${head.hash}`) });
    // it only ever grows, so nothing of the one before is left behind it
    writeSync(this.#file, text, 0);
  }

  /** The log has an end of its own. */
  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

/** Undefined where there is none that was signed here. */
export function readHead(log: string, key: Buffer): AuditHead | undefined {
  try {
    const { seq, hash, mac }: Record<string, unknown> = JSON.parse(readFileSync(headPath(log), "utf8"));
    if (typeof seq !== "number" || typeof hash !== "string" || typeof mac !== "string") return undefined;
    return isSigned(key, `head ${seq} ${hash}`, mac) ? { seq, hash } : undefined;
  } catch {
    return undefined;
  }
}

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
    const mac = signature(key, `pruned ${upTo}`);
    writeFileSync(`${mark}.new`, JSON.stringify({ upTo, mac }), { mode: 0o600 });
    renameSync(`${mark}.new`, mark);
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
      if (isLive(path)) return false;
      bytes += size;
      return now - mtimeMs > keepMs || bytes > keepBytes;
    });
}

/** It has no end, and there is a process of the number in its name. */
function isLive(path: string): boolean {
  return existsSync(headPath(path)) && isRunning(Number(basename(path).split("-")[1]));
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // any other error, such as that it is another user's, does not show that there is none
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Logs up to this name may be missing. Empty without a valid signature. */
export function prunedUpTo(folder: string, key: Buffer): string {
  try {
    const { upTo, mac }: Record<string, unknown> = JSON.parse(readFileSync(join(folder, "pruned"), "utf8"));
    if (typeof upTo !== "string" || typeof mac !== "string") return "";
    return isSigned(key, `pruned ${upTo}`, mac) ? upTo : "";
  } catch {
    return "";
  }
}
