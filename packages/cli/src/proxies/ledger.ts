// Keeps what was spent, in files that several processes add to and that survive all of them.

import { createHash } from "node:crypto";
import * as fs from "node:fs";
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
export interface Sums extends Required<Pick<Spent, "tokens" | "cost" | "ms">> {
  readonly warned: boolean;
  /** What each session has cost by then. */
  readonly totals: ReadonlyMap<string, number>;
}

/** What was read of a file: only what was added since then is read again. */
interface Known {
  readonly file: number;
  readonly end: number;
  readonly sums: Sums;
}

const nothing: Sums = { tokens: 0, cost: 0, ms: 0, warned: false, totals: new Map() };

export class Ledger {
  readonly #folder: string;
  /** Calls back once, when a line cannot be read. */
  #damaged: ((text: string) => void) | undefined;
  readonly #known = new Map<string, Known>();

  constructor(folder: string, damaged: (text: string) => void) {
    this.#folder = folder;
    this.#damaged = damaged;
  }

  /** One write, so that nothing is lost where two processes add at once. A half-written line before it ends there. */
  add(key: string, spent: Spent): void {
    fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    fs.appendFileSync(this.#fileOf(key), `\n${JSON.stringify(spent)}\n`, { mode: 0o600 });
  }

  sums(key: string): Sums {
    const path = this.#fileOf(key);
    const descriptor = openedAt(path);
    if (descriptor === undefined) return nothing;
    try {
      const before = this.#known.get(path);
      const { ino: file, size } = fs.fstatSync(descriptor);
      const isSame = before?.file === file && before.end <= size;
      const { end, sums } = isSame ? before : { end: 0, sums: nothing };
      const added = Buffer.alloc(size - end);
      const length = fs.readSync(descriptor, added, 0, added.length, end);
      // the end of the last line may not be written yet
      const whole = added.subarray(0, length).lastIndexOf("\n") + 1;
      const lines = added.toString("utf8", 0, whole).split("\n");
      const now = lines.reduce((sum, line) => withSpent(sum, this.#read(line, path)), sums);
      this.#known.set(path, { file, end: end + whole, sums: now });
      return now;
    } finally {
      fs.closeSync(descriptor);
    }
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.ndjson`);
  }

  #read(line: string, path: string): Spent {
    try {
      const spent: unknown = line === "" ? {} : JSON.parse(line);
      if (isObject(spent)) return spent;
    } catch {
      // a process was killed while it wrote
    }
    this.#damaged?.(`${path}: a line cannot be read, and does not count`);
    this.#damaged = undefined;
    return {};
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

function openedAt(path: string): number | undefined {
  try {
    return fs.openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // as: what it throws
    throw error;
  }
}

/** Returns a sentence that says how much was forgotten. */
export function forgetSpent(folder: string): string {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  for (const file of files) fs.rmSync(join(folder, file), { force: true });
  const what = files.length === 1 ? "1 session or day" : `${files.length} sessions or days`;
  return files.length === 0 ? "Nothing was spent." : `Forgot what was spent in ${what}.`;
}
