import assert from "node:assert/strict";
import { test } from "node:test";
import { storeContract } from "../testing/contracts/store-contract.ts";
import { promptAt, recordOf } from "../testing/contracts/store-samples.ts";
import { memoryStore } from "./memory-store.ts";

storeContract({ test, assert }, "memory store", memoryStore);

test("two memory stores know nothing of each other", async () => {
  const [one, other] = [memoryStore(), memoryStore()];
  await one.create(recordOf("a"));
  assert.equal(await other.get("a"), undefined);
  await other.create(recordOf("a"));
  await other.append("a", [promptAt(1)]);
  await one.append("a", [promptAt(1)]);
});

test("a memory store that is disposed of is closed", async () => {
  let left: ReturnType<typeof memoryStore>;
  {
    await using store = memoryStore();
    left = store;
    await store.create(recordOf("a"));
  }
  await assert.rejects(left.get("a"), /closed/);
});
