// The contract suite for session stores.

import type { SessionStore, StoredEntry } from "../../model/store.ts";
import type { ContractAssert, ContractRunner } from "./runner.ts";
import { claims, forks } from "./store-claims-contract.ts";
import { commands, seen } from "./store-commands-contract.ts";
import { lists } from "./store-lists-contract.ts";
import { appends, reads } from "./store-log-contract.ts";
import {
  collect,
  createdWith,
  promptAt,
  type RegisterSharedTest,
  type RegisterStoreTest,
  reasonOf,
  recordIn,
  recordOf,
} from "./store-samples.ts";
import { shared } from "./store-shared-contract.ts";
import { changes, tails } from "./store-tail-contract.ts";

const timeout = 60_000;

/** Options of the contract suite for stores. */
export interface StoreContractOptions {
  /** Opens a second store on the data of the first one. Without it, the tests with two stores are left out. */
  readonly reopen?: ((store: SessionStore) => SessionStore | Promise<SessionStore>) | undefined;
}

/**
 * Registers the tests that every session store must pass.
 *
 * @param runner - `test` of `node:test` and `node:assert/strict`, or similar functions.
 * @param name - The beginning of the tests' names.
 * @param make - Creates an empty store. The test closes it.
 * @param options - Opens a second store on the same data, if several may share it.
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
  options: StoreContractOptions = {},
): void {
  const { test, assert } = runner;
  const { reopen } = options;
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
  for (const register of [records, appends, reads, lists, forks, claims, tails, changes, commands, seen])
    register(promise, assert);
  if (reopen === undefined) return;
  const promiseShared: RegisterSharedTest = (what, body) => {
    promise(what, async (one) => {
      const other = await reopen(one);
      try {
        await body(one, other);
      } finally {
        await other.close();
      }
    });
  };
  shared(promiseShared, assert);
}

function records(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("an id can be created once", async (store) => {
    await store.create(recordOf("a", { title: "first" }));
    assert.equal(await reasonOf(store.create(recordOf("a", { title: "second" }))), "session_exists");
    assert.equal((await store.get("a"))?.title, "first");
  });

  promise("two sessions cannot be the same session of an agent", async (store) => {
    const known = { agent: "one", agentSessionId: "x" };
    await createdWith(store, "a", [], known);
    assert.equal(await reasonOf(store.create(recordOf("b", known))), "agent_session_exists");
    assert.equal(await store.get("b"), undefined);
    await createdWith(store, "b", [], { agent: "two", agentSessionId: "x" });
    await createdWith(store, "c", [], { agent: "one" });
    await createdWith(store, "d", [], { agent: "one" });
    assert.equal(
      await reasonOf(store.patch("c", { agentSessionId: "x", title: "t" })),
      "agent_session_exists",
    );
    assert.equal(await reasonOf(store.fork("a", recordOf("e", known))), "agent_session_exists");
    assert.equal((await store.get("c"))?.title, undefined);
    await store.patch("a", { agentSessionId: "x", title: "its own" });
  });

  promise("a session is found by the id that its agent has for it", async (store) => {
    const claim = await store.create(recordOf("a", { agent: "one", agentSessionId: "x" }));
    await createdWith(store, "b", [], { agent: "one" });
    assert.equal(await store.find("one", "y"), undefined);
    assert.equal(await store.find("two", "x"), undefined);
    assert.deepEqual(await store.find("one", "x"), await store.get("a"));
    await store.patch("b", { agentSessionId: "y" });
    assert.equal((await store.find("one", "y"))?.sessionId, "b");
    await store.delete("a", claim);
    assert.equal(await store.find("one", "x"), undefined);
    await createdWith(store, "c", [], { agent: "one", agentSessionId: "x" });
    assert.equal((await store.find("one", "x"))?.sessionId, "c");
  });

  promise("a session comes back as it was created", async (store) => {
    const record = recordOf("a", {
      title: "Überschrift \u0000 “quoted” 👩‍👩‍👧",
      additionalDirectories: ["/lib", "/with space"],
      config: { model: "large", think: true },
      principal: "somebody",
      agent: "an agent",
      data: { nested: [1, null, { deep: "x" }] },
    });
    const claim = await store.create(record);
    assert.deepEqual(claim, { sessionId: "a", epoch: claim.epoch });
    assert.deepEqual(await recordIn(store, "a"), record);
    const head = (await store.get("a"))?.head;
    assert.deepEqual(head, { epoch: claim.epoch, lastSeq: 0, cursor: head?.cursor });
    assert.equal(await store.get("b"), undefined);
  });

  promise("a patch changes what it names and leaves the rest", async (store) => {
    await store.create(recordOf("a", { title: "old", data: 1, config: { x: "1" } }));
    await assert.rejects(store.patch("b", { title: "x" }), { kind: "session_not_found" });
    await store.patch("a", { title: "new", updatedAt: 2_000 });
    await store.patch("a", { config: { y: true } });
    assert.deepEqual(
      await recordIn(store, "a"),
      recordOf("a", { title: "new", updatedAt: 2_000, data: 1, config: { y: true } }),
    );
  });

  promise("what the caller changes later does not change what is stored", async (store) => {
    const data = { list: [1] };
    const entry: { -readonly [Key in keyof StoredEntry]: StoredEntry[Key] } = promptAt(1, "said");
    const state = { seq: 1, settledSeq: 0, prompts: [], questions: [], config: { model: "m" } };
    const creating = store.create(recordOf("a", { data }));
    data.list.push(2);
    const appending = store.append(await creating, 0, [entry], { state });
    entry.text = "changed";
    state.config.model = "changed";
    await appending;
    const session = await store.get("a");
    assert.deepEqual(session?.data, { list: [1] });
    assert.deepEqual(session?.head.state?.config, { model: "m" });
    assert.deepEqual(await collect(store, "a"), [promptAt(1, "said")]);
    // as: a reader that writes into what it was given
    (session as { data: { list: number[] } }).data.list.push(3);
    assert.deepEqual((await store.get("a"))?.data, { list: [1] });
  });

  promise("a closed store refuses, and closing twice is fine", async (store) => {
    const { claim } = await createdWith(store, "a");
    const waiting = store.tail("a")[Symbol.asyncIterator]().next();
    await store.close();
    await store.close();
    await assert.rejects(waiting, /closed/);
    await assert.rejects(store.get("a"), /closed/);
    await assert.rejects(store.append(claim, 0, [promptAt(1)]), /closed/);
    await assert.rejects(store.claim("a"), /closed/);
    await assert.rejects(collect(store, "a"), /closed/);
    await assert.rejects(store.submit("a", { key: "k", body: 1 }), /closed/);
  });
}
