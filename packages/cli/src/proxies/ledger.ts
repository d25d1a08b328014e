// Keeps what was spent, in files that several processes add to and that survive all of them.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** What was added. */
export interface Spent {
  readonly tokens?: number;
  readonly cost?: number;
  readonly ms?: number;
  /** What this session has cost by then. */
  readonly session?: string;
  readonly total?: number;
  readonly warned?: true;
}

const suffix = ".ndjson";

function fileOf(folder: string, key: string): string {
  return join(folder, `${encodeURIComponent(key).slice(0, 200)}${suffix}`);
}

/** One line by one write, so that nothing is lost where two processes add at once. */
export function addSpent(folder: string, key: string, spent: Spent): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  appendFileSync(fileOf(folder, key), `${JSON.stringify(spent)}\n`, { mode: 0o600 });
}

export function spentOf(folder: string, key: string): readonly Spent[] {
  let text: string;
  try {
    text = readFileSync(fileOf(folder, key), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // as: what it throws
    throw error;
  }
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Spent])); // as: our own lines
}

/** Returns how many keys were forgotten. */
export function forgetSpent(folder: string): number {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(suffix));
  } catch {
    // nothing was ever spent
    return 0;
  }
  for (const name of names) rmSync(join(folder, name), { force: true });
  return names.length;
}
