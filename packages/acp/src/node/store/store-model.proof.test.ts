// Random calls of the store in memory and of two SQLite stores on one file, against a small model of a session log. Each call
// must end as the model says, and everything that is stored is compared in the end.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { propertyRuns } from "../../../test/support/soak.ts";
import { freshPath } from "../../../test/support/store-probe.ts";
import { memoryStore } from "../../log/memory-store.ts";
import type { Claim, SessionStore, StoredEntry } from "../../model/store.ts";
import {
  collect,
  entriesFrom,
  idsOf,
  promptAt,
  reasonOf,
  recordOf,
} from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const ids = ["a", "b", "c"] as const;

type Id = (typeof ids)[number];

type Call = { readonly on: Id; readonly store: number } & (
  | { readonly do: "create" | "release" | "repeat" | "settle" | "tail" }
  | { readonly do: "claim"; readonly takeOver: boolean; readonly leaseMs: 0 | undefined }
  | {
      readonly do: "append";
      readonly covered: readonly number[];
      readonly off: number;
      readonly old: boolean;
    }
  | { readonly do: "fork"; readonly as: Id; readonly at: number | undefined }
  | { readonly do: "delete"; readonly own: boolean }
  | { readonly do: "submit"; readonly key: string; readonly body: number; readonly isRefused: boolean }
  | { readonly do: "seen"; readonly seq: number }
  | { readonly do: "read"; readonly from: number; readonly to: number; readonly size: number }
);

interface ModelSession {
  entries: StoredEntry[];
  /** The claims so far. Only the last one is valid. */
  readonly claims: Claim[];
  hold: "none" | "lease over" | "held";
  position: number | undefined;
  readonly commands: { key: string; body: number; outcome: number | undefined }[];
  seen: number;
  last:
    | { readonly claim: Claim; readonly after: number; readonly entries: readonly StoredEntry[] }
    | undefined;
  /** Cursors, and the number of entries before each. */
  readonly cursors: { readonly cursor: string; readonly seq: number }[];
}

const place = { on: fc.constantFrom(...ids), store: fc.nat(1) };
const small = fc.integer({ min: -1, max: 12 });
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ...place, do: fc.constant("create") }) },
  { weight: 2, arbitrary: fc.record({ ...place, do: fc.constant("release") }) },
  { weight: 2, arbitrary: fc.record({ ...place, do: fc.constant("repeat") }) },
  { weight: 2, arbitrary: fc.record({ ...place, do: fc.constant("settle") }) },
  { weight: 3, arbitrary: fc.record({ ...place, do: fc.constant("tail") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...place,
      do: fc.constant("claim"),
      takeOver: fc.boolean(),
      leaseMs: fc.constantFrom(0, undefined),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      ...place,
      do: fc.constant("append"),
      covered: fc.array(fc.constantFrom(1, 1, 1, 3), { maxLength: 4 }),
      off: fc.constantFrom(0, 0, 0, 0, 0, 1, -1),
      old: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...place,
      do: fc.constant("fork"),
      as: fc.constantFrom(...ids),
      at: fc.option(fc.nat(12), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...place, do: fc.constant("delete"), own: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...place,
      do: fc.constant("submit"),
      key: fc.constantFrom("k1", "k2", "k3"),
      body: fc.nat(1),
      isRefused: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...place, do: fc.constant("seen"), seq: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...place,
      do: fc.constant("read"),
      from: small,
      to: small,
      size: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

function endOf(entries: readonly StoredEntry[]): number {
  const last = entries.at(-1);
  return last?.through ?? last?.seq ?? 0;
}

/** How a call must end: undefined if it succeeds, else the reason of the refusal. */
class Model {
  readonly sessions = new Map<Id, ModelSession>();
  #count = 0;
  readonly #stores: readonly SessionStore[];

  constructor(stores: readonly SessionStore[]) {
    this.#stores = stores;
  }

  async run(made: Call): Promise<void> {
    const store = this.#stores[made.store % this.#stores.length];
    assert.ok(store !== undefined);
    const session = this.sessions.get(made.on);
    if (made.do === "create") return this.#create(store, made.on);
    if (session === undefined) {
      const missing = "session_not_found";
      assert.equal(await reasonOf(store.claim(made.on)), missing);
      assert.equal(await reasonOf(store.seen(made.on, "p")), missing);
      return;
    }
    switch (made.do) {
      case "release": {
        const own = session.claims.at(-1);
        assert.ok(own);
        await store.release(own);
        session.hold = "none";
        return;
      }
      case "claim":
        return this.#claim(store, session, made);
      case "append":
        return this.#append(store, session, made);
      case "repeat": {
        if (session.last === undefined) return;
        const { claim, after, entries } = session.last;
        const isHolder = claim === session.claims.at(-1) && session.hold !== "none";
        const again = reasonOf(store.append(claim, after, entries, { position: -1 }));
        // an append without entries never counts as a repetition, because it may change the state
        if (entries.length === 0 && isHolder && after === endOf(session.entries)) session.position = -1;
        const isThere = entries.length > 0 || after === endOf(session.entries);
        assert.equal(await again, isHolder ? (isThere ? undefined : "out_of_sequence") : "fenced");
        return;
      }
      case "settle": {
        const claim = session.claims.at(-1);
        assert.ok(claim);
        const settles = session.commands.map((_, index) => ({ number: index + 1, outcome: index }));
        const reason = await reasonOf(store.append(claim, endOf(session.entries), [], { settles }));
        assert.equal(reason, session.hold === "none" ? "fenced" : undefined);
        if (reason === undefined)
          for (const [index, command] of session.commands.entries()) command.outcome ??= index;
        return;
      }
      case "fork":
        return this.#fork(store, session, made);
      case "delete": {
        const claim = made.own ? session.claims.at(-1) : session.claims.at(-2);
        const isHeld = session.hold === "held" && !made.own;
        assert.equal(await reasonOf(store.delete(made.on, claim)), isHeld ? "session_held" : undefined);
        if (!isHeld) this.sessions.delete(made.on);
        return;
      }
      case "submit":
        return submit(store, session, made);
      case "seen": {
        session.seen = Math.max(session.seen, Math.min(made.seq, endOf(session.entries)));
        assert.equal(await store.seen(made.on, "p", made.seq), session.seen);
        return;
      }
      case "read": {
        const { from, to, size: pageSize } = made;
        const wanted = session.entries.filter(({ seq, through = seq }) => seq <= to && from <= through);
        for (const isBackwards of [false, true]) {
          const pages: (readonly StoredEntry[])[] = [];
          for await (const page of store.read(made.on, { from, to, pageSize, isBackwards })) pages.push(page);
          assert.ok(pages.every((page) => page.length > 0 && page.length <= pageSize));
          assert.deepEqual((isBackwards ? pages.reverse() : pages).flat(), wanted);
        }
        return;
      }
      case "tail":
        return this.#tail(store, made.on, session);
    }
  }

  async check(): Promise<void> {
    for (const store of this.#stores) {
      assert.deepEqual((await idsOf(store)).sort(), [...this.sessions.keys()].sort());
      for (const [id, session] of this.sessions) {
        assert.deepEqual(await collect(store, id), session.entries);
        const head = (await store.get(id))?.head;
        assert.deepEqual([head?.lastSeq, head?.position], [endOf(session.entries), session.position]);
        assert.equal(head?.epoch, session.claims.at(-1)?.epoch);
        await this.#tail(store, id, session);
      }
    }
  }

  #add(id: Id, claim: Claim, entries: StoredEntry[]): void {
    const fresh = { position: undefined, commands: [], seen: 0, last: undefined, cursors: [] };
    this.sessions.set(id, { ...fresh, entries, claims: [claim], hold: "held" });
  }

  async #create(store: SessionStore, id: Id): Promise<void> {
    if (this.sessions.has(id)) assert.equal(await reasonOf(store.create(recordOf(id))), "session_exists");
    else this.#add(id, await store.create(recordOf(id)), []);
  }

  async #claim(store: SessionStore, session: ModelSession, made: Call & { do: "claim" }): Promise<void> {
    const { takeOver, leaseMs } = made;
    if (session.hold === "held" && !takeOver) {
      assert.equal(await reasonOf(store.claim(made.on, { leaseMs })), "session_held");
      return;
    }
    const claim = await store.claim(made.on, { takeOver, leaseMs });
    assert.ok(claim.epoch > (session.claims.at(-1)?.epoch ?? 0));
    session.claims.push(claim);
    session.hold = leaseMs === 0 ? "lease over" : "held";
  }

  async #append(store: SessionStore, session: ModelSession, made: Call & { do: "append" }): Promise<void> {
    const claim = made.old ? session.claims.at(-2) : session.claims.at(-1);
    if (claim === undefined) return;
    const after = endOf(session.entries) + made.off;
    let next = after;
    const entries = made.covered.map((covered) => {
      const entry = promptAt(next + 1, `text ${this.#count++}`);
      next += covered;
      return covered === 1 ? entry : { ...entry, through: next };
    });
    const isHolder = !made.old && session.hold !== "none";
    const position = this.#count;
    const expected = isHolder ? (made.off === 0 ? undefined : "out_of_sequence") : "fenced";
    assert.equal(await reasonOf(store.append(claim, after, entries, { position })), expected);
    if (expected !== undefined) return;
    session.entries = [...session.entries, ...entries];
    session.position = position;
    session.last = { claim, after, entries };
  }

  async #fork(store: SessionStore, session: ModelSession, made: Call & { do: "fork" }): Promise<void> {
    const forking = store.fork(made.on, recordOf(made.as), { atSeq: made.at });
    if (this.sessions.has(made.as)) {
      assert.equal(await reasonOf(forking), "session_exists");
      return;
    }
    const { at = Number.POSITIVE_INFINITY } = made;
    const kept = session.entries.filter(({ seq, through = seq }) => through <= at);
    this.#add(made.as, await forking, kept);
  }

  /** From the start, and from a cursor of before. */
  async #tail(store: SessionStore, id: Id, session: ModelSession): Promise<void> {
    const { entries } = session;
    for (const from of [undefined, ...session.cursors.slice(-2)]) {
      const rest = entries.filter(({ seq }) => seq > (from?.seq ?? 0));
      if (rest.length === 0) continue;
      const events = store.tail(id, from?.cursor)[Symbol.asyncIterator]();
      const seen = await entriesFrom(events, rest.length);
      await events.return?.();
      assert.deepEqual([seen.entries, seen.end], [rest, undefined]);
    }
    const cursor = (await store.get(id))?.head.cursor ?? "";
    session.cursors.push({ cursor, seq: endOf(entries) });
  }
}

async function submit(
  store: SessionStore,
  session: ModelSession,
  made: Call & { do: "submit" },
): Promise<void> {
  const { key, body, isRefused } = made;
  const index = session.commands.findIndex((each) => each.key === key);
  const known = session.commands[index];
  const refusal = new Error("refused");
  const sent = store.submit(made.on, { key, body }, () => {
    if (isRefused) throw refusal;
  });
  if (known !== undefined && known.body !== body) {
    assert.equal(await reasonOf(sent), "key_reused");
  } else if (known === undefined && isRefused) {
    await assert.rejects(sent, refusal);
  } else {
    if (known === undefined) session.commands.push({ key, body, outcome: undefined });
    const { number, outcome } = await sent;
    assert.deepEqual([number, outcome], [known ? index + 1 : session.commands.length, known?.outcome]);
  }
}

const calls = fc.array(call, { minLength: 20, maxLength: 60, size: "max" });
const patience = { timeout: 1_200_000 };

test("the store in memory does what the model of a session log does", patience, async () => {
  const property = fc.asyncProperty(calls, async (made) => {
    const store = memoryStore();
    const model = new Model([store]);
    for (const each of made) await model.run(each);
    await model.check();
    await store.close();
  });
  await fc.assert(property, propertyRuns(200, 5_000));
});

test("two SQLite stores on one file do what the model of a session log does", patience, async () => {
  const path = freshPath();
  let runs = 0;
  const property = fc.asyncProperty(calls, async (made) => {
    const tenant = `run ${runs++}`;
    const stores = [sqliteStore({ path, tenant }), sqliteStore({ path, tenant })];
    try {
      const model = new Model(stores);
      for (const each of made) await model.run(each);
      await model.check();
      assert.deepEqual(await stores[0]?.verify(), []);
    } finally {
      for (const store of stores) await store.close();
    }
  });
  await fc.assert(property, propertyRuns(40, 1_500));
});
