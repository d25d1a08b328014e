import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { olderFile } from "../../test/support/older-program.ts";
import { conversation, inEveryVersion, place } from "../../test/support/peer-probe.ts";
import { freshPath, withSqlite } from "../../test/support/store-probe.ts";
import type { Entry, SessionUpdate } from "../index.ts";
import { sqliteStore } from "../node.ts";
import {
  type EntryBody,
  memoryStore,
  parseEntry,
  type StoredEntry,
  serializeEntry,
  upgradeEntry,
} from "../store.ts";
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
const newer: StoredEntry = { ...promptAt(1), format: 2 };
const refusal = {
  kind: "unavailable",
  message: /^entry 1 of the session has format 2, .*update the program$/,
};

test("an entry is the same after it was stored and read", () => {
  for (const entry of current) assert.deepEqual(parseEntry(serializeEntry(entry)), entry);
});

test("the text of a stored update is the update, and of a stored prompt its other fields", () => {
  const [prompt, update] = current.map(serializeEntry);
  assert.deepEqual(prompt, {
    format: 1,
    seq: 1,
    time: 0,
    kind: "prompt",
    text: '{"messageId":"m1","prompt":[{"type":"text","text":"hi"}]}',
  });
  assert.deepEqual([update?.tag, JSON.parse(update?.text ?? "")], ["agent_message_chunk", chunk]);
});

test("a stored entry of a newer format, and one whose text is no object, are refused", () => {
  assert.throws(() => parseEntry(newer), refusal);
  for (const text of ["", "[", "7", "[]", "null"])
    assert.throws(() => parseEntry({ ...promptAt(1), text }), { name: "TypeError" }, text);
});

test("a file of the first version of the store is upgraded, and its entries are read", async () => {
  const path = freshPath();
  olderFile(path, 1_000);
  withSqlite(path, (db) => {
    const record = recordOf("a");
    db.prepare(
      `INSERT INTO session (id, cwd, updated_at, record, base_seq, last_seq, indexed_seq, open_seq)
         VALUES ('a', ?, ?, ?, 0, ?, 0, 0)`,
    ).run(record.cwd, record.updatedAt, JSON.stringify(record), old.length);
    // the whole entry is the body
    const insert = db.prepare(
      "INSERT INTO entry (session, seq, is_spoken, crc, blobs, body) VALUES (1, ?, 0, ?, NULL, ?)",
    );
    for (const entry of old) {
      const body = JSON.stringify(entry);
      insert.run(entry.seq, crc32(body), body);
    }
  });
  const upgraded = sqliteStore({ path });
  assert.deepEqual((await collect(upgraded, "a")).map(parseEntry), current);
  await upgraded.append(await upgraded.claim("a"), 3, [promptAt(4)]);
  assert.deepEqual(await collect(upgraded, "a", 4), [promptAt(4)]);
  assert.deepEqual(await upgraded.verify(), []);
  await upgraded.close();
});

inEveryVersion("a client is told that a session has a newer format", async (pair) => {
  const store = memoryStore();
  const claim = await store.create(recordOf("a"));
  await store.append(claim, 0, [newer]);
  await store.release(claim);
  const { agent } = await conversation(pair, { prompt: () => undefined, session: { store } });
  await assert.rejects(agent.loadSession("a", place), refusal);
});

test("a view takes entries of an older format, and refuses those of a newer one", () => {
  const view = viewFrom(old);
  assert.deepEqual(view.lastResult, { stopReason: "error", error: { ...error, kind: "rate_limited" } });
  assert.throws(() => viewFrom([{ ...current[0], format: 2 } as never as Entry]), refusal);
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
  const [entry] = current;
  assert.equal(upgradeEntry(entry), entry);
  for (const wrong of [undefined, null, "text", []]) {
    assert.throws(() => upgradeEntry(wrong), {
      name: "TypeError",
      message: /^expected a stored entry, got /,
    });
  }
});
