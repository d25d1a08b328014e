// The part of the contract suite for session stores that is about forks and claims.

import type { ContractAssert } from "./runner.ts";
import { collect, idsOf, promptAt, promptsFrom, type RegisterStoreTest, recordOf } from "./store-samples.ts";

export function forks(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise(
    "a fork begins with the entries and the config of its source, and both go on alone",
    async (store) => {
      await store.create(recordOf("a", { config: { model: "large", mode: "code" }, title: "source" }));
      await store.append("a", promptsFrom(1, 3));
      await store.fork("a", recordOf("b", { config: { mode: "ask" } }));
      assert.deepEqual(await store.get("b"), recordOf("b", { config: { model: "large", mode: "ask" } }));
      await store.append("a", [promptAt(4, "in a")]);
      await store.append("b", [promptAt(4, "in b"), promptAt(5)]);
      assert.deepEqual(await collect(store, "a"), [...promptsFrom(1, 3), promptAt(4, "in a")]);
      assert.deepEqual(await collect(store, "b"), [...promptsFrom(1, 3), promptAt(4, "in b"), promptAt(5)]);
      assert.deepEqual(await collect(store, "b", 3), [promptAt(3), promptAt(4, "in b"), promptAt(5)]);
    },
  );

  promise("a fork needs a source and an id of its own", async (store) => {
    await store.create(recordOf("a"));
    await assert.rejects(store.fork("nobody", recordOf("b")), { kind: "session_not_found" });
    await assert.rejects(store.fork("a", recordOf("a")), { kind: "conflict" });
    assert.deepEqual(await idsOf(store), ["a"]);
  });

  promise(
    "forks of forks keep their history when what they came from is deleted, in any order",
    async (store) => {
      const orders = [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["b", "a", "c"],
        ["b", "c", "a"],
      ];
      for (const order of orders) {
        await store.create(recordOf("a"));
        await store.append("a", promptsFrom(1, 2));
        await store.fork("a", recordOf("b"));
        await store.fork("b", recordOf("c"));
        await store.append("a", [promptAt(3, "only a")]);
        await store.append("b", [promptAt(3, "b")]);
        await store.append("c", [promptAt(3, "c")]);
        await store.fork("b", recordOf("d"));
        await store.append("d", [promptAt(4, "d")]);
        for (const id of order) {
          await store.delete(id);
          assert.deepEqual(await collect(store, "d"), [
            ...promptsFrom(1, 2),
            promptAt(3, "b"),
            promptAt(4, "d"),
          ]);
        }
        assert.deepEqual(await idsOf(store), ["d"]);
        await store.delete("d");
      }
    },
  );
}

export function claims(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("only a claimed session takes entries; creating and forking claim", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", [promptAt(1)]);
    await store.fork("a", recordOf("b"));
    await store.append("b", [promptAt(2)]);
    await store.release("a");
    await store.release("a");
    await assert.rejects(store.append("a", [promptAt(2)]), { kind: "conflict" });
    await store.claim("a");
    await store.claim("a");
    await store.append("a", [promptAt(2)]);
    assert.equal((await collect(store, "a")).length, 2);
  });

  promise("what is not held can be read, changed, forked and deleted", async (store) => {
    await store.create(recordOf("a"));
    await store.append("a", [promptAt(1)]);
    await store.release("a");
    await store.patch("a", { title: "t" });
    assert.equal((await store.get("a"))?.title, "t");
    await store.fork("a", recordOf("b"));
    assert.equal((await collect(store, "a")).length, 1);
    await store.delete("a");
    assert.deepEqual(await idsOf(store), ["b"]);
  });

  promise("an unknown session cannot be claimed, and releasing it is fine", async (store) => {
    await assert.rejects(store.claim("nobody"), { kind: "session_not_found" });
    await store.release("nobody");
  });
}
