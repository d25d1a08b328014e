// Whether an audit log is as it was written, and what was done according to it.

import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AuditEntry, auditHeader, chainHash, signEvery, unsealed } from "./audit-entry.ts";
import { auditKey } from "./audit-log.ts";

export interface AuditReport {
  readonly path: string;
  /** Not one line was changed, put in or taken out, up to the last one. */
  readonly isWhole: boolean;
  /** Its last line says that there is no more. Without it the process runs, was killed, or lines were cut off. */
  readonly isClosed: boolean;
  /** What is wrong, and in which line. */
  readonly problem?: string;
  readonly entries: readonly AuditEntry[];
  /** What was begun and of which nobody knows how it ended. */
  readonly unknown: readonly AuditEntry[];
}

/** Signatures are looked at where the key of the folder is still there. */
export function verifyAudit(path: string): AuditReport {
  const text = readFileSync(path, "utf8");
  const key = existsSync(join(dirname(path), "key")) ? auditKey(dirname(path)) : undefined;
  const entries: AuditEntry[] = [];
  const problem = checkLines(text, key, entries);
  const ended = new Set(
    entries.flatMap(({ kind, of }) => (kind === "outcome" && of !== undefined ? [of] : [])),
  );
  return {
    path,
    isWhole: problem === undefined,
    isClosed: entries.at(-1)?.kind === "end",
    ...(problem === undefined ? {} : { problem }),
    entries,
    unknown: entries.filter(({ kind, seq }) => kind === "intent" && !ended.has(seq)),
  };
}

function checkLines(text: string, key: Buffer | undefined, entries: AuditEntry[]): string | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return `line ${lines.length + 1} has no end`;
  if (lines.length === 0) return "it is empty";
  let [previous, unsigned] = ["", 0];
  for (const [at, line] of lines.entries()) {
    const parts = unsealed(line);
    if (parts === undefined) return `line ${at + 1} is no entry`;
    const { body, hash, mac } = parts;
    if (chainHash(previous, body) !== hash) return `line ${at + 1} does not follow the one before it`;
    previous = hash;
    unsigned = mac === undefined ? unsigned + 1 : 0;
    if (unsigned > signEvery) return `line ${at + 1} should have been signed`;
    if (key !== undefined && mac !== undefined && !isSigned(key, hash, mac))
      return `line ${at + 1} was not signed here`;
    const fields = parsed(body);
    if (fields === undefined) return `line ${at + 1} is no entry`;
    const problem = at === 0 ? headerProblem(fields, mac) : entryProblem(fields, at, mac, entries);
    if (problem !== undefined) return `line ${at + 1} ${problem}`;
  }
  return undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isSigned(key: Buffer, hash: string, mac: string): boolean {
  return timingSafeEqual(createHmac("sha256", key).update(hash).digest(), Buffer.from(mac, "hex"));
}

function headerProblem(fields: unknown, mac: string | undefined): string | undefined {
  const { parley, version } = fields as Partial<typeof auditHeader>;
  if (parley !== auditHeader.parley) return "is not the first line of an audit log";
  if (version !== auditHeader.version) return `has version ${String(version)}, wanted ${auditHeader.version}`;
  return mac === undefined ? "is not signed" : undefined;
}

function entryProblem(
  fields: unknown,
  at: number,
  mac: string | undefined,
  entries: AuditEntry[],
): string | undefined {
  const entry = fields as AuditEntry; // the chain says that we wrote it
  if (entry.seq !== at) return `has number ${String(entry.seq)}, wanted ${at}`;
  if (entries.at(-1)?.kind === "end") return "comes after the end";
  if (entry.kind === "end" && mac === undefined) return "is an end that is not signed";
  entries.push(entry);
  return undefined;
}
