import assert from "node:assert/strict";
import { test } from "node:test";
import { storeContract } from "../testing/contracts/store-contract.ts";
import { createdWith, promptAt, recordOf } from "../testing/contracts/store-samples.ts";
import { memoryStore } from "./memory-store.ts";

storeContract({ test, assert }, "memory store", memoryStore);

test("two memory stores know nothing of each other", async () => {
  const [one, other] = [memoryStore(), memoryStore()];
  const mine = await createdWith(one, "a");
  assert.equal(await other.get("a"), undefined);
  const theirs = await createdWith(other, "a");
  await theirs.append([promptAt(1)]);
  await mine.append([promptAt(1)]);
});

test("a cursor of another memory store leads to a gap", async () => {
  const [one, other] = [memoryStore(), memoryStore()];
  for (const store of [one, other]) await createdWith(store, "a", [promptAt(1)]);
  const { cursor } = (await one.get("a"))?.head ?? {};
  const { value } = await other.tail("a", cursor)[Symbol.asyncIterator]().next();
  assert.equal(value?.kind, "gap");
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
