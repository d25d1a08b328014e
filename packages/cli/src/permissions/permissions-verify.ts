// `parley permissions verify [FILE...]`: verifies that the logs were not changed.

import { basename } from "node:path";
import { optional } from "@parley/acp/internal";
import { type AuditFolderReport, type AuditReport, verifyAudit, verifyAuditFolder } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { CommandError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { auditFolder } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const { reports, missing }: AuditFolderReport =
    positionals.length > 0
      ? { reports: positionals.map(verified), missing: [] }
      : verifyAuditFolder(auditFolder());
  const changed = reports.filter(({ isWhole }) => !isWhole).length;
  const entries = reports.reduce((sum, report) => sum + report.entries.length, 0);
  const summary = `${reports.length} logs, ${entries} entries, ${changed} changed, ${missing.length} missing`;
  const logs = reports.map(({ path, isWhole, isClosed, isRunning, problem, entries: all, unknown }) => ({
    path,
    isWhole,
    isClosed,
    isRunning,
    ...optional({ problem }),
    entries: all.length,
    unknown: unknown.length,
  }));
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

function notes({ path, isWhole, isClosed, isRunning, problem, unknown }: AuditReport): string[] {
  const shown = escapedLine(path);
  if (!isWhole) return [`${shown}: CHANGED: ${problem}`];
  const why = isRunning ? "its process is running" : "its process was killed";
  const open = isClosed ? [] : [`${shown}: has no end: ${why}`];
  return unknown.length === 0
    ? open
    : [...open, `${shown}: ${unknown.length} entries have an unknown outcome`];
}
