// Signs how far an open audit log has come, so that lines cut off its end are noticed.

import { createHmac, timingSafeEqual } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Where it is: there for as long as the log has no end. */
export function headPath(log: string): string {
  return log.replace(/\.ndjson$/, ".head");
}

function macOf(key: Buffer, { seq, hash }: AuditHead): Buffer {
  return createHmac("sha256", key).update(`head ${seq} ${hash}`).digest();
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
    const text = JSON.stringify({ ...head, mac: macOf(this.#key, head).toString("hex") });
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
    const given = Buffer.from(mac, "hex");
    const wanted = macOf(key, { seq, hash });
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? { seq, hash } : undefined;
  } catch {
    return undefined;
  }
}
