// `parley permissions verify [FILE...]`: whether the logs are as they were written.

import { type AuditReport, verifyAudit } from "@parley/client";
import type { Invocation } from "../command.ts";
import { CommandError } from "../command-error.ts";
import { printAnswer } from "../print-answer.ts";
import { printable } from "../printable.ts";
import { auditFiles } from "./audit-files.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const reports = (positionals.length > 0 ? positionals : auditFiles()).map(verified);
  const changed = reports.filter(({ isWhole }) => !isWhole);
  const entries = reports.reduce((sum, report) => sum + report.entries.length, 0);
  const summary = `${reports.length} logs, ${entries} entries, ${changed.length} changed`;
  const data = reports.map(({ path, isWhole, isClosed, problem, entries: all, unknown }) => ({
    path,
    isWhole,
    isClosed,
    ...(problem === undefined ? {} : { problem }),
    entries: all.length,
    unknown: unknown.length,
  }));
  printAnswer([...reports.flatMap(notes), summary].join("\n"), { logs: data, changed: changed.length }, json);
  return changed.length === 0 ? 0 : 1;
}

function verified(path: string): AuditReport {
  try {
    return verifyAudit(path);
  } catch (error) {
    const { message } = error as Error; // reading a file fails with one
    throw new CommandError("file", `${path} cannot be read: ${message}`, "check the name");
  }
}

function notes({ path, isWhole, isClosed, problem, unknown }: AuditReport): string[] {
  const shown = printable(path);
  if (!isWhole) return [`${shown}: CHANGED: ${problem}`];
  const open = isClosed ? [] : [`${shown}: has no end: its process runs, was killed, or lines were cut off`];
  return unknown.length === 0 ? open : [...open, `${shown}: of ${unknown.length} the outcome is unknown`];
}
