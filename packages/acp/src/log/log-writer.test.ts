import assert from "node:assert/strict";
import { test } from "node:test";
import { storedEntries } from "../../test/support/stored-entries.ts";
import {
  currentHead,
  type EntryBody,
  LogWriter,
  type LogWriterOptions,
  memoryStore,
  parseEntry,
  type SessionStore,
  type StoredEntry,
} from "../store.ts";

const sessionId = "s";
const record = { sessionId, cwd: "/", additionalDirectories: [], createdAt: 0, updatedAt: 0, config: {} };
const text = (said: string, messageId = "m"): EntryBody => ({
  kind: "update",
  update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text: said } },
});
const prompt = (messageId: string): EntryBody => ({
  kind: "prompt",
  messageId,
  prompt: [{ type: "text", text: `say ${messageId}` }],
});
const result = (messageId: string): EntryBody => ({
  kind: "result",
  messageId,
  result: { stopReason: "end_turn" },
});
const ask: EntryBody = { kind: "ask", askId: "q", permission: { title: "Delete it?", options: [] } };

type Append = SessionStore["append"];

/** A writer over a store in memory whose appends can be watched, held and made to fail. */
async function writing(options: Partial<LogWriterOptions> = {}) {
  const memory = memoryStore();
  const appends: { readonly seqs: number[]; readonly isSynced: boolean }[] = [];
  let way: Append = memory.append;
  const store: SessionStore = {
    ...memory,
    append(claim, after, entries, given) {
      appends.push({ seqs: entries.map(({ seq }) => seq), isSynced: given?.isSynced === true });
      return way(claim, after, entries, given);
    },
  };
  const claim = await store.create(record);
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  const writer = new LogWriter(store, claim, { head: { lastSeq: 0 }, fail, ...options });
  return {
    store,
    claim,
    writer,
    appends,
    failures,
    /** What happens to appends from now on. */
    go(next: (append: Append) => Append) {
      way = next(memory.append);
    },
    async stored(): Promise<string[]> {
      const all: string[] = [];
      for await (const entry of storedEntries(memory, sessionId)) {
        assert.equal(entry.seq, all.length + 1);
        all.push(wordOf(entry));
      }
      return all;
    },
    head: async () => (await memory.get(sessionId))?.head,
  };
}

function wordOf(stored: StoredEntry): string {
  const entry = parseEntry(stored);
  if (entry.kind === "update" && entry.update.sessionUpdate === "agent_message_chunk")
    return "text" in entry.update.content ? String(entry.update.content.text) : "";
  return "messageId" in entry ? `${entry.kind} ${entry.messageId}` : entry.kind;
}

const failing = () => () => Promise.reject(new Error("no disk"));
/** The store stores the entries, but its answer is lost. */
const losing =
  (append: Append): Append =>
  async (...given) => {
    await append(...given);
    throw new Error("the connection was lost");
  };

test("entries are stored in order, and the text of a message is one entry", async () => {
  const { writer, stored, appends } = await writing();
  for (const body of [prompt("p"), text("Hel"), text("lo"), text("other", "n"), text("Again"), result("p")])
    writer.append(body);
  assert.equal(writer.lastSeq, 5);
  await writer.close();
  assert.deepEqual(await stored(), ["prompt p", "Hello", "other", "Again", "result p"]);
  assert.equal(appends.length, 1);
});

test("text is joined whatever characters it has, and however long it is", async () => {
  const { writer, stored } = await writing();
  const pieces = Array.from({ length: 1_000 }, (_, n) => `"${n}"\\ \u2028\n`);
  for (const piece of pieces) writer.append(text(piece));
  await writer.close();
  assert.deepEqual(await stored(), [pieces.join("")]);
});

test("entries are stored 250 ms after the first, and 512 at once without waiting", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { writer, appends } = await writing();
  writer.append(text("a"));
  t.mock.timers.tick(249);
  await settled();
  assert.equal(appends.length, 0);
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual(
    appends.map(({ seqs }) => seqs),
    [[1]],
  );
  for (let n = 0; n < 512; n++) writer.append(text("b", `m${n}`));
  await settled();
  assert.equal(appends.length, 1);
  writer.append(result("p"));
  await settled();
  assert.equal(appends[1]?.seqs.length, 513);
  await writer.close();
});

test("one write runs at a time, and entries that come meanwhile are written together afterwards", async () => {
  const { writer, appends, go, stored } = await writing();
  const gate = Promise.withResolvers<void>();
  go((append) => async (...given) => {
    await gate.promise;
    return append(...given);
  });
  writer.append(prompt("a"));
  const first = writer.flush();
  await settled();
  for (const id of ["b", "c", "d"]) {
    writer.append(prompt(id));
    void writer.flush();
  }
  await settled();
  assert.deepEqual(
    appends.map(({ seqs }) => seqs),
    [[1]],
  );
  gate.resolve();
  await first;
  await writer.flush();
  assert.deepEqual(
    appends.map(({ seqs }) => seqs),
    [[1], [2, 3, 4]],
  );
  assert.equal((await stored()).length, 4);
});

test("a write that failed is tried again unchanged, before later entries are written", async () => {
  const { writer, appends, go, stored } = await writing();
  go(failing);
  writer.append(prompt("a"));
  await assert.rejects(writer.flush(), /no disk/);
  writer.append(prompt("b"));
  go((append) => append);
  await writer.flush();
  assert.deepEqual(
    appends.map(({ seqs }) => seqs),
    [[1], [1], [2]],
  );
  assert.deepEqual(await stored(), ["prompt a", "prompt b"]);
});

test("no entry is stored twice if an answer of the store is lost", async () => {
  const { writer, go, stored, head } = await writing();
  go(losing);
  writer.append(prompt("a"));
  await assert.rejects(writer.flush(), /lost/);
  writer.append(text("hello"));
  go((append) => append);
  await writer.flush();
  assert.deepEqual(await stored(), ["prompt a", "hello"]);
  assert.equal((await head())?.state?.seq, 2);
});

test("a message that is taken back leaves no gap, and ends as cancelled if the store has it already", async () => {
  for (const way of [failing, losing]) {
    const { writer, go, stored, head } = await writing();
    go(way);
    writer.append(prompt("a"));
    await assert.rejects(writer.flush());
    writer.takeBack("a");
    writer.append(ask);
    go((append) => append);
    await writer.flush();
    await writer.flush();
    assert.deepEqual(
      (await stored()).toSorted(),
      way === failing ? ["ask"] : ["ask", "prompt a", "result a"],
    );
    const state = (await head())?.state;
    assert.deepEqual(state?.prompts, []);
    assert.deepEqual(state?.questions, [
      { askId: "q", title: "Delete it?", seq: (await stored()).indexOf("ask") + 1 },
    ]);
  }
});

test("a message that is taken back while its write is tried again ends as cancelled", async () => {
  const { writer, go, stored, head } = await writing();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  go((append) => async (...given) => {
    await first.promise;
    return append(...given);
  });
  writer.append(prompt("a"));
  const refused = assert.rejects(writer.flush({ isSynced: true }), /no disk/);
  await settled();
  writer.append(ask);
  const later = writer.flush();
  first.reject(new Error("no disk"));
  go((append) => async (...given) => {
    await second.promise;
    return append(...given);
  });
  await refused;
  await settled();
  writer.takeBack("a");
  second.resolve();
  await later;
  await writer.flush();
  assert.deepEqual(await stored(), ["prompt a", "ask", "result a"]);
  writer.append({ kind: "answer", askId: "q", permission: { outcome: "cancelled" } });
  writer.settle();
  await writer.close();
  const state = (await head())?.state;
  assert.deepEqual([state?.prompts, state?.settledSeq], [[], 4]);
});

test("a message that is taken back after the write that was tried again ends as cancelled, also when the writer closes", async () => {
  const { writer, go, stored } = await writing();
  go(losing);
  writer.append(prompt("a"));
  await assert.rejects(writer.flush());
  go((append) => append);
  await writer.flush();
  writer.takeBack("a");
  await writer.close();
  assert.deepEqual(await stored(), ["prompt a", "result a"]);
  assert.deepEqual(writer.state.prompts, []);
});

test("what is written together with a batch that failed is synced if that one was to be", async () => {
  const { writer, go, appends } = await writing();
  go(failing);
  writer.append(result("a"));
  writer.append(prompt("b"));
  await assert.rejects(writer.flush({ isSynced: true }));
  writer.takeBack("b");
  go((append) => append);
  await writer.flush();
  assert.deepEqual(appends.at(-1), { seqs: [1], isSynced: true });
  await writer.close();
});

test("the state of the session is stored with its entries", async () => {
  const { writer, head, store } = await writing();
  writer.append(prompt("p"));
  writer.append(ask);
  writer.append({ kind: "update", update: { sessionUpdate: "session_info_update", title: "A title" } });
  writer.settle();
  await writer.flush();
  const state = (await head())?.state;
  assert.deepEqual(state, {
    seq: 3,
    settledSeq: 0,
    prompts: [{ messageId: "p", text: "say p", seq: 1 }],
    questions: [{ askId: "q", title: "Delete it?", seq: 2 }],
    config: {},
    title: "A title",
  });
  writer.append({ kind: "answer", askId: "q", permission: { outcome: "cancelled" } });
  writer.append(result("p"));
  writer.settle();
  await writer.close();
  assert.deepEqual((await head())?.state, { ...state, seq: 5, settledSeq: 5, prompts: [], questions: [] });
  // numbers and state go on from there
  const claim = await store.claim(sessionId);
  const next = new LogWriter(store, claim, {
    head: await currentHead(store, sessionId),
    fail: () => assert.fail(),
  });
  next.append(prompt("q"));
  assert.deepEqual([next.lastSeq, next.state.title, next.state.prompts[0]?.seq], [6, "A title", 6]);
  await next.close();
});

test("entries that the stored state does not count are counted when the session is opened", async () => {
  const { writer, store } = await writing();
  writer.append(prompt("p"));
  await writer.close();
  const claim = await store.claim(sessionId);
  const title = JSON.stringify({ sessionUpdate: "session_info_update", title: "By an older version" });
  const old = { format: 1, time: 0, kind: "update" };
  await store.append(claim, 1, [
    { ...old, seq: 2, tag: "agent_message_chunk", text: "{}" },
    { ...old, seq: 3, tag: "session_info_update", text: title },
  ]);
  const { state } = await currentHead(store, sessionId);
  assert.deepEqual([state.seq, state.title, state.prompts.length], [3, "By an older version", 1]);
});

test("a synced flush syncs the entries before it, once", async () => {
  const { writer, appends } = await writing();
  writer.append(prompt("a"));
  await writer.flush();
  await writer.flush({ isSynced: true });
  await writer.flush({ isSynced: true });
  writer.append(prompt("b"));
  await writer.flush({ isSynced: true });
  await writer.flush({ isSynced: true });
  assert.deepEqual(appends, [
    { seqs: [1], isSynced: false },
    { seqs: [], isSynced: true },
    { seqs: [2], isSynced: true },
  ]);
});

test("nothing more is written to a session that somebody else has claimed, which is reported once", async () => {
  const { writer, store, stored, failures } = await writing();
  writer.append(prompt("a"));
  await writer.flush();
  await store.claim(sessionId, { takeOver: true });
  writer.append(text("lost"));
  await assert.rejects(writer.flush(), { kind: "conflict", data: { reason: "fenced" } });
  writer.append(text("lost too"));
  assert.throws(() => writer.checkRoom(), { kind: "conflict" });
  await assert.rejects(writer.flush(), { kind: "conflict" });
  await assert.rejects(writer.close(), { kind: "conflict" });
  assert.deepEqual(await stored(), ["prompt a"]);
  assert.equal(failures.length, 1);
});

test("ahead: a session that was deleted is not written again, which is reported once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { writer, store, claim, appends, failures } = await writing({ mode: "ahead" });
  await store.delete(sessionId, claim);
  writer.append(ask);
  await settled();
  for (let n = 0; n < 3; n++) {
    t.mock.timers.tick(1_000);
    await settled();
  }
  assert.deepEqual([appends.length, failures.length], [1, 1]);
  assert.throws(() => writer.checkRoom(), { kind: "session_not_found" });
  await assert.rejects(writer.flush(), { kind: "session_not_found" });
});

test("a writer is full while too much waits for the store, which is reported each time that it begins", async () => {
  let times = 0;
  const { writer, go } = await writing({ maxUnstored: 1_000, full: () => times++ });
  go(failing);
  for (let round = 1; round <= 2; round++) {
    writer.append(text("x".repeat(2_000)));
    writer.checkRoom();
    await assert.rejects(writer.flush());
    for (let n = 0; n < 3; n++) assert.throws(() => writer.checkRoom(), { kind: "unavailable" });
    assert.equal(times, round);
    go((append) => append);
    await writer.flush();
    writer.checkRoom();
    go(failing);
  }
});

test("the history includes entries that are not stored yet", async () => {
  const { writer } = await writing();
  writer.append(prompt("a"));
  writer.append(text("half"));
  const history = writer.history();
  writer.append(text(" more"));
  const kinds: string[] = [];
  for await (const { kind } of history) kinds.push(kind);
  assert.deepEqual(kinds, ["prompt", "update"]);
});

test("ahead: no entry is shown before it is stored, and entries that come during a write are written together afterwards", async () => {
  const shown: string[][] = [];
  const { writer, go, appends } = await writing({
    mode: "ahead",
    show: (entries) => void shown.push(entries.map(wordOf)),
  });
  let gate = Promise.withResolvers<void>();
  go((append) => async (...given) => {
    await gate.promise;
    return append(...given);
  });
  const next = async () => {
    const { resolve } = gate;
    gate = Promise.withResolvers();
    resolve();
    await settled();
  };
  writer.append(text("one "));
  writer.append(text("two "));
  await settled();
  assert.deepEqual([appends.length, shown], [1, []]);
  writer.append(text("three "));
  writer.append(text("four"));
  writer.append(ask);
  writer.append(text("five"));
  await settled();
  assert.equal(appends.length, 1);
  await next();
  assert.deepEqual(shown, [["one two "]]);
  await next();
  assert.deepEqual(shown, [["one two "], ["three four", "ask", "five"]]);
  await next();
  assert.deepEqual(
    appends.map(({ seqs }) => seqs),
    [[1], [2, 3, 4]],
  );
  gate.resolve();
  await writer.close();
});

test("ahead: a write that failed is tried again by itself, and shown once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const shown: string[] = [];
  const { writer, go, failures } = await writing({
    mode: "ahead",
    show: (entries) => void shown.push(...entries.map(wordOf)),
  });
  go(losing);
  writer.append(ask);
  await settled();
  assert.deepEqual([failures.length, shown], [1, []]);
  go((append) => append);
  t.mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(shown, ["ask"]);
  await writer.close();
});

/** Resolves when everything that needs no timer is done. */
async function settled(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
}
