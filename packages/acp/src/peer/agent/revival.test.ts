// Resuming a stored session: what a killed process left open is ended, without reading the whole history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { conversation, inEveryVersion, type Pair, place, quiet } from "../../../test/support/peer-probe.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import type { Entry, Turn } from "../../index.ts";
import { emptyHead, memoryStore, parseEntry, type SessionStore, serializeEntry } from "../../store.ts";

const pair: Pair = { editions: ["v2"], version: 2 };

/** Every kind of thing that begins and ends, and a word about a tool call that has ended. */
const definition = {
  async prompt(turn: Turn) {
    await turn.say("a");
    await turn.tool({ title: "T", toolCallId: turn.text }, async (tool) => {
      const terminal = tool.terminal({ command: "ls" });
      await terminal.write("x");
      terminal.exit({ exitCode: 0 });
      await tool.requestPermission();
    });
    const compaction = { sessionUpdate: "compaction_update", compactionId: turn.messageId } as const;
    await turn.update({ ...compaction, status: "in_progress" });
    await turn.update({ ...compaction, status: "completed" });
    await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "first", rawOutput: "late" });
  },
};

async function entriesOf(store: SessionStore, sessionId: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entry of storedEntries(store, sessionId)) all.push(parseEntry(entry));
  return all;
}

/** A session of several turns, as its store has it. */
async function stored(...prompts: string[]) {
  const store = memoryStore();
  const { agent } = await conversation(
    pair,
    { ...definition, session: { store } },
    { requestPermission: (ask) => ask.options[0]?.optionId },
  );
  const session = await agent.newSession(place);
  const settled: (number | undefined)[] = [];
  for (const prompt of prompts) {
    await session.prompt(prompt).result;
    await quiet();
    settled.push((await store.get(session.sessionId))?.head.state?.settledSeq);
  }
  await agent.close();
  await quiet();
  const { sessionId } = session;
  const record = await store.get(sessionId);
  assert.ok(record !== undefined);
  return { store, sessionId, record, entries: await entriesOf(store, sessionId), settled };
}

/** The same session with its history cut off, opened again by another process. */
async function revived(
  { record: { head, ...record }, entries }: Awaited<ReturnType<typeof stored>>,
  end: number,
  settledSeq: number | undefined,
): Promise<{ ends: object[]; read: number[] }> {
  const store = memoryStore();
  const claim = await store.create(record);
  const state =
    settledSeq === undefined ? undefined : { ...emptyHead, ...head.state, seq: settledSeq, settledSeq };
  await store.append(claim, 0, entries.slice(0, end).map(serializeEntry), { state });
  await store.release(claim);
  const read: number[] = [];
  const counting: SessionStore = {
    ...store,
    async *read(...given) {
      for await (const page of store.read(...given)) {
        read.push(...page.map(({ seq }) => seq));
        yield page;
      }
    },
  };
  const { agent } = await conversation(pair, { ...definition, session: { store: counting } });
  await agent.resumeSession(record.sessionId, place);
  await agent.close();
  await quiet();
  const all = await entriesOf(store, record.sessionId);
  assert.deepEqual(
    all.map(({ seq }) => seq),
    all.map((_, i) => i + 1),
  );
  return { ends: all.slice(end).map(({ format: _format, time: _time, seq: _seq, ...body }) => body), read };
}

test("a session whose process was not killed is gone on with without reading its history", async () => {
  const session = await stored("first", "second", "third");
  const { length } = session.entries;
  assert.equal(session.record.head.state?.settledSeq, length);
  const { ends, read } = await revived(session, length, session.record.head.state?.settledSeq);
  assert.deepEqual(ends, []);
  assert.deepEqual(read, []);
});

test("F1 F11 wherever a process was killed, what it left open ends the same, however little is read", async () => {
  const session = await stored("first", "second");
  const [settledSeq = 0] = session.settled;
  assert.ok(settledSeq > 5);
  let endings = 0;
  for (let end = settledSeq; end <= session.entries.length; end++) {
    const whole = await revived(session, end, undefined);
    const tail = await revived(session, end, settledSeq);
    assert.deepEqual(tail.ends, whole.ends, `cut off after ${end}`);
    assert.equal(tail.read[0], end > settledSeq ? settledSeq + 1 : undefined);
    endings += tail.ends.length;
  }
  assert.ok(endings > 10, `${endings} ends`);
});

test("a store that has less than its record says is read from the beginning", async () => {
  const session = await stored("first", "second");
  const { read, ends } = await revived(session, 2, session.record.head.state?.settledSeq);
  assert.deepEqual(read, [1, 2]);
  assert.ok(ends.length > 0);
});

inEveryVersion("work beside the conversation is not settled before it has ended", async (versions) => {
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  const { agent } = await conversation(versions, {
    session: { store },
    prompt(turn) {
      if (turn.text === "begin") void turn.session.runInBackground({ title: "B" }, () => gate.promise);
    },
  });
  const session = await agent.newSession(place);
  const settledSeq = async () => (await store.get(session.sessionId))?.head.state?.settledSeq;
  await session.prompt("begin").result;
  await quiet();
  assert.equal(await settledSeq(), 0);
  gate.resolve();
  await quiet();
  await session.prompt("end").result;
  await quiet();
  assert.equal(await settledSeq(), (await entriesOf(store, session.sessionId)).length);
});
