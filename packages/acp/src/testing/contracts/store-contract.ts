// The contract suite for session stores.

import type { SessionStore, StoredEntry } from "../../model/store.ts";
import type { ContractAssert, ContractRunner } from "./runner.ts";
import { claims, forks } from "./store-forks-contract.ts";
import {
  collect,
  idsOf,
  promptAt,
  promptsFrom,
  promptWith,
  type RegisterStoreTest,
  recordOf,
} from "./store-samples.ts";

const timeout = 60_000;

/**
 * Registers the tests that every session store must pass.
 *
 * @param runner - `test` of `node:test` and `node:assert/strict`, or similar functions.
 * @param name - The beginning of the tests' names.
 * @param make - Creates an empty store. The test closes it.
 *
 * @example
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { memoryStore } from "@parley/acp/store";
 * import { storeContract } from "@parley/acp/testing";
 *
 * storeContract({ test, assert }, "my store", () => memoryStore());
 */
export function storeContract(
  runner: ContractRunner,
  name: string,
  make: () => SessionStore | Promise<SessionStore>,
): void {
  const { test, assert } = runner;
  const promise: RegisterStoreTest = (what, body) => {
    test(`${name}: ${what}`, { timeout, skip: false }, async () => {
      const store = await make();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  };
  for (const register of [records, entries, lists, forks, claims]) register(promise, assert);
}

function records(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("a session comes back as it was created", async (store) => {
    const record = recordOf("a", {
      title: "Überschrift \u0000 “quoted” 👩‍👩‍👧",
      additionalDirectories: ["/lib", "/with space"],
      config: { model: "large", think: true },
      principal: "somebody",
      data: { nested: [1, null, { deep: "x" }] },
    });
    await store.create(record);
    assert.deepEqual(await store.get("a"), record);
    assert.equal(await store.get("b"), undefined);
  });

  promise("an id can be created once", async (store) => {
    await store.create(recordOf("a", { title: "first" }));
    await assert.rejects(store.create(recordOf("a", { title: "second" })), { kind: "conflict" });
    assert.equal((await store.get("a"))?.title, "first");
  });

  promise("a patch changes what it names and leaves the rest", async (store) => {
    await store.create(recordOf("a", { title: "old", data: 1, config: { x: "1" } }));
    await store.patch("a", { title: "new", updatedAt: 2_000 });
    await store.patch("a", { config: { y: true } });
    assert.deepEqual(
      await store.get("a"),
      recordOf("a", { title: "new", updatedAt: 2_000, data: 1, config: { y: true } }),
    );
    await assert.rejects(store.patch("b", { title: "x" }), { kind: "session_not_found" });
  });

  promise("what the caller changes later does not change what is stored", async (store) => {
    const data = { list: [1] };
    const entry: { -readonly [Key in keyof StoredEntry]: StoredEntry[Key] } = promptAt(1, "said");
    const creating = store.create(recordOf("a", { data }));
    const appending = store.append("a", [entry]);
    data.list.push(2);
    entry.text = "changed";
    await Promise.all([creating, appending]);
    const record = await store.get("a");
    assert.deepEqual(record?.data, { list: [1] });
    assert.deepEqual(await collect(store, "a"), [promptAt(1, "said")]);
    // as: a reader that writes into what it was given
    (record as { data: { list: number[] } }).data.list.push(3);
    assert.deepEqual((await store.get("a"))?.data, { list: [1] });
  });

  promise("a closed store refuses, and closing twice is fine", async (store) => {
    await store.create(recordOf("a"));
    await store.close();
    await store.close();
    await assert.rejects(store.get("a"), /closed/);
    await assert.rejects(store.append("a", [promptAt(1)]), /closed/);
    await assert.rejects(collect(store, "a"), /closed/);
  });
}

function entries(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("entries come back in order, from any place", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 300));
    await store.append("a", promptsFrom(301, 1));
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 301));
    assert.deepEqual(await collect(store, "a", 300), promptsFrom(300, 2));
    assert.deepEqual(await collect(store, "a", 302), []);
    assert.deepEqual(await collect(store, "a", -5), promptsFrom(1, 301));
  });

  promise("a gap or a repetition is refused and nothing of it is stored", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 2));
    for (const wrong of [
      [promptAt(4)],
      [promptAt(2)],
      [promptAt(3), promptAt(5)],
      [promptAt(3), promptAt(3)],
      [promptAt(Number.NaN)],
    ]) {
      await assert.rejects(store.append("a", wrong), { kind: "internal_error" });
    }
    await store.append("a", [promptAt(3)]);
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
  });

  promise("an append that rejects has stored nothing, and can be tried again", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", [promptAt(1)]);
    // the last of three has a wrong number
    await assert.rejects(store.append("a", [promptAt(2), promptAt(3), promptAt(5)]), /./);
    assert.deepEqual(await collect(store, "a"), [promptAt(1)]);
    await store.append("a", promptsFrom(2, 3));
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 4));
    await store.release("a");
    await assert.rejects(store.append("a", [promptAt(5)]), { kind: "conflict" });
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 4));
  });

  promise(
    "appends that are not awaited are stored in order, and a refused one stops no other",
    async (store) => {
      await store.create(recordOf("a"));
      await store.create(recordOf("b"));
      const results = await Promise.allSettled([
        store.append("a", [promptAt(1)]),
        store.append("a", [promptAt(3)]),
        store.append("b", [promptAt(1)]),
        store.append("nobody", [promptAt(1)]),
        store.append("a", []),
        store.append("a", [promptAt(2), promptAt(3)]),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled", "fulfilled"],
      );
      assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
      assert.deepEqual(await collect(store, "b"), promptsFrom(1, 1));
    },
  );

  promise("a read sees what was asked for before it", async (store) => {
    const creating = store.create(recordOf("a"));
    const appending = store.append("a", [promptAt(1)]);
    assert.equal((await store.get("a"))?.sessionId, "a");
    assert.deepEqual(await collect(store, "a"), [promptAt(1)]);
    await Promise.all([creating, appending]);
  });

  promise("unusual texts and large ones come back as they were", async (store) => {
    await store.create(recordOf("a"));
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
    await store.append("a", all);
    assert.deepEqual(await collect(store, "a"), all);
  });

  promise(
    "an entry comes back as it was, also of a kind and a format that nobody knows yet",
    async (store) => {
      await store.create(recordOf("a"));
      const later = JSON.stringify({ _later: { list: [1, null, "x"], deep: { on: true } } });
      // what a later version of the library writes
      const all: StoredEntry[] = [
        { ...promptAt(1), text: later },
        { format: 1, seq: 2, time: 3.5, kind: "_later", text: later },
        { format: 7, seq: 3, time: 4, kind: "update", tag: "_later", text: later },
      ];
      await store.append("a", all);
      assert.deepEqual(await collect(store, "a"), all);
      assert.deepEqual(await collect(store, "a", 2), all.slice(1));
      await store.fork("a", recordOf("b"));
      assert.deepEqual(await collect(store, "b"), all);
    },
  );

  promise("a reader may stop early and see what came until it began", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 600));
    const seen: number[] = [];
    for await (const { seq } of store.entries("a")) {
      seen.push(seq);
      if (seq === 3) break;
    }
    assert.deepEqual(seen, [1, 2, 3]);
    const reader = store.entries("a", 599)[Symbol.asyncIterator]();
    assert.equal((await reader.next()).value?.seq, 599);
    await store.append("a", [promptAt(601)]);
    assert.equal((await reader.next()).value?.seq, 600);
    assert.equal((await reader.next()).done, true);
  });

  promise("reading a long session lets other work go on", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 1_000));
    const reader = collect(store, "a");
    await store.create(recordOf("b"));
    assert.equal((await reader).length, 1_000);
  });

  promise("entries of an unknown session are an error, not an empty list", async (store) => {
    await assert.rejects(collect(store, "nobody"), { kind: "session_not_found" });
    await assert.rejects(store.append("nobody", [promptAt(1)]), { kind: "session_not_found" });
  });

  promise("a deleted session is gone, its id is free, and readers of it are told", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 1_000));
    const reader = store.entries("a")[Symbol.asyncIterator]();
    await reader.next();
    await store.delete("a");
    await store.delete("a");
    assert.equal(await store.get("a"), undefined);
    await store.create(recordOf("a"));
    await store.append("a", promptsFrom(1, 1_000));
    await assert.rejects(async () => {
      for (;;) if ((await reader.next()).done) return;
    }, /./);
  });
}

function lists(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("sessions are listed most recently updated first", async (store) => {
    await store.create(recordOf("old", { updatedAt: 1 }));
    await store.create(recordOf("new", { updatedAt: 3 }));
    await store.create(recordOf("middle", { updatedAt: 2.5 }));
    assert.deepEqual(await idsOf(store), ["new", "middle", "old"]);
    await store.patch("old", { updatedAt: 4 });
    assert.deepEqual(await idsOf(store), ["old", "new", "middle"]);
    assert.deepEqual((await store.list()).sessions[1], recordOf("new", { updatedAt: 3 }));
  });

  promise("pages cover every session once, also where times are equal", async (store) => {
    const ids = Array.from({ length: 23 }, (_, n) => `s${String(n).padStart(2, "0")}`);
    await Promise.all(
      ids.map((id, n) => store.create(recordOf(id, { updatedAt: n < 12 ? 5 : 5 + (n % 3) }))),
    );
    for (const limit of [1, 2, 7, 22, 23, 24]) {
      assert.deepEqual((await idsOf(store, undefined, limit)).sort(), ids, `limit ${limit}`);
    }
  });

  promise("sessions that appear between two pages do not move the second", async (store) => {
    for (const [id, updatedAt] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) {
      await store.create(recordOf(id, { updatedAt }));
    }
    const first = await store.list({ limit: 2 });
    if (first.nextCursor === undefined) throw new Error("the first page has no cursor for the next");
    await store.create(recordOf("newest", { updatedAt: 9 }));
    await store.delete("c");
    const second = await store.list({ limit: 2, cursor: first.nextCursor });
    assert.deepEqual(
      second.sessions.map(({ sessionId }) => sessionId),
      ["b", "a"],
    );
    assert.equal(second.nextCursor, undefined);
  });

  promise("a list can be limited to one working directory", async (store) => {
    await store.create(recordOf("a", { cwd: "/one" }));
    await store.create(recordOf("b", { cwd: "/two" }));
    await store.create(recordOf("c", { cwd: "/one" }));
    assert.deepEqual(await idsOf(store, "/one", 1), ["c", "a"]);
    assert.deepEqual(await idsOf(store, "/three"), []);
    await store.patch("b", { cwd: "/one" });
    assert.deepEqual(await idsOf(store, "/one"), ["c", "b", "a"]);
  });

  promise("a working directory is the same however it is written", async (store) => {
    await store.create(recordOf("a", { cwd: "/one/" }));
    await store.create(recordOf("b", { cwd: "/one/./x" }));
    await store.create(recordOf("c", { cwd: "/two" }));
    await store.patch("c", { cwd: "/one/y/.." });
    for (const cwd of ["/one", "/one/", "/two/../one"])
      assert.deepEqual(await idsOf(store, cwd, 1), ["c", "a"], cwd);
    assert.deepEqual(await idsOf(store, "/one/x"), ["b"]);
    assert.equal((await store.get("a"))?.cwd, "/one/", "it is returned as it was given");
    const { nextCursor = "" } = await store.list({ cwd: "/one", limit: 1 });
    assert.equal((await store.list({ cwd: "/one/", cursor: nextCursor })).sessions.length, 1);
  });

  promise("archived sessions are left out of lists, unless the list is of them or of all", async (store) => {
    const ids = async (archived?: "exclude" | "include" | "only") => {
      const listed: string[] = [];
      let cursor: string | undefined;
      do {
        const query = { limit: 1, ...(archived && { archived }), ...(cursor !== undefined && { cursor }) };
        const page = await store.list(query);
        listed.push(...page.sessions.map(({ sessionId }) => sessionId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return listed;
    };
    for (const id of ["a", "b", "c"]) await store.create(recordOf(id));
    await store.create(recordOf("d", { archived: true }));
    await store.patch("b", { archived: true });
    assert.deepEqual(
      [await ids(), await ids("exclude")],
      [
        ["c", "a"],
        ["c", "a"],
      ],
    );
    assert.deepEqual(
      [await ids("include"), await ids("only")],
      [
        ["d", "c", "b", "a"],
        ["d", "b"],
      ],
    );
    assert.deepEqual(await store.get("b"), recordOf("b", { archived: true }));
    const { nextCursor = "" } = await store.list({ limit: 1, archived: "only" });
    await assert.rejects(store.list({ cursor: nextCursor, archived: "include" }), { kind: "invalid_params" });
    await store.patch("b", { archived: false });
    assert.deepEqual([await ids(), await ids("only")], [["c", "b", "a"], ["d"]]);
  });

  promise("a cursor that is not ours is refused", async (store) => {
    for (const id of ["a", "b", "c"]) await store.create(recordOf(id));
    const { nextCursor = "" } = await store.list({ limit: 1 });
    const changed = nextCursor.slice(0, -1) + (nextCursor.endsWith("A") ? "B" : "A");
    for (const cursor of ["", "2", "%%%", "e30", `${nextCursor}x`, nextCursor.slice(2), changed, "\ud800"]) {
      await assert.rejects(store.list({ cursor }), { kind: "invalid_params" }, JSON.stringify(cursor));
    }
    await assert.rejects(store.list({ cursor: nextCursor, cwd: "/project" }), { kind: "invalid_params" });
    assert.equal((await store.list({ cursor: nextCursor })).sessions.length, 2);
  });
}
