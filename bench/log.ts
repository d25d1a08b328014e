// Benchmarks of the session log on SQLite: an append that waits for the disk, and the end of a long session.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "@parley/acp/node";
import { type SessionStore, type StoredEntry, serializeEntry } from "@parley/acp/store";
import { atMost, type Benchmark, compare } from "./benchmark.ts";
import { interleave } from "./rounds.ts";
import { figure } from "./statistics.ts";

const sessionId = "bench";

const noOther = "the SDK keeps no sessions; its column repeats the floor";

export const logAppend: Benchmark = {
  name: "log.append",
  about:
    "an append of 16 entries of 300 bytes with synchronous=FULL; the floor is the same INSERT by hand in one transaction",
  target: { vsFloor: 0.5 },
  run: (options) =>
    inFolder(async (folder) => {
      const appends = options.quick ? 5 : 300;
      const store = sqliteStore({ path: join(folder, "ours.db"), durability: "full" });
      const claim = await created(store);
      const floor = new FloorLog(join(folder, "floor.db"));
      let [mine, theirs] = [0, 0];
      const samples = await interleave(["floor", "ours"] as const, options, async (entrant) => {
        const started = performance.now();
        for (let n = 0; n < appends; n++) {
          if (entrant === "floor") {
            floor.append(entriesFrom(theirs + 1, 16));
            theirs += 16;
          } else {
            await store.append(claim, mine, entriesFrom(mine + 1, 16));
            mine += 16;
          }
        }
        return (performance.now() - started) / appends;
      });
      await store.close();
      floor.close();
      return {
        ...compare({ ...samples, sdk: samples.floor }, "ms", "less is better"),
        notes: [`${appends} appends in each round, one after the other`, noOther],
      };
    }),
};

export const logEnd: Benchmark = {
  name: "log.end",
  about: "the head and the last page of a session of 100,000 entries; the floor selects the last rows",
  target: {},
  run: (options) =>
    inFolder(async (folder) => {
      const count = options.quick ? 1_000 : 100_000;
      const path = join(folder, "ours.db");
      await using store = sqliteStore(path);
      const claim = await created(store);
      for (let after = 0; after < count; after += 500)
        await store.append(claim, after, entriesFrom(after + 1, 500));
      const db = new DatabaseSync(path);
      const samples = await interleave(["floor", "ours"] as const, options, async (entrant) => {
        if (entrant === "floor") return await timed(async () => lastRows(db));
        // with the opening of the file
        await using reader = sqliteStore(path);
        return await timed(async () => {
          await reader.get(sessionId);
          for await (const page of reader.read(sessionId, { isBackwards: true })) return page.length;
          return 0;
        });
      });
      db.close();
      return {
        ...compare({ ...samples, sdk: samples.floor }, "ms", "less is better"),
        notes: [`${count} entries of 300 bytes; our time includes opening the file`, noOther],
        checks: options.quick ? [] : [atMost("ms", figure(samples.ours).median, 20)],
      };
    }),
};

async function timed(work: () => Promise<number>): Promise<number> {
  const started = performance.now();
  const found = await work();
  if (found === 0) throw new Error("nothing was read");
  return performance.now() - started;
}

function lastRows(db: DatabaseSync): number {
  const rows = db.prepare(
    "SELECT body FROM entry WHERE session = (SELECT key FROM session WHERE id = ?) ORDER BY seq DESC LIMIT 128",
  );
  return rows.all(sessionId).length;
}

/** The statement of the store, with a table of its own. */
class FloorLog {
  readonly #db: DatabaseSync;
  readonly #insert: ReturnType<DatabaseSync["prepare"]>;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE entry (session INTEGER NOT NULL, seq INTEGER NOT NULL, is_spoken INTEGER NOT NULL, crc INTEGER NOT NULL,
        blobs TEXT, body TEXT NOT NULL, format INTEGER, time REAL, kind TEXT, tag TEXT, through INTEGER,
        PRIMARY KEY (session, seq)) STRICT`);
    this.#insert = this.#db.prepare(
      `INSERT INTO entry (session, is_spoken, seq, crc, blobs, body, format, time, kind, tag, through)
         VALUES (1, 1, ?, 0, NULL, ?, ?, ?, ?, ?, NULL)`,
    );
  }

  append(entries: readonly StoredEntry[]): void {
    this.#db.exec("BEGIN IMMEDIATE");
    for (const { seq, text, format, time, kind, tag = null } of entries)
      this.#insert.run(seq, text, format, time, kind, tag);
    this.#db.exec("COMMIT");
  }

  close(): void {
    this.#db.close();
  }
}

function created(store: SessionStore) {
  const times = { createdAt: 1, updatedAt: 1 };
  return store.create({ sessionId, cwd: "/project", additionalDirectories: [], config: {}, ...times });
}

/** Entries of about 300 bytes. */
function entriesFrom(first: number, count: number): StoredEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const content = { type: "text" as const, text: `piece ${first + index} `.padEnd(210, "text ") };
    const update = { sessionUpdate: "agent_message_chunk" as const, messageId: "message", content };
    return serializeEntry({ format: 1, seq: first + index, time: 1_000, kind: "update", update });
  });
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-log-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
