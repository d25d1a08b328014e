import assert from "node:assert/strict";
import { test } from "node:test";
import { conversation, inEveryVersion, place, said } from "../../test/support/peer-probe.ts";
import { freshPath } from "../../test/support/store-probe.ts";
import type { Entry, SessionUpdate } from "../index.ts";
import { sqliteStore } from "../node.ts";
import { type EntryBody, memoryStore, type SessionStore, upgradeEntry } from "../store.ts";
import { collect, promptAt, recordOf } from "../testing/contracts/store-samples.ts";
import { viewFrom } from "../view.ts";

const error = { code: -32065, message: "slow down" };
const chunk: SessionUpdate = {
  sessionUpdate: "agent_message_chunk",
  messageId: "answer",
  content: { type: "text", text: "hello" },
};
const bodies: readonly EntryBody[] = [
  { kind: "prompt", messageId: "m1", prompt: [{ type: "text", text: "hi" }] },
  { kind: "update", update: chunk },
  {
    kind: "result",
    messageId: "m1",
    result: { stopReason: "error", error: { ...error, kind: "rate_limited" } },
  },
];
const current = bodies.map((body, at): Entry => ({ format: 1, seq: at + 1, time: at, ...body }));
/** The same entries as the first version of the library wrote them. */
const old = current.map(({ format: _, ...entry }) => {
  if (entry.kind !== "result") return entry;
  const { result: _result, ...rest } = entry;
  return { ...rest, kind: "outcome", outcome: { stopReason: "error", error } };
}) as never as Entry[];
const newer = [{ ...promptAt(1), format: 2 } as never as Entry];
const refusal = {
  kind: "unavailable",
  message: /^entry 1 of the session has format 2, .*update the program$/,
};

const stores: Readonly<Record<string, () => SessionStore>> = {
  memoryStore,
  sqliteStore: () => sqliteStore({ path: freshPath() }),
};

for (const [name, make] of Object.entries(stores)) {
  test(`${name} gives back entries of an older format in the current one`, async () => {
    const store = make();
    await store.create(recordOf("a"));
    await store.append("a", old);
    assert.deepEqual(await collect(store, "a"), current);
    await store.close();
  });

  test(`${name} refuses to read an entry of a newer format, and says what to do`, async () => {
    const store = make();
    await store.create(recordOf("a"));
    await store.append("a", newer);
    await assert.rejects(collect(store, "a"), refusal);
    await store.close();
  });
}

inEveryVersion("an agent loads a session of an older format from any store", async (pair) => {
  const kept = memoryStore();
  await kept.create(recordOf("a"));
  // a store of somebody else, which knows nothing of formats
  const store: SessionStore = {
    ...kept,
    async *entries(_, fromSeq = 1) {
      yield* old.slice(fromSeq - 1);
    },
  };
  const { agent } = await conversation(pair, { prompt: () => undefined, session: { store } });
  const updates: SessionUpdate[] = [];
  await agent.loadSession("a", { ...place, onUpdate: (update) => void updates.push(update) });
  assert.equal(said(updates), "hello");
});

inEveryVersion("a client is told that a session has a newer format", async (pair) => {
  const kept = memoryStore();
  await kept.create(recordOf("a"));
  const store: SessionStore = {
    ...kept,
    async *entries() {
      yield* newer;
    },
  };
  const { agent } = await conversation(pair, { prompt: () => undefined, session: { store } });
  await assert.rejects(agent.loadSession("a", place), refusal);
});

test("a view takes entries of an older format, and refuses those of a newer one", () => {
  const view = viewFrom(old);
  assert.deepEqual(view.lastResult, { stopReason: "error", error: { ...error, kind: "rate_limited" } });
  assert.throws(() => viewFrom(newer), refusal);
});

test("an upgrade keeps fields that it does not know, and leaves a current entry as it is", () => {
  const later = { _later: [1] };
  assert.deepEqual(upgradeEntry({ seq: 1, time: 0, kind: "_own", ...later }), {
    format: 1,
    seq: 1,
    time: 0,
    kind: "_own",
    ...later,
  });
  const entry = promptAt(1);
  assert.equal(upgradeEntry(entry), entry);
  for (const wrong of [undefined, null, "text", []]) {
    assert.throws(() => upgradeEntry(wrong), {
      name: "TypeError",
      message: /^expected a stored entry, got /,
    });
  }
});
