// `parley permissions log` and `verify`: prints permission decisions, and checks the logs for damage.

import { basename } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import {
  type AuditEntry,
  type AuditFolderReport,
  type AuditReport,
  auditFiles,
  verifyAudit,
  verifyAuditFolder,
} from "@parley/client/audit";
import { CommandError, type Invocation, printAnswer } from "../command/command.ts";
import { countOption } from "../command/option-values.ts";
import { auditFolder } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";

interface Line {
  readonly entry: AuditEntry;
  /** "unknown": the operation started and its end was not recorded. */
  readonly result?: string;
}

export async function showLog({ values, json }: Invocation): Promise<number> {
  const limit = countOption(values, "limit", 50);
  const lines: Line[] = [];
  const problems: string[] = [];
  for (const path of auditFiles(auditFolder()).toReversed()) {
    const report = verifyAudit(path);
    if (report.problem !== undefined) problems.unshift(`${path}: CHANGED: ${report.problem}`);
    const found = linesOf(report).filter(
      ({ entry }) => values["refused"] !== true || (entry.effect !== "allow" && entry.kind !== "outcome"),
    );
    lines.unshift(...found.slice(-(limit - lines.length)));
    if (lines.length >= limit) break;
  }
  const shownLines = lines.length === 0 ? ["No decisions yet."] : lines.map(logLine);
  const all = [...shownLines, ...problems.map(escapedLine)].join("\n");
  const text = wrapLines(all, columnsOf(process.stdout), wrapIndent);
  printAnswer(text, { entries: lines.map(({ entry, result }) => ({ ...entry, result })), problems }, json);
  return problems.length === 0 ? 0 : 1;
}

function linesOf({ entries }: AuditReport): Line[] {
  const results = new Map(
    entries.flatMap(({ kind, of, result }) => (kind === "outcome" ? [[of, result]] : [])),
  );
  return entries
    .filter(({ kind }) => kind !== "outcome" && kind !== "end")
    .map((entry) =>
      entry.kind === "intent" ? { entry, result: results.get(entry.seq) ?? "unknown" } : { entry },
    );
}

function logLine({ entry, result }: Line): string {
  const { time, agent, effect = "", origin, operation = "", target = "", reason = "", sandbox } = entry;
  const what = `${origin === "claim" ? "claimed " : ""}${operation} ${target}`;
  const left = sandbox === "left" ? ", outside the sandbox" : "";
  const end = result === undefined ? left : `${left}, ${result}`;
  const who = agent === undefined ? "" : `  ${agent}`;
  return `${time}${escapedLine(who)}  ${effect.padEnd(9)}  ${escapedLine(what)}  (${escapedLine(reason)}${end})`;
}

export async function verifyLogs({ positionals, json }: Invocation): Promise<number> {
  const { reports, missing }: AuditFolderReport =
    positionals.length > 0
      ? { reports: positionals.map(verified), missing: [] }
      : verifyAuditFolder(auditFolder());
  const changed = reports.filter(({ isWhole }) => !isWhole).length;
  const entries = reports.reduce((sum, report) => sum + report.entries.length, 0);
  const summary = `${reports.length} logs, ${entries} entries, ${changed} changed, ${missing.length} missing`;
  const logs = reports.map(
    ({ path, isWhole, isOlder, isClosed, isRunning, problem, entries: all, unknown }) => ({
      path,
      isWhole,
      isOlder,
      isClosed,
      isRunning,
      ...optional({ problem }),
      entries: all.length,
      unknown: unknown.length,
    }),
  );
  const lost = missing.map((name) => `${escapedLine(name)}: MISSING: ${whereMissing(name, reports)}`);
  const text = [...reports.flatMap(notes), ...lost, summary].join("\n");
  printAnswer(text, { logs, changed, missing }, json);
  return changed + missing.length === 0 ? 0 : 1;
}

function whereMissing(name: string, reports: readonly AuditReport[]): string {
  const next = reports.find(({ before }) => before === name);
  return `it came before ${escapedLine(basename(next?.path ?? ""))}`;
}

function verified(path: string): AuditReport {
  try {
    return verifyAudit(path);
  } catch (error) {
    const { message } = error as Error; // reading a file fails with one
    throw new CommandError("file", `cannot read ${path}: ${message}`, "check the name");
  }
}

function notes({ path, isWhole, isOlder, isClosed, isRunning, problem, unknown }: AuditReport): string[] {
  if (!isWhole) return [`${escapedLine(path)}: CHANGED: ${problem}`];
  const why = isRunning ? "its process is running" : "its process was killed";
  const said = [
    isOlder &&
      "an older version wrote it, without checksums: only the number and order of its lines were checked",
    !isClosed && `has no end: ${why}`,
    unknown.length > 0 && `${unknown.length} entries have an unknown outcome`,
  ];
  return said.filter((each) => each !== false).map((each) => `${escapedLine(path)}: ${each}`);
}
