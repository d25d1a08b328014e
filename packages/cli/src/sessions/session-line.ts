// Formats sessions for lists, as columns and as JSON.

import { homedir } from "node:os";
import type { HistorySession } from "@parley/client/history";
import { safeLine } from "../terminal/sanitise.ts";

export function sessionLine(session: HistorySession, now: number): string {
  return sessionLines([session], now)[0] ?? "";
}

/** The title comes last: it may be long. */
export function sessionLines(sessions: readonly HistorySession[], now: number): string[] {
  return columns(
    sessions.map(({ id, name, title, agent, cwd, updatedAt }) => {
      const label = [name === undefined ? "" : `${safeLine(name)}:`, safeLine(title ?? "(no title)")]
        .join(" ")
        .trim();
      return [id, age(now - updatedAt).padStart(4), safeLine(agent.name), home(cwd), label];
    }),
  );
}

/** All columns but the last are padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column)))).join("  "),
  );
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

export function age(ms: number): string {
  if (ms < steps[0][0]) return "now";
  for (let at = 1; at < steps.length; at++) {
    const [limit, unit] = steps[at] ?? steps[1];
    if (ms < limit) return `${Math.floor(ms / (steps[at - 1]?.[0] ?? 1))}${unit}`;
  }
  return `${Math.floor(ms / 86_400_000)}d`;
}

export function home(path: string): string {
  const own = homedir();
  return safeLine(path === own || path.startsWith(`${own}/`) ? `~${path.slice(own.length)}` : path);
}
