import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../model/entry.ts";
import { serializeEntry } from "../model/entry-format.ts";
import { storeContract } from "../testing/contracts/store-contract.ts";
import { createdWith, promptAt, recordOf } from "../testing/contracts/store-samples.ts";
import { currentHead } from "./current-head.ts";
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

test("nothing that began before a fork at an entry looks open in it, and what is asked afterwards does", async () => {
  const store = memoryStore();
  const asked = (seq: number, askId: string) => {
    const permission = { title: askId, options: [] };
    return serializeEntry({ format: 1, seq, time: 1, kind: "ask", askId, permission } as unknown as Entry); // as: no subject
  };
  await createdWith(store, "a", [promptAt(1), asked(2, "before"), promptAt(3)]);
  const fork = await store.fork("a", recordOf("b"), { atSeq: 2 });
  const open = async () => {
    const { seq, prompts, questions } = (await currentHead(store, "b")).state;
    return [seq, prompts.length, questions.map(({ askId }) => askId)];
  };
  assert.deepEqual(await open(), [2, 0, []]);
  await store.append(fork, 2, [asked(3, "after")]);
  assert.deepEqual(await open(), [3, 0, ["after"]]);
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
