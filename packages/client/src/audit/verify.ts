// Verifies audit logs and summarises what was done.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isObject, optional } from "@parley/acp/jsonrpc";
import { type AuditEntry, auditHeader, readLine, signedVersion } from "./audit-entry.ts";
import { auditFiles, isWriterRunning, linesWritten, prunedUpTo } from "./audit-files.ts";

/** The result of verifying one audit log. */
export interface AuditReport {
  /** The path of the log. */
  readonly path: string;
  /** Whether no line was changed, inserted, removed or cut off by accident. An attacker can hide a change. */
  readonly isWhole: boolean;
  /** Whether an older version wrote the log. Its lines have no checksum, so only their number and order were verified. */
  readonly isOlder: boolean;
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
  const pruned = prunedUpTo(folder);
  const isGone = (name: string) => !there.has(name) && name > pruned;
  return { reports, missing: [...new Set(named)].filter(isGone).sort() };
}

/**
 * Verifies one audit log. It reveals accidents and lines that are cut off, but not the changes of an attacker.
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
  // before the lines, because its process may go on writing
  const count = linesWritten(path);
  const { header = {}, entries, lines, problem: found } = readLog(readFileSync(path, "utf8"));
  const isClosed = entries.at(-1)?.kind === "end";
  const { before, version } = header;
  const problem = found ?? (isClosed ? undefined : cutProblem(lines, count));
  const ended = new Set(
    entries.flatMap(({ kind, of }) => (kind === "outcome" && of !== undefined ? [of] : [])),
  );
  return {
    path,
    isWhole: problem === undefined,
    isOlder: version === signedVersion,
    isClosed,
    isRunning: !isClosed && isWriterRunning(path),
    ...optional({ problem }),
    ...(typeof before === "string" ? { before } : {}),
    entries,
    unknown: entries.filter(({ kind, seq }) => kind === "intent" && !ended.has(seq)),
  };
}

/** Checks that nothing was cut off a log that was not closed. A killed process may have written one line more. */
function cutProblem(lines: number, count: number | undefined): string | undefined {
  if (count === undefined) return "lines were cut off: it has no end, and nothing says how long it was";
  return lines < count ? `lines were cut off: it had ${count}, and has ${lines}` : undefined;
}

interface ReadLog {
  readonly header?: Fields;
  readonly entries: readonly AuditEntry[];
  readonly lines: number;
  readonly problem?: string;
}

type Fields = Readonly<Record<string, unknown>>;

function readLog(text: string): ReadLog {
  const lines = text.split("\n");
  const entries: AuditEntry[] = [];
  let header: Fields | undefined;
  const read = (problem?: string): ReadLog => ({
    entries,
    lines: lines.length,
    ...optional({ header, problem }),
  });
  if (lines.pop() !== "") return read(`line ${lines.length + 1} has no end`);
  if (lines.length === 0) return read("it is empty");
  for (const [at, line] of lines.entries()) {
    const { body = "", isSigned = false } = readLine(line) ?? {};
    const fields = recordOf(body);
    const isExpected = isSigned === ((header ?? fields)?.["version"] === signedVersion);
    const problem =
      fields === undefined || !isExpected
        ? "is not as it was written"
        : header === undefined
          ? headerProblem(fields)
          : entryProblem(fields, at, entries);
    if (fields === undefined || problem !== undefined) return read(`line ${at + 1} ${problem}`);
    if (header === undefined) header = fields;
    // as: its checksum says that it is as we wrote it
    else entries.push(fields as unknown as AuditEntry);
  }
  return read();
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
  if (version === auditHeader.version || version === signedVersion) return undefined;
  return `has version ${String(version)}, wanted ${auditHeader.version}`;
}

function entryProblem({ seq }: Fields, at: number, entries: readonly AuditEntry[]): string | undefined {
  if (seq !== at) return `has number ${String(seq)}, wanted ${at}`;
  return entries.at(-1)?.kind === "end" ? "comes after the end" : undefined;
}
