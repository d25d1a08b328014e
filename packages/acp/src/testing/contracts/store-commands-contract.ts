// The part of the contract suite for session stores that is about commands, and about how far somebody has read.

import type { StoredCommand } from "../../model/store.ts";
import type { ContractAssert } from "./runner.ts";
import {
  createdWith,
  promptAt,
  promptsFrom,
  type RegisterStoreTest,
  reasonOf,
  writerOf,
} from "./store-samples.ts";

export function commands(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("a command without a session, a key or a body is refused", async (store) => {
    await createdWith(store, "a");
    await assert.rejects(store.submit("nobody", { key: "k", body: 1 }), { kind: "session_not_found" });
    await assert.rejects(store.submit("a", { key: "", body: 1 }), /key must be/);
    await assert.rejects(store.submit("a", { key: "k".repeat(201), body: 1 }), /key must be/);
    // as: a caller without types
    await assert.rejects(store.submit("a", { key: "k" } as unknown as StoredCommand), /body must be/);
    const reader = store.commands("nobody")[Symbol.asyncIterator]();
    await assert.rejects(reader.next(), { kind: "session_not_found" });
  });

  promise("a key that was used for another command is refused", async (store) => {
    await createdWith(store, "a");
    const first = await store.submit("a", { key: "k", body: { prompt: "one" } });
    assert.equal(await reasonOf(store.submit("a", { key: "k", body: { prompt: "two" } })), "key_reused");
    assert.deepEqual(await nextOf(store.commands("a")), [first]);
  });

  promise("a command that its check refuses is not stored", async (store) => {
    await createdWith(store, "a", promptsFrom(1, 3), { principal: "ada" });
    const seen: unknown[] = [];
    const refused = store.submit("a", { key: "k", body: 1 }, (session) => {
      seen.push(session.principal, session.head.lastSeq);
      throw new RangeError("not allowed");
    });
    const stored = store.submit("a", { key: "other", body: 2 });
    await assert.rejects(refused, /^RangeError: not allowed$/);
    assert.deepEqual(seen.slice(0, 2), ["ada", 3]);
    assert.deepEqual(await nextOf(store.commands("a")), [await stored]);
    assert.equal((await store.submit("a", { key: "k", body: 1 }, () => undefined)).key, "k");
    await store.submit("a", { key: "k", body: 1 }, () => {
      throw new Error("a command that is stored is not checked again");
    });
  });

  promise("a command that is sent again is the same command, with its outcome", async (store) => {
    const { append } = await createdWith(store, "a");
    const body = { prompt: ["one", null, { deep: true }], more: 1 };
    const first = await store.submit("a", { key: "k", principal: "ada", body });
    assert.deepEqual(first, { number: 1, time: first.time, key: "k", principal: "ada", body });
    const { more, prompt } = body;
    const again = await store.submit("a", { key: "k", principal: "ada", body: { more, prompt } });
    assert.deepEqual(again, first);
    await append([promptAt(1)], { settles: [{ number: 1, outcome: { result: null } }] });
    const settled = await store.submit("a", { key: "k", principal: "ada", body });
    assert.deepEqual(settled, { ...first, outcome: { result: null } });
  });

  promise("keys of different principals and of different sessions are different", async (store) => {
    await createdWith(store, "a");
    await createdWith(store, "b");
    const numbers = [
      await store.submit("a", { key: "k", body: 1 }),
      await store.submit("a", { key: "k", principal: "ada", body: 2 }),
      await store.submit("a", { key: "k", principal: "ben", body: 3 }),
      await store.submit("b", { key: "k", body: 4 }),
    ].map(({ number }) => number);
    assert.deepEqual(numbers, [1, 2, 3, 1]);
  });

  promise(
    "the first outcome of a command stays, and an append that is refused gives no outcome",
    async (store) => {
      const { claim, append } = await createdWith(store, "a");
      for (const key of ["one", "two"]) await store.submit("a", { key, body: key });
      await append([promptAt(1)], {
        settles: [
          { number: 1, outcome: null },
          { number: 99, outcome: 0 },
        ],
      });
      await append([promptAt(2)], { settles: [{ number: 1, outcome: "later" }] });
      await append([promptAt(1)], { settles: [{ number: 2, outcome: "repeated" }] });
      await reasonOf(store.append(claim, 7, [promptAt(8)], { settles: [{ number: 2, outcome: "refused" }] }));
      const outcome = async (key: string) => (await store.submit("a", { key, body: key })).outcome;
      assert.deepEqual([await outcome("one"), await outcome("two")], [null, undefined]);
      await store.append(claim, 2, [], { settles: [{ number: 2, outcome: false }] });
      assert.equal(await outcome("two"), false);
    },
  );

  promise("the holder gets the commands that are not settled in order, then new ones", async (store) => {
    const { append } = await createdWith(store, "a");
    const sent: StoredCommand[] = [];
    for (const key of ["one", "two", "three"]) sent.push(await store.submit("a", { key, body: key }));
    await append([promptAt(1)], { settles: [{ number: 2, outcome: "done" }] });
    const stop = new AbortController();
    const reader = store.commands("a", { signal: stop.signal })[Symbol.asyncIterator]();
    assert.deepEqual((await reader.next()).value, [sent[0], sent[2]]);
    const next = reader.next();
    const four = await store.submit("a", { key: "four", body: "four" });
    assert.deepEqual((await next).value, [four]);
    const claim = await store.claim("a", { takeOver: true });
    assert.deepEqual(await nextOf(store.commands("a")), [sent[0], sent[2], four], "so does the next holder");
    await writerOf(store, claim).append([promptAt(2)], { settles: [{ number: 4, outcome: 1 }] });
    const last = reader.next();
    stop.abort();
    assert.equal((await last).done, true);
  });

  promise(
    "following commands ends when the session is deleted, and a new session with the same id has none",
    async (store) => {
      const { claim } = await createdWith(store, "a");
      await store.submit("a", { key: "k", body: 1 });
      const reader = store.commands("a")[Symbol.asyncIterator]();
      await reader.next();
      const end = reader.next();
      await store.delete("a", claim);
      assert.equal((await end).done, true);
      await createdWith(store, "a");
      assert.equal((await store.submit("a", { key: "k", body: "new" })).number, 1);
    },
  );
}

async function nextOf<Value>(values: AsyncIterable<Value>): Promise<Value | undefined> {
  for await (const value of values) return value;
  return undefined;
}

export function seen(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("the position up to which somebody has read never goes back, nor beyond the end", async (store) => {
    await createdWith(store, "a", promptsFrom(1, 5));
    await assert.rejects(store.seen("nobody", "ada"), { kind: "session_not_found" });
    await assert.rejects(store.seen("nobody", "ada", 3), { kind: "session_not_found" });
    assert.equal(await store.seen("a", "ada"), 0);
    assert.equal(await store.seen("a", "ada", 3), 3);
    assert.equal(await store.seen("a", "ada", 2), 3);
    assert.equal(await store.seen("a", "ada", 99), 5);
    assert.equal(await store.seen("a", "ada"), 5);
    assert.equal(await store.seen("a", "ben"), 0);
  });
}
