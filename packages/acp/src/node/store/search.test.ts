import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClaimedSessions, claimedSessions } from "../../../test/support/claimed-sessions.ts";
import { freshPath } from "../../../test/support/store-probe.ts";
import { serializeEntry } from "../../model/entry-format.ts";
import type { StoredEntry } from "../../model/store.ts";
import { promptAt, recordOf } from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";
import type { SqliteStore } from "./store-options.ts";

function chunkAt(seq: number, text: string, messageId = "answer"): StoredEntry {
  return serializeEntry({
    format: 1,
    seq,
    time: 1_000 + seq,
    kind: "update",
    update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
  });
}

async function withStore(
  body: (store: SqliteStore, sessions: ClaimedSessions) => Promise<void>,
): Promise<void> {
  const store = sqliteStore({ path: freshPath() });
  try {
    await body(store, claimedSessions(store));
  } finally {
    await store.close();
  }
}

async function found(store: SqliteStore, query: string, cwd?: string): Promise<string[]> {
  const hits = await store.search(query, cwd === undefined ? {} : { cwd });
  return hits.map(({ sessionId, seq }) => `${sessionId}:${seq}`).sort();
}

const patience = { timeout: 60_000 };

test("prompts and agent messages are found by their words, with the place and a snippet", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    const before = "one two three four five six seven eight nine ten eleven twelve ".repeat(3);
    await sessions.append("a", [
      promptAt(1, "Fix the parser"),
      promptAt(2, `${before}\n\tthe Lexer breaks ${before}`),
    ]);
    await sessions.create(recordOf("b"));
    await sessions.append("b", [chunkAt(1, "The parser is fixed.")]);
    assert.deepEqual(await found(store, "parser", "/project/x/.."), ["a:1", "b:1"]);
    assert.deepEqual(await found(store, "parser"), ["a:1", "b:1"]);
    assert.deepEqual(await found(store, "FIXED parser"), ["b:1"]);
    const [hit] = await store.search("lexer");
    assert.equal(hit?.sessionId, "a");
    assert.match(hit?.snippet ?? "", /^….*twelve the Lexer breaks one.*…$/);
    assert.deepEqual(await found(store, "nothing"), []);
  }),
);

test("a message that came in chunks is found by words that chunks broke, also while it grows", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    await sessions.append("a", [
      promptAt(1, "hello"),
      chunkAt(2, "The refac"),
      chunkAt(3, "toring of the mod"),
    ]);
    assert.deepEqual(await found(store, "refactoring"), ["a:2"]);
    const thought = serializeEntry({
      format: 1,
      seq: 4,
      time: 1,
      kind: "update",
      update: {
        sessionUpdate: "agent_thought_chunk",
        messageId: "t",
        content: { type: "text", text: "secretly" },
      },
    });
    await sessions.append("a", [thought, chunkAt(5, "ule is done"), chunkAt(6, "Another message", "second")]);
    assert.deepEqual(await found(store, "refactoring module done"), ["a:2"]);
    assert.deepEqual(await found(store, "another"), ["a:6"]);
    assert.deepEqual(await found(store, "done another"), []);
    assert.deepEqual(await found(store, "secretly"), [], "thoughts are not searched");
    assert.deepEqual((await store.search("mod")).length, 1, "the old state of the message has gone");
  }),
);

test("a message of thousands of chunks is indexed to its end", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    const chunks = Array.from({ length: 3_000 }, (_, n) => chunkAt(n + 1, `w${n} `));
    await sessions.append("a", chunks);
    assert.deepEqual(await found(store, "w2999"), ["a:1"]);
    assert.deepEqual(await found(store, "w0 w1500 w2999"), ["a:1"]);
  }),
);

test("accents and case do not matter, the last word may be a beginning, quotes mean a phrase", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    await sessions.append("a", [promptAt(1, "Ein schönes Café"), promptAt(2, "cafe is not schoen")]);
    assert.deepEqual(await found(store, "cafe"), ["a:1", "a:2"]);
    assert.deepEqual(await found(store, "SCHÖN"), ["a:1"]);
    assert.deepEqual(await found(store, '"is not"'), ["a:2"]);
    assert.deepEqual(await found(store, '"not is"'), []);
    assert.deepEqual(await found(store, '"schö"'), [], "a phrase is made of whole words");
  }),
);

test("a query is words, never a language: signs and operators do no harm", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    await sessions.append("a", [promptAt(1, "call foo_bar(x) AND NEAR text:y in src/a-b.ts")]);
    for (const query of [
      "foo_bar(",
      "AND",
      "NEAR(text",
      "text:y",
      "src/a-b.ts",
      '"foo_bar',
      "a-b*",
      "-call",
      "^call",
    ]) {
      assert.deepEqual(await found(store, query), ["a:1"], query);
    }
    for (const query of ["", " ", '"', '""', "*", "()", "-", "\u0000", "NOT"]) {
      assert.deepEqual(await found(store, query), [], JSON.stringify(query));
    }
  }),
);

test("a search can be limited to a working directory and a number", patience, () =>
  withStore(async (store, sessions) => {
    for (const n of [1, 2, 3, 4]) {
      await sessions.create(recordOf(`s${n}`, { cwd: n % 2 === 0 ? "/even" : "/odd" }));
      await sessions.append(`s${n}`, [promptAt(1, "needle")]);
    }
    assert.deepEqual(await found(store, "needle", "/even"), ["s2:1", "s4:1"]);
    assert.equal((await store.search("needle", { limit: 3 })).length, 3);
  }),
);

test("a fork is found by what its source said before it, also when the source is deleted", patience, () =>
  withStore(async (store, sessions) => {
    await sessions.create(recordOf("a"));
    await sessions.append("a", [promptAt(1, "shared words")]);
    await sessions.fork("a", recordOf("b", { cwd: "/other" }));
    await sessions.append("a", [promptAt(2, "only source")]);
    await sessions.append("b", [promptAt(2, "only fork")]);
    assert.deepEqual(await found(store, "shared"), ["a:1", "b:1"]);
    assert.deepEqual(await found(store, "shared", "/other"), ["b:1"]);
    assert.deepEqual(await found(store, "only"), ["a:2", "b:2"]);
    await sessions.delete("a");
    assert.deepEqual(await found(store, "shared"), ["b:1"]);
    assert.deepEqual(await found(store, "only"), ["b:2"]);
    await sessions.delete("b");
    assert.deepEqual(await found(store, "shared"), []);
  }),
);

test("the index stays sound while messages grow, sessions go and others search", patience, () =>
  withStore(async (store, sessions) => {
    const text = (n: number): string => `word${n % 97} other${n % 7} fox ${"the lazy dog ".repeat(10)}`;
    for (const id of ["a", "b"]) {
      await sessions.create(recordOf(id));
      for (let seq = 1; seq <= 2_000; seq += 50) {
        const chunks = Array.from({ length: 50 }, (_, n) =>
          chunkAt(seq + n, text(seq + n), `m${(seq + n) >> 7}`),
        );
        await sessions.append(id, chunks);
        if (seq % 3 === 0) await store.search("fox");
      }
    }
    await sessions.fork("b", recordOf("c"));
    await sessions.append("b", [chunkAt(2_001, " unforked", `m${2_000 >> 7}`)]);
    assert.deepEqual(await found(store, "unforked"), ["b:2001"]);
    await Promise.all([store.search("fox"), sessions.delete("b"), store.search("fox"), sessions.delete("a")]);
    assert.deepEqual(await found(store, "unforked"), []);
    const hits = await store.search("fox", { limit: 1_000 });
    assert.deepEqual([hits.length, new Set(hits.map(({ sessionId }) => sessionId)).size], [16, 1]);
    assert.deepEqual(await store.verify(), []);
  }),
);
