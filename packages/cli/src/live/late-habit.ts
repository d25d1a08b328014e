// Remembers which agents send text after the end of a turn, so that a run waits only for those.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFileSync } from "@parley/acp/node";
import type { ManagedConnection } from "@parley/client/internal";
import { stateFolder } from "../settings/data-folder.ts";

/** An agent that had no late text in so many runs, one after the other, is not waited for. */
const enoughRuns = 3;
/** The agents that were used last. */
const maxAgents = 100;

type Counts = Readonly<Record<string, number>>;

/** The habit of one agent: the same command in the same version. */
export class LateHabit {
  readonly #key: string;
  readonly #lateMs: number | undefined;
  /** A remote agent is not read after the end, so it is always waited for. */
  readonly #isRead: boolean;

  constructor({ spec, info, edition }: Pick<ManagedConnection, "spec" | "info" | "edition">) {
    const how = spec.transport === "stdio" ? [spec.command, ...spec.args] : [spec.url];
    const facts = JSON.stringify([how, info?.name, info?.version, edition]);
    this.#key = createHash("sha256").update(facts).digest("base64url").slice(0, 22);
    this.#lateMs = spec.traits?.lateMs;
    this.#isRead = spec.transport === "stdio";
  }

  /** How long after the end of a turn text may come, in milliseconds. 0: none comes. */
  get lateMs(): number {
    if (this.#lateMs !== undefined) return this.#lateMs;
    // nobody knows how long
    return !this.#isRead || (readCounts()[this.#key] ?? 0) < enoughRuns ? 1 : 0;
  }

  /** Counts a run without late text, or begins to count again. */
  note(hadLateText: boolean): void {
    if (this.#lateMs !== undefined || !this.#isRead) return;
    const counts = readCounts();
    const { [this.#key]: before = 0, ...others } = counts;
    const now = hadLateText ? 0 : Math.min(before + 1, enoughRuns);
    if (now === before) return;
    const kept = Object.entries(others).slice(1 - maxAgents);
    writeCounts(Object.fromEntries([...kept, ...(now === 0 ? [] : [[this.#key, now] as const])]));
  }
}

function habitsPath(): string {
  return join(stateFolder(), "runs-without-late-text.json");
}

function readCounts(): Counts {
  try {
    const value: unknown = JSON.parse(readFileSync(habitsPath(), "utf8"));
    return typeof value === "object" && value !== null ? (value as Counts) : {}; // our own file
  } catch {
    // missing or damaged: every agent is waited for
    return {};
  }
}

/** Two runs at the same time may lose a count, never the file. */
function writeCounts(counts: Counts): void {
  try {
    replaceFileSync(habitsPath(), `${JSON.stringify(counts)}\n`, { flush: false });
  } catch {
    // the next run waits, which does no harm
  }
}
