// How a session is listed: for people in columns, for scripts as JSON.

import { homedir } from "node:os";
import type { HistorySession } from "@parley/client/history";
import { safeLine } from "../run/safe-text.ts";

export function sessionLine(session: HistorySession, now: number): string {
  return sessionLines([session], now)[0] ?? "";
}

/** In columns, the title last: it may be long. */
export function sessionLines(sessions: readonly HistorySession[], now: number): string[] {
  const rows = sessions.map(({ id, name, title, agent, cwd, updatedAt }) => {
    const label = [name === undefined ? "" : `${safeLine(name)}:`, safeLine(title ?? "(no title)")]
      .join(" ")
      .trim();
    return [id, age(now - updatedAt).padStart(4), safeLine(agent.name), home(cwd), label];
  });
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = [0, 1, 2, 3].map(width);
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
}

export function sessionJson(session: HistorySession): object {
  const { createdAt, updatedAt, ...rest } = session;
  return {
    ...rest,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

const steps = [
  [1000, "now"],
  [60_000, "s"],
  [3_600_000, "m"],
  [86_400_000, "h"],
] as const;

function age(ms: number): string {
  if (ms < steps[0][0]) return "now";
  for (let at = 1; at < steps.length; at++) {
    const [limit, unit] = steps[at] ?? steps[1];
    if (ms < limit) return `${Math.floor(ms / (steps[at - 1]?.[0] ?? 1))}${unit}`;
  }
  return `${Math.floor(ms / 86_400_000)}d`;
}

function home(path: string): string {
  const own = homedir();
  return safeLine(path === own || path.startsWith(`${own}/`) ? `~${path.slice(own.length)}` : path);
}
