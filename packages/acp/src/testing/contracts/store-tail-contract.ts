// The part of the contract suite for session stores that is about following a log.

import type { TailEvent } from "../../model/store.ts";
import type { ContractAssert } from "./runner.ts";
import {
  collect,
  createdWith,
  entriesFrom,
  promptAt,
  promptsFrom,
  type RegisterStoreTest,
  recordOf,
  writerOf,
} from "./store-samples.ts";

export function tails(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise(
    "an unknown session cannot be followed, and a cursor that no store made is refused",
    async (store) => {
      await createdWith(store, "a", promptsFrom(1, 3));
      const first = (sessionId: string, cursor?: string) =>
        store.tail(sessionId, cursor)[Symbol.asyncIterator]().next();
      await assert.rejects(first("nobody"), { kind: "session_not_found" });
      for (const cursor of ["", "3", "1.2", "a.b.c", "1.x.-1", "1.x.3.4"])
        await assert.rejects(first("a", cursor), { kind: "invalid_params" }, cursor);
    },
  );

  promise(
    "a reader that has seen entries of a deleted session gets a gap in a new one with the same id",
    async (store) => {
      const { claim } = await createdWith(store, "a", promptsFrom(1, 5));
      const { cursor = "" } = (await store.get("a"))?.head ?? {};
      await store.delete("a", claim);
      await createdWith(store, "a", [promptAt(1, "another")]);
      const events: TailEvent[] = [];
      for await (const event of store.tail("a", cursor)) events.push(event);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ["gap"],
      );
      const place = events[0]?.kind === "gap" ? events[0].cursor : "";
      const { entries } = await entriesFrom(store.tail("a", place)[Symbol.asyncIterator](), 1);
      assert.deepEqual(entries, [promptAt(1, "another")]);
    },
  );

  promise("a reader gets the stored entries, then new ones, without gap or repetition", async (store) => {
    const { append } = await createdWith(store, "a", promptsFrom(1, 300));
    const events = store.tail("a")[Symbol.asyncIterator]();
    const first = await entriesFrom(events, 300);
    assert.deepEqual(first.entries, promptsFrom(1, 300));
    const next = entriesFrom(events, 40);
    for (let seq = 301; seq <= 340; seq++) {
      const appending = append([promptAt(seq)]);
      if (seq % 3 === 0) await appending;
    }
    assert.deepEqual((await next).entries, promptsFrom(301, 40));
    await events.return?.();
  });

  promise("every cursor continues exactly after its entries, even after further claims", async (store) => {
    let writer = await createdWith(store, "a", promptsFrom(1, 2));
    await writer.append([{ ...promptAt(3), through: 5 }]);
    const cursors = new Map<number, string>([[5, (await store.get("a"))?.head.cursor ?? ""]]);
    for (let seq = 6; seq <= 12; seq++) {
      if (seq % 3 === 0) writer = writerOf(store, await store.claim("a", { takeOver: true }));
      // a claim under which nothing is appended
      if (seq % 4 === 0) writer = writerOf(store, await store.claim("a", { takeOver: true }));
      await writer.append([promptAt(seq)]);
      cursors.set(seq, (await store.get("a"))?.head.cursor ?? "");
    }
    await writer.append([promptAt(13)]);
    for (const [seq, cursor] of cursors) {
      const { entries, end } = await entriesFrom(store.tail("a", cursor)[Symbol.asyncIterator](), 13 - seq);
      assert.deepEqual([entries, end], [promptsFrom(seq + 1, 13 - seq), undefined], `after ${seq}`);
    }
    const all = await collect(store, "a");
    const seen = await entriesFrom(store.tail("a")[Symbol.asyncIterator](), all.length);
    assert.deepEqual(seen.entries, all);
    const stop = new AbortController();
    const waiting = store.tail("a", seen.cursor, { signal: stop.signal })[Symbol.asyncIterator]().next();
    await writer.append([promptAt(14)]);
    const { value } = await waiting;
    assert.deepEqual(value?.kind === "entries" ? value.entries : value, [promptAt(14)]);
    stop.abort();
  });

  promise("a fork is followed through the entries of its source to its own", async (store) => {
    await createdWith(store, "a", promptsFrom(1, 3));
    const fork = writerOf(store, await store.fork("a", recordOf("b"), { atSeq: 2 }));
    const { cursor = "" } = (await store.get("b"))?.head ?? {};
    await fork.append([promptAt(3, "own")]);
    const whole = await entriesFrom(store.tail("b")[Symbol.asyncIterator](), 3);
    assert.deepEqual(whole.entries, [...promptsFrom(1, 2), promptAt(3, "own")]);
    const end = await entriesFrom(store.tail("b", cursor)[Symbol.asyncIterator](), 1);
    assert.deepEqual(end.entries, [promptAt(3, "own")]);
  });

  promise("following ends when the session is deleted", async (store) => {
    const { claim } = await createdWith(store, "a", [promptAt(1)]);
    const events = store.tail("a")[Symbol.asyncIterator]();
    await events.next();
    const last = events.next();
    await store.delete("a", claim);
    await createdWith(store, "a", promptsFrom(1, 2));
    assert.deepEqual((await last).value, { kind: "deleted" });
    assert.equal((await events.next()).done, true);
  });

  promise("following ends when its signal aborts, also while it waits", async (store) => {
    await createdWith(store, "a", [promptAt(1)]);
    const stop = new AbortController();
    const events = store.tail("a", undefined, { signal: stop.signal })[Symbol.asyncIterator]();
    await events.next();
    const waiting = events.next();
    stop.abort();
    assert.equal((await waiting).done, true);
    const aborted = store.tail("a", undefined, { signal: AbortSignal.abort() });
    assert.equal((await aborted[Symbol.asyncIterator]().next()).done, true);
  });

  promise("many may follow one session, each at its own pace", async (store) => {
    const { append } = await createdWith(store, "a", [promptAt(1)]);
    const readers = Array.from({ length: 5 }, () => store.tail("a")[Symbol.asyncIterator]());
    const reading = readers.map((events, n) => entriesFrom(events, 1 + n * 5));
    for (let seq = 2; seq <= 21; seq++) await append([promptAt(seq)]);
    for (const [n, { entries }] of (await Promise.all(reading)).entries())
      assert.deepEqual(entries, promptsFrom(1, entries.length), `reader ${n}`);
  });
}

export function changes(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("everybody who waits for changes gets the ids of sessions that change", async (store) => {
    const a = await createdWith(store, "a");
    const b = await createdWith(store, "b");
    const stop = new AbortController();
    const [one, other] = [0, 1].map(() => store.changes({ signal: stop.signal })[Symbol.asyncIterator]());
    // until it has named them all
    const named = async (hints: AsyncIterator<readonly string[]> | undefined, ...ids: string[]) => {
      const missing = new Set(ids);
      while (missing.size > 0) for (const id of (await hints?.next())?.value ?? []) missing.delete(id);
    };
    const first = Promise.all([named(one, "a"), named(other, "a")]);
    await a.append([promptAt(1)]);
    await first;
    await b.append([promptAt(1)]);
    await store.patch("a", { title: "t", updatedAt: 2_000 });
    await createdWith(store, "c");
    await Promise.all([named(one, "a", "b", "c"), named(other, "a", "b", "c")]);
    const last = named(one, "b");
    await store.submit("b", { key: "k", body: null });
    await last;
    const waiting = other?.next();
    stop.abort();
    await waiting;
    assert.equal((await other?.next())?.done, true);
  });
}
