// Keeps what was spent, in files that several processes add to and that survive all of them.

import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";

/** What was added. */
export interface Spent {
  readonly tokens?: number;
  readonly cost?: number;
  readonly ms?: number;
  /** What this session has cost by then. */
  readonly session?: string;
  readonly total?: number;
  readonly warned?: true;
  /** What was spent before does not count. */
  readonly begins?: true;
}

/** What was spent in all. */
export interface Sums {
  readonly tokens: number;
  readonly cost: number;
  readonly ms: number;
  readonly warned: boolean;
  /** What each session has cost by then. */
  readonly totals: ReadonlyMap<string, number>;
}

export interface Ledger {
  add(key: string, spent: Spent): void;
  sums(key: string): Sums;
}

/** What was read of a file: only what was added since then is read again. */
interface Known {
  readonly file: number;
  readonly end: number;
  readonly sums: Sums;
}

const suffix = ".ndjson";
const nothing: Sums = { tokens: 0, cost: 0, ms: 0, warned: false, totals: new Map() };

export function ledger(folder: string, warn: (text: string) => void): Ledger {
  const known = new Map<string, Known>();
  let hasWarned = false;
  const fileOf = (key: string): string => {
    const name = encodeURIComponent(key);
    const short = createHash("sha256").update(key).digest("hex");
    return join(folder, `${name.length > 200 ? `sha256-${short}` : name}${suffix}`);
  };
  const skipped = (path: string): void => {
    if (!hasWarned) warn(`${path}: a line cannot be read, and does not count`);
    hasWarned = true;
  };
  return {
    /** One write, so that nothing is lost where two processes add at once. A half-written line before it ends there. */
    add(key, spent) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(fileOf(key), `\n${JSON.stringify(spent)}\n`, { mode: 0o600 });
    },
    sums(key) {
      const path = fileOf(key);
      const before = known.get(path);
      const now = withFile(path, (descriptor) => {
        const { ino: file, size } = fstatSync(descriptor);
        const isSame = before?.file === file && before.end <= size;
        const { end, sums } = isSame ? before : { end: 0, sums: nothing };
        const added = Buffer.alloc(size - end);
        const length = readSync(descriptor, added, 0, added.length, end);
        // the end of the last line may not be written yet
        const whole = added.subarray(0, length).lastIndexOf("\n") + 1;
        const lines = added.toString("utf8", 0, whole).split("\n");
        return { file, end: end + whole, sums: lines.reduce((sum, line) => withLine(sum, line, path), sums) };
      });
      if (now === undefined) known.delete(path);
      else known.set(path, now);
      return now?.sums ?? nothing;
    },
  };

  function withLine(sums: Sums, line: string, path: string): Sums {
    if (line === "") return sums;
    try {
      const spent: unknown = JSON.parse(line);
      if (isObject(spent)) return withSpent(sums, spent);
    } catch {
      // a process was killed while it wrote
    }
    skipped(path);
    return sums;
  }
}

function withSpent(sums: Sums, spent: Spent): Sums {
  const { tokens, cost, ms, warned, totals } = spent.begins ? nothing : sums;
  const { session, total } = spent;
  return {
    tokens: tokens + (spent.tokens ?? 0),
    cost: cost + (spent.cost ?? 0),
    ms: ms + (spent.ms ?? 0),
    warned: warned || spent.warned === true,
    totals: session === undefined || total === undefined ? totals : new Map(totals).set(session, total),
  };
}

function withFile<Value>(path: string, use: (descriptor: number) => Value): Value | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // as: what it throws
    throw error;
  }
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
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
