// `parley permissions log`: prints permission decisions and their outcomes.

import { type AuditEntry, type AuditReport, auditFiles, verifyAudit } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { countOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { auditFolder } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";

interface Line {
  readonly entry: AuditEntry;
  /** "unknown": the operation started and its end was not recorded. */
  readonly result?: string;
}

export async function run({ values, json }: Invocation): Promise<number> {
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
  const shownLines = lines.length === 0 ? ["No decisions yet."] : lines.map(shown);
  const text = [...shownLines, ...problems.map(escapedLine)].join("\n");
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

function shown({ entry, result }: Line): string {
  const { time, agent, effect = "", origin, operation = "", target = "", reason = "" } = entry;
  const what = `${origin === "claim" ? "claimed " : ""}${operation} ${target}`;
  const end = result === undefined ? "" : `, ${result}`;
  const who = agent === undefined ? "" : `  ${agent}`;
  return `${time}${escapedLine(who)}  ${effect.padEnd(9)}  ${escapedLine(what)}  (${escapedLine(reason)}${end})`;
}
