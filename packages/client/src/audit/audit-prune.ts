// Deletes old audit logs, and records that it did in a signed mark.

import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { auditFiles } from "./audit-files.ts";
import { headPath } from "./audit-head.ts";

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
    writeFileSync(`${mark}.new`, JSON.stringify({ upTo, mac: macOf(key, upTo).toString("hex") }), {
      mode: 0o600,
    });
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
  if (!existsSync(headPath(path))) return false;
  try {
    return process.kill(Number(basename(path).split("-")[1]), 0);
  } catch (error) {
    // anything but "there is none" is a reason to leave it alone
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Logs up to this name may be missing. Empty without a valid signature. */
export function prunedUpTo(folder: string, key: Buffer): string {
  try {
    const { upTo, mac }: Record<string, unknown> = JSON.parse(readFileSync(join(folder, "pruned"), "utf8"));
    if (typeof upTo !== "string" || typeof mac !== "string") return "";
    const [given, wanted] = [Buffer.from(mac, "hex"), macOf(key, upTo)];
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? upTo : "";
  } catch {
    return "";
  }
}

function macOf(key: Buffer, upTo: string): Buffer {
  return createHmac("sha256", key).update(`pruned ${upTo}`).digest();
}
