// The part of the contract suite for session stores that is about appends and reading.

import type { StoredEntry } from "../../model/store.ts";
import type { ContractAssert } from "./runner.ts";
import {
  collect,
  createdWith,
  promptAt,
  promptsFrom,
  promptWith,
  type RegisterStoreTest,
  reasonOf,
  recordOf,
} from "./store-samples.ts";

const state = { seq: 2, settledSeq: 1, prompts: [], questions: [], config: { model: "large" }, title: "t" };

export function appends(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("a gap or a repetition is refused and nothing of it is stored", async (store) => {
    const { claim, append } = await createdWith(store, "a", promptsFrom(1, 2));
    const wrong: readonly (readonly [number, readonly StoredEntry[]])[] = [
      [2, [promptAt(4)]],
      [2, [promptAt(2)]],
      [2, [promptAt(3), promptAt(5)]],
      [2, [promptAt(3), promptAt(3)]],
      [2, [promptAt(Number.NaN)]],
      [2, [{ ...promptAt(3), through: 2 }]],
      [2, [{ ...promptAt(3), through: Number.NaN }]],
      [2, [{ ...promptAt(3), through: 4 }, promptAt(4)]],
      [3, [promptAt(4)]],
      [3, []],
      [1, [promptAt(2, "another text")]],
      [0, promptsFrom(1, 3)],
    ];
    for (const [after, entries] of wrong)
      assert.equal(await reasonOf(store.append(claim, after, entries)), "out_of_sequence");
    await append([promptAt(3)]);
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
  });

  promise("an append to an unknown session is refused", async (store) => {
    const nobody = { sessionId: "nobody", epoch: 1 };
    await assert.rejects(store.append(nobody, 0, [promptAt(1)]), { kind: "session_not_found" });
    await assert.rejects(store.append(nobody, 0, []), { kind: "session_not_found" });
  });

  promise("an append that is refused does not store its options either", async (store) => {
    const { claim } = await createdWith(store, "a", promptsFrom(1, 2));
    const { number } = await store.submit("a", { key: "k", body: 1 });
    const options = { state, position: 9, settles: [{ number, outcome: "done" }] };
    assert.equal(await reasonOf(store.append(claim, 1, [promptAt(3)], options)), "out_of_sequence");
    const { head } = (await store.get("a")) ?? {};
    assert.deepEqual([head?.lastSeq, head?.state, head?.position], [2, undefined, undefined]);
    assert.equal((await store.submit("a", { key: "k", body: 1 })).outcome, undefined);
  });

  promise("the same append again stores nothing twice: its answer may have been lost", async (store) => {
    const { claim, append } = await createdWith(store, "a", promptsFrom(1, 2));
    await append(promptsFrom(3, 1_500), { state, position: 1 });
    await append(promptsFrom(3, 1_500), { state, position: 1 });
    await append([{ ...promptAt(1_503), through: 1_510 }]);
    await append([{ ...promptAt(1_503), through: 1_510 }]);
    assert.equal(await reasonOf(store.append(claim, 1_502, [promptAt(1_503)])), "out_of_sequence");
    await append([promptAt(1_511, "long ".repeat(30_000))]);
    await append([promptAt(1_511, "long ".repeat(30_000))], { position: 5 });
    await append(promptsFrom(1, 2), { position: 7 });
    assert.equal((await store.get("a"))?.head.position, 1, "a repeated append stores nothing of its options");
    assert.equal((await collect(store, "a")).length, 1_504);
    assert.equal((await store.get("a"))?.head.lastSeq, 1_511);
  });

  promise(
    "appends that are not awaited are stored in order, and a refused one stops no other",
    async (store) => {
      const one = await createdWith(store, "a");
      const other = await createdWith(store, "b");
      const old = one.claim;
      const claim = await store.claim("a", { takeOver: true });
      const results = await Promise.allSettled([
        store.append(claim, 0, [promptAt(1)]),
        store.append(claim, 1, [promptAt(3)]),
        store.append(old, 1, [promptAt(2)]),
        store.append(other.claim, 0, [promptAt(1)]),
        store.append({ sessionId: "nobody", epoch: 1 }, 0, [promptAt(1)]),
        store.append(claim, 1, []),
        store.append(claim, 1, [promptAt(2), promptAt(3)], { isSynced: true }),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "rejected", "fulfilled", "rejected", "fulfilled", "fulfilled"],
      );
      assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
      assert.deepEqual(await collect(store, "b"), promptsFrom(1, 1));
    },
  );

  promise("entries may be changed after the call", async (store) => {
    const { claim } = await createdWith(store, "a");
    const covering = { ...promptAt(2), through: 4, tag: "t" };
    const entries = [{ ...promptAt(1) }, { ...covering }, { ...promptAt(5, "long ".repeat(30_000)) }];
    const appending = store.append(claim, 0, entries);
    for (const entry of entries)
      Object.assign(entry, { seq: 9, kind: "_changed", tag: "_changed", text: "{}" });
    entries.length = 0;
    await appending;
    const all = [promptAt(1), covering, promptAt(5, "long ".repeat(30_000))];
    assert.deepEqual(await collect(store, "a"), all);
  });

  promise("the head has the state and the position of the last append", async (store) => {
    const { claim, append } = await createdWith(store, "a", promptsFrom(1, 2));
    await append([promptAt(3)], { state, position: 12.5 });
    const first = (await store.get("a"))?.head;
    assert.deepEqual(first, {
      epoch: claim.epoch,
      lastSeq: 3,
      cursor: first?.cursor,
      state,
      position: 12.5,
    });
    await append([promptAt(4)]);
    await store.append(claim, 4, [], { position: 13, isSynced: true });
    const second = (await store.get("a"))?.head;
    assert.deepEqual([second?.state, second?.position, second?.lastSeq], [state, 13, 4], "the rest stays");
    await store.append(claim, 4, [], { state: { ...state, seq: 4, isBusy: true } });
    assert.equal((await store.list()).sessions[0]?.head.state?.isBusy, true);
  });
}

export function reads(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("entries of an unknown session are an error, not an empty list", async (store) => {
    await assert.rejects(collect(store, "nobody"), { kind: "session_not_found" });
  });

  promise("entries come back in order, from any place", async (store) => {
    const { append } = await createdWith(store, "a", promptsFrom(1, 300));
    await append(promptsFrom(301, 1));
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 301));
    assert.deepEqual(await collect(store, "a", 300), promptsFrom(300, 2));
    assert.deepEqual(await collect(store, "a", 302), []);
    assert.deepEqual(await collect(store, "a", -5), promptsFrom(1, 301));
    assert.deepEqual(await collect(store, "a", { from: 7, to: 9 }), promptsFrom(7, 3));
    assert.deepEqual(await collect(store, "a", { from: 9, to: 7 }), []);
    assert.deepEqual(await collect(store, "a", { from: 300, to: 900 }), promptsFrom(300, 2));
  });

  promise("pages come from either end, each in order", async (store) => {
    const { append } = await createdWith(store, "a", promptsFrom(1, 4));
    await append(promptsFrom(5, 3));
    const pages = async (range: object) => {
      const found: number[][] = [];
      for await (const page of store.read("a", range)) found.push(page.map(({ seq }) => seq));
      return found;
    };
    assert.deepEqual(await pages({ pageSize: 3 }), [[1, 2, 3], [4, 5, 6], [7]]);
    assert.deepEqual(await pages({ pageSize: 3, isBackwards: true }), [[5, 6, 7], [2, 3, 4], [1]]);
    assert.deepEqual(await pages({ pageSize: 2, isBackwards: true, from: 3, to: 6 }), [
      [5, 6],
      [3, 4],
    ]);
    assert.deepEqual(await pages({ isBackwards: true }), [[1, 2, 3, 4, 5, 6, 7]]);
    assert.deepEqual(await pages({ isBackwards: true, from: 8 }), []);
    await store.fork("a", recordOf("b"), { atSeq: 2 });
    const backwards = await collect(store, "b", { isBackwards: true });
    assert.deepEqual(backwards, promptsFrom(1, 2));
  });

  promise("an entry that covers several numbers is found by each of them", async (store) => {
    const covering: StoredEntry = { ...promptAt(3), through: 6 };
    const { append } = await createdWith(store, "a", [...promptsFrom(1, 2), covering]);
    await append([promptAt(7)]);
    const all = [...promptsFrom(1, 2), covering, promptAt(7)];
    for (const isBackwards of [false, true]) {
      const one = { isBackwards, pageSize: 50 };
      assert.deepEqual(await collect(store, "a", one), all);
      for (const from of [3, 4, 6])
        assert.deepEqual(await collect(store, "a", { ...one, from }), all.slice(2));
      for (const to of [3, 5, 6])
        assert.deepEqual(await collect(store, "a", { ...one, to }), all.slice(0, 3));
      assert.deepEqual(await collect(store, "a", { ...one, from: 4, to: 5 }), [covering]);
      assert.deepEqual(await collect(store, "a", { ...one, from: 7 }), [promptAt(7)]);
      assert.deepEqual(await collect(store, "a", { ...one, to: 2 }), promptsFrom(1, 2));
    }
  });

  promise("a read sees the appends that were called before it", async (store) => {
    const { append } = await createdWith(store, "a");
    const appending = append([promptAt(1)]);
    assert.equal((await store.get("a"))?.head.lastSeq, 1);
    assert.deepEqual(await collect(store, "a"), [promptAt(1)]);
    await appending;
  });

  promise("unusual texts and large ones come back as they were", async (store) => {
    const image = { type: "image" as const, mimeType: "image/png", data: "iVBO".repeat(50_000) };
    const odd = "\u0000 \ud800 lone, \u2028 \uffff 👩‍👩‍👧 \\u0041 </script>";
    const keys = JSON.parse(
      `{ "__proto__": "${"p".repeat(70_000)}", "": "", "a/b~c": { "constructor": 1 } }`,
    );
    const parts = Array.from({ length: 5_000 }, (_, n) => ({ type: "text" as const, text: `part ${n}` }));
    const all: StoredEntry[] = [
      promptAt(1, odd),
      promptWith(2, [image, { type: "text", text: "x".repeat(70_000) }, image]),
      promptWith(3, [{ type: "text", text: "", _meta: keys }]),
      promptWith(4, parts),
      promptAt(5, ""),
    ];
    await createdWith(store, "a", all);
    assert.deepEqual(await collect(store, "a"), all);
    assert.deepEqual(await collect(store, "a", { isBackwards: true }), all);
  });

  promise("an entry comes back as it was, even if its kind and format are unknown", async (store) => {
    const later = JSON.stringify({ _later: { list: [1, null, "x"], deep: { on: true } } });
    // what a later version of the library writes
    const all: StoredEntry[] = [
      { ...promptAt(1), text: later },
      { format: 1, seq: 2, time: 3.5, kind: "_later", text: later },
      { format: 7, seq: 3, time: 4, kind: "update", tag: "_later", text: later },
    ];
    await createdWith(store, "a", all);
    assert.deepEqual(await collect(store, "a"), all);
    assert.deepEqual(await collect(store, "a", 2), all.slice(1));
    await store.fork("a", recordOf("b"));
    assert.deepEqual(await collect(store, "b"), all);
  });

  promise("a reader may stop early, and sees the entries that were there when it began", async (store) => {
    const { append } = await createdWith(store, "a", promptsFrom(1, 600));
    for await (const page of store.read("a")) {
      assert.equal(page[0]?.seq, 1);
      break;
    }
    const reader = store.read("a", { from: 599, pageSize: 1 })[Symbol.asyncIterator]();
    assert.equal((await reader.next()).value?.[0]?.seq, 599);
    await append([promptAt(601)]);
    assert.equal((await reader.next()).value?.[0]?.seq, 600);
    assert.equal((await reader.next()).done, true);
  });

  promise("reading a long session lets other work go on", async (store) => {
    await createdWith(store, "a", promptsFrom(1, 1_000));
    const reader = collect(store, "a");
    await store.create(recordOf("b"));
    assert.equal((await reader).length, 1_000);
  });

  promise("a deleted session is gone, its id is free, and readers of it are told", async (store) => {
    const { claim } = await createdWith(store, "a", promptsFrom(1, 1_000));
    const reader = store.read("a")[Symbol.asyncIterator]();
    await reader.next();
    await store.delete("a", claim);
    await store.delete("a", claim);
    assert.equal(await store.get("a"), undefined);
    await createdWith(store, "a", promptsFrom(1, 1_000));
    await assert.rejects(async () => {
      for (;;) if ((await reader.next()).done) return;
    }, /./);
  });
}
