// What an agent keeps with a session: the data of `session.open`, and the history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inEveryVersion, openSession, place } from "../../../test/support/peer-probe.ts";
import { type AgentSession, agent, client, type Entry, type OpenRequest } from "../../index.ts";
import { memoryStore, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

inEveryVersion("what open returns is the data of that session, until it is closed", async ({ editions }) => {
  const seen: unknown[] = [];
  const infos: OpenRequest[] = [];
  const [near, far] = memoryPair();
  agent({
    name: "a",
    version: "1",
    editions,
    session: {
      async open(session, info) {
        seen.push(session.data);
        infos.push(info);
        session.setConfigOptions([
          { configId: "on", name: "On", type: "boolean", category: "_mine", currentValue: false },
        ]);
        return { cwd: session.cwd, turns: 0, chosen: [] as string[] };
      },
      setConfigOption: ({ data }, configId) => void data.chosen.push(configId),
      close: ({ data }) => void seen.push(data),
    },
    prompt(turn) {
      turn.session.data.turns += 1;
    },
  }).connect(far);
  const connected = await client({ name: "c", version: "1", editions }).connect(near);
  const first = await connected.newSession({ cwd: "/one", _meta: { "example.com/a": 1 } });
  const second = await connected.newSession({ cwd: "/two" });
  await first.setConfigOption("on", true);
  for (const session of [first, first, second]) await session.prompt("x").result;
  await second.close();
  await first.close();
  assert.deepEqual(seen, [
    undefined,
    undefined,
    { cwd: "/two", turns: 1, chosen: [] },
    { cwd: "/one", turns: 2, chosen: ["on"] },
  ]);
  const told = infos.map(({ origin, _meta }) => ({ origin, _meta }));
  assert.deepEqual(told, [
    { origin: "new", _meta: { "example.com/a": 1 } },
    { origin: "new", _meta: undefined },
  ]);
  await connected.close();
});

async function all(session: AgentSession): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of session.history()) entries.push(entry);
  return entries;
}

/** One word for each entry. */
function words(entries: readonly Entry[]): string[] {
  return entries.map((entry) => {
    if (entry.kind !== "update") return entry.kind;
    const { update } = entry;
    if (update.sessionUpdate !== "agent_message_chunk") return String(update.sessionUpdate);
    return update.content.type === "text" ? update.content.text : update.content.type;
  });
}

inEveryVersion(
  "an agent reads its history in a turn: all that was said, stored or not, and nothing that comes later",
  async (pair) => {
    const histories: string[][] = [];
    const { session, agent: connected } = await openSession(pair, {
      async prompt(turn) {
        await turn.say("one, ");
        await turn.say("two");
        const reading = turn.session.history();
        await turn.tool({ title: "T" }, () => undefined);
        const read: Entry[] = [];
        for await (const entry of reading) read.push(entry);
        histories.push(words(read), words(await all(turn.session)));
        const seqs = read.map(({ seq }) => seq);
        assert.deepEqual(
          seqs,
          seqs.map((_, i) => i + 1),
        );
      },
    });
    await session.prompt("x").result;
    const first = ["prompt", "one, two"];
    const tool = Array(3).fill("tool_call_update");
    assert.deepEqual(histories, [first, [...first, ...tool]]);
    await session.prompt("y").result;
    const before = [...first, ...tool, "result"];
    assert.deepEqual(histories.slice(2), [
      [...before, ...first],
      [...before, ...first, ...tool],
    ]);
    const { sessionId } = session;
    await session.close();
    histories.length = 0;
    const again = await connected.loadSession(sessionId, place);
    await again.prompt("z").result;
    assert.equal(histories[0]?.length, 14, "also what an earlier activation said");
    await connected.close();
  },
);

test("a history that its store cannot write or read is an error that says so", async () => {
  for (const broken of ["append", "read"] as const) {
    let isBroken = false;
    const good = memoryStore();
    const fail = () => {
      throw new Error("no disk");
    };
    const store: SessionStore = {
      ...good,
      append: async (...given) => (isBroken && broken === "append" ? fail() : good.append(...given)),
      read: (...given) => (isBroken && broken === "read" ? fail() : good.read(...given)),
    };
    let error: unknown;
    const { session, agent: connected } = await openSession(
      { editions: ["v2"], version: 2 },
      {
        session: { store },
        async prompt(turn) {
          isBroken = true;
          await turn.say("not stored yet");
          error = await all(turn.session).catch((reason: unknown) => reason);
          isBroken = false;
        },
      },
    );
    await session.prompt("x").result;
    assert.match(String(error), /^RequestError: the session cannot be stored right now: try again$/);
    await connected.close();
  }
});
