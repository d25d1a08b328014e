// Verifies audit logs and summarises what was done.

import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, optional } from "@parley/acp/jsonrpc";
import { type AuditEntry, auditHeader, unsealed } from "./audit-entry.ts";
import {
  type AuditHead,
  auditFiles,
  auditKey,
  isSigned,
  isWriterRunning,
  prunedUpTo,
  readHead,
} from "./audit-files.ts";

/** The result of verifying one audit log. */
export interface AuditReport {
  /** The path of the log. */
  readonly path: string;
  /** Whether no line was changed, inserted, removed or cut off. */
  readonly isWhole: boolean;
  /** Whether the log was closed. */
  readonly isClosed: boolean;
  /** Whether the process of a log that was not closed still exists. Otherwise it was killed. */
  readonly isRunning: boolean;
  /** The first problem, with its line number; absent when `isWhole`. */
  readonly problem?: string;
  /** The file name of the log before this one. */
  readonly before?: string;
  /** All lines up to the first problem. */
  readonly entries: readonly AuditEntry[];
  /** Intents without an outcome: it is unknown whether they were done. */
  readonly unknown: readonly AuditEntry[];
}

/** The result of verifying all logs of a folder. */
export interface AuditFolderReport {
  /** The oldest first. */
  readonly reports: readonly AuditReport[];
  /** Names of logs that others say came before them, and that are gone. */
  readonly missing: readonly string[];
}

/**
 * Verifies all logs in a folder. It cannot be noticed that the newest logs are missing.
 *
 * @example
 * import { verifyAuditFolder } from "@parley/client/audit";
 *
 * const { reports, missing } = verifyAuditFolder("/home/me/.local/state/my-app/audit");
 * console.log(reports.every(({ isWhole }) => isWhole) && missing.length === 0);
 */
export function verifyAuditFolder(folder: string): AuditFolderReport {
  const reports = auditFiles(folder).map(verifyAudit);
  const there = new Set(reports.map(({ path }) => basename(path)));
  const named = reports.flatMap(({ before }) => (before === undefined ? [] : [before]));
  const pruned = named.length === 0 ? "" : prunedUpTo(folder, auditKey(folder));
  const isGone = (name: string) => !there.has(name) && name > pruned;
  return { reports, missing: [...new Set(named)].filter(isGone).sort() };
}

/**
 * Verifies one audit log with the key in its folder.
 *
 * @example
 * import { auditFiles, verifyAudit } from "@parley/client/audit";
 *
 * for (const path of auditFiles("/home/me/.local/state/my-app/audit")) {
 *   const { isWhole, problem } = verifyAudit(path);
 *   if (!isWhole) console.error(`${path}: ${problem}`);
 * }
 */
export function verifyAudit(path: string): AuditReport {
  const key = existsSync(join(dirname(path), "key")) ? auditKey(dirname(path)) : undefined;
  // its process may go on writing: what is read first cannot be ahead of what is read last
  const early = key && readHead(path, key);
  const log = readLog(readFileSync(path, "utf8"), key);
  const { header, entries } = log;
  const late = key && readHead(path, key);
  const isClosed = entries.at(-1)?.kind === "end";
  const { before } = header ?? {};
  const isAlive = !isClosed && isWriterRunning(path);
  const problem = log.problem ?? (isClosed ? undefined : cutProblem(log.lines, early, late, isAlive));
  const ended = new Set(
    entries.flatMap(({ kind, of }) => (kind === "outcome" && of !== undefined ? [of] : [])),
  );
  return {
    path,
    isWhole: problem === undefined,
    isClosed,
    isRunning: isAlive,
    ...optional({ problem }),
    ...(typeof before === "string" ? { before } : {}),
    entries,
    unknown: entries.filter(({ kind, seq }) => kind === "intent" && !ended.has(seq)),
  };
}

/** Checks that nothing was cut off a log that was not closed. */
function cutProblem(
  lines: readonly string[],
  early: AuditHead | undefined,
  late: AuditHead | undefined,
  isAlive: boolean,
): string | undefined {
  const last = lines.length - 1;
  if (early === undefined || late === undefined)
    return "lines were cut off: it has no end, and nothing says how long it was";
  if (early.seq > last) return `lines were cut off: it had ${early.seq + 1}, and has ${last + 1}`;
  if (lines[early.seq] !== early.line) return `line ${early.seq + 1} is not the one that was written`;
  // a process that runs may just be about to say so
  return last > late.seq + (isAlive ? 1 : 0)
    ? `line ${late.seq + 2} was put in after the last one`
    : undefined;
}

interface ReadLog {
  readonly header?: Fields;
  readonly entries: readonly AuditEntry[];
  /** The seal of each line. */
  readonly lines: readonly string[];
  readonly problem?: string;
}

type Fields = Readonly<Record<string, unknown>>;

function readLog(text: string, key: Buffer | undefined): ReadLog {
  const whole = text.split("\n");
  const [lines, entries]: [string[], AuditEntry[]] = [[], []];
  let header: Fields | undefined;
  const read = (problem?: string): ReadLog => ({ entries, lines, ...optional({ header, problem }) });
  if (whole.pop() !== "") return read(`line ${whole.length + 1} has no end`);
  if (whole.length === 0) return read("it is empty");
  for (const [at, line] of whole.entries()) {
    const failed = (problem: string): ReadLog => read(`line ${at + 1} ${problem}`);
    const { body = "", mac = "" } = unsealed(line) ?? {};
    const fields = recordOf(body);
    if (fields === undefined) return failed("is not an entry");
    const problem = at === 0 ? headerProblem(fields) : entryProblem(fields, at, entries);
    if (problem !== undefined) return failed(problem);
    if (key !== undefined && !isSigned(key, mac, body, lines.at(-1)))
      return failed(at === 0 ? "was not signed here" : "does not follow the one before it");
    lines.push(mac);
    if (at === 0) header = fields;
    // as: the chain proves that we wrote it
    else entries.push(fields as unknown as AuditEntry);
  }
  return read(
    key === undefined ? "there is no key beside it, so nothing shows that it was written here" : undefined,
  );
}

function recordOf(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headerProblem({ parley, version }: Fields): string | undefined {
  if (parley !== auditHeader.parley) return "is not the first line of an audit log";
  if (version === auditHeader.version) return undefined;
  return `has version ${String(version)}, wanted ${auditHeader.version}`;
}

function entryProblem({ seq }: Fields, at: number, entries: readonly AuditEntry[]): string | undefined {
  if (seq !== at) return `has number ${String(seq)}, wanted ${at}`;
  return entries.at(-1)?.kind === "end" ? "comes after the end" : undefined;
}
