import assert from "node:assert/strict";
import { test } from "node:test";
import {
  failsWith,
  inEveryVersion,
  openSession,
  type Pair,
  place,
  quiet,
  said,
  text,
} from "../../../test/support/peer-probe.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import type { AgentSession, OutgoingUpdate, SessionUpdate, Turn } from "../../index.ts";
import { memoryStore, type SessionStore } from "../../store.ts";

/** A store whose `append` waits while its gate is closed, or fails while it is broken. */
function slowStore() {
  const good = memoryStore();
  let gate = Promise.withResolvers<void>();
  let isBroken = false;
  gate.resolve();
  const store: SessionStore = {
    ...good,
    async append(...given) {
      await gate.promise;
      if (isBroken) throw new Error("no disk");
      return good.append(...given);
    },
  };
  return {
    store,
    shut: () => {
      gate = Promise.withResolvers();
    },
    open: () => gate.resolve(),
    fail: (is: boolean) => {
      isBroken = is;
    },
  };
}

/** What a person sees, in order: messages as they begin and grow, tools by their status. */
function story(updates: readonly SessionUpdate[]): string[] {
  const lines: string[] = [];
  const last: Record<string, string> = {};
  for (const update of updates) {
    if (update.sessionUpdate === "user_message") lines.push(`user: ${JSON.stringify(update.content)}`);
    if (update.sessionUpdate === "tool_call_update" && update.status)
      lines.push(`tool ${update.toolCallId}: ${update.status}`);
    if (update.sessionUpdate === "agent_message") {
      lines.push(`agent: ${said([update])}`);
      last["message"] = update.messageId;
    }
    if (update.sessionUpdate !== "agent_message_chunk" && update.sessionUpdate !== "user_message_chunk")
      continue;
    const kind = update.sessionUpdate.split("_")[0] ?? "";
    if (kind === "user") lines.push(`user: ${JSON.stringify([update.content])}`);
    else if (last["message"] === update.messageId && lines.at(-1)?.startsWith("agent:"))
      lines.push(`${lines.pop()}${said([update])}`);
    else lines.push(`agent: ${said([update])}`);
    last["message"] = kind === "agent" ? update.messageId : "";
  }
  return lines;
}

const aside = (word: string, messageId = word): OutgoingUpdate => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: text(word),
});

async function replayOf(talk: Awaited<ReturnType<typeof openSession>>): Promise<string[]> {
  await talk.session.close();
  const updates: SessionUpdate[] = [];
  const again = await talk.agent.loadSession(talk.session.sessionId, place);
  again.onUpdate((update) => void updates.push(update));
  return story(updates);
}

inEveryVersion(
  "what is said while a prompt is being stored follows it, live and in a replay",
  async (pair) => {
    const { store, shut, open } = slowStore();
    let there: AgentSession | undefined;
    const talk = await openSession(pair, {
      session: {
        store,
        open: (session) => {
          there = session;
        },
      },
      prompt: (turn) => void turn.say("answer"),
    });
    shut();
    const prompt = talk.session.prompt("hello");
    await quiet();
    const sent = there?.update(aside("aside"));
    await quiet();
    open();
    await prompt.result;
    await sent;
    const live = story(talk.updates);
    assert.deepEqual(live, [`user: ${JSON.stringify([text("hello")])}`, "agent: aside", "agent: answer"]);
    assert.deepEqual(await replayOf(talk), live);
  },
);

test("what is said while a prompt that joins the turn is being stored follows it, live and in a replay (v2)", async () => {
  const { store, shut, open } = slowStore();
  const pair: Pair = { editions: ["v2"], version: 2 };
  const talk = await openSession(pair, {
    session: { store },
    concurrentPrompts: "inbox",
    async prompt(turn) {
      turn.say("one");
      for await (const _ of turn.inbox) {
        turn.say(" two");
        await turn.tool({ title: "T", toolCallId: "t" }, () => undefined);
        return;
      }
    },
  });
  const first = talk.session.prompt("1");
  await first.accepted;
  await quiet();
  shut();
  const second = talk.session.prompt("2");
  await quiet();
  assert.equal(said(talk.updates), "one", "nothing overtakes the message");
  open();
  await second.result;
  const live = story(talk.updates);
  assert.equal(live[2], `user: ${JSON.stringify([text("2")])}`);
  assert.equal(live[3], "agent:  two");
  assert.deepEqual(await replayOf(talk), live);
});

inEveryVersion("what is said while the end of a tool is being stored follows it", async (pair) => {
  const { store, shut, open } = slowStore();
  const talk = await openSession(pair, {
    session: { store },
    async prompt(turn) {
      const tool = (toolCallId: string) =>
        turn.tool({ title: toolCallId, toolCallId }, async (call) => {
          call.start();
          await quiet();
          if (toolCallId === "a") shut();
        });
      const both = [tool("a"), tool("b")];
      await quiet();
      await quiet();
      turn.say("meanwhile");
      await quiet();
      open();
      await Promise.all(both);
    },
  });
  await talk.session.prompt("go").result;
  const live = story(talk.updates);
  assert.ok(live.indexOf("tool a: completed") < live.indexOf("agent: meanwhile"), live.join("\n"));
  assert.deepEqual(await replayOf(talk), live);
});

inEveryVersion(
  "a session that is loaded while something waits for the store shows each word once",
  async (pair) => {
    const { store, shut, open } = slowStore();
    const gate = Promise.withResolvers<void>();
    const talk = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        turn.say("one ");
        const tool = turn.tool({ title: "T" }, () => shut());
        await quiet();
        turn.say("two ");
        await quiet();
        gate.resolve();
        await tool;
        turn.say("three");
      },
    });
    const prompt = talk.session.prompt("go");
    await gate.promise;
    talk.updates.length = 0;
    const loaded = talk.agent.loadSession(talk.session.sessionId, place);
    await quiet();
    open();
    await loaded;
    await prompt.result;
    assert.equal(said(talk.updates), "one two three");
  },
);

inEveryVersion(
  "an update that is not valid throws at once, also while history is being sent",
  async (pair) => {
    const { store, shut, open } = slowStore();
    let there: AgentSession | undefined;
    const talk = await openSession(pair, {
      session: {
        store,
        open: (session) => {
          there = session;
        },
      },
      prompt: () => undefined,
    });
    await talk.session.prompt("x").result;
    there?.update(aside("pending"));
    shut();
    const loaded = talk.agent.loadSession(talk.session.sessionId, place);
    await quiet();
    assert.throws(() => there?.update({ sessionUpdate: "usage_update", used: "x" } as never), TypeError);
    there?.update(aside("later"));
    open();
    await loaded;
    await quiet();
    assert.ok(said(talk.updates).endsWith("later"));
  },
);

inEveryVersion(
  "a message that a turn took and that could not be stored is refused, and has no outcome",
  async (pair) => {
    if (pair.version === 1) return;
    const { store, fail } = slowStore();
    const talk = await openSession(pair, {
      session: { store },
      concurrentPrompts: "inbox",
      async prompt(turn) {
        for await (const _ of turn.inbox) {
          await quiet();
          fail(false);
          turn.say("went on");
          return;
        }
      },
    });
    const first = talk.session.prompt("1");
    await first.accepted;
    fail(true);
    const second = talk.session.prompt("2");
    await failsWith(second.result, -32067);
    assert.equal((await first.result).stopReason, "end_turn");
    const kinds: string[] = [];
    for await (const entry of storedEntries(store, talk.session.sessionId)) kinds.push(entry.kind);
    assert.deepEqual(kinds, ["prompt", "update", "result"]);
  },
);

inEveryVersion("G8 an agent never acts on an answer that could not be stored", async (pair) => {
  const { store, fail } = slowStore();
  const asks: Record<string, (turn: Turn) => Promise<unknown>> = {
    permission: (turn) => turn.requestPermission("Delete it?"),
    form: (turn) =>
      turn.elicit({ mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } }),
  };
  let acted = 0;
  const talk = await openSession(
    pair,
    {
      session: { store },
      async prompt(turn) {
        const answered = asks[turn.text]?.(turn);
        await answered;
        acted++;
      },
    },
    {
      requestPermission() {
        fail(true);
        return "allow_once";
      },
      elicit() {
        fail(true);
        return { action: "accept", content: {} };
      },
    },
  );
  for (const ask of Object.keys(asks)) {
    await failsWith(talk.session.prompt(ask).result, -32067, { reason: "unavailable" });
    fail(false);
    assert.equal(acted, 0);
  }
});

inEveryVersion("an answer has been stored and synced when the agent gets it", async (pair) => {
  const memory = memoryStore();
  let synced = 0;
  const store: SessionStore = {
    ...memory,
    append: async (claim, after, entries, options) => {
      await memory.append(claim, after, entries, options);
      if (options?.isSynced && entries.some(({ kind }) => kind === "answer")) synced++;
    },
  };
  const counts: number[] = [];
  const { session } = await openSession(
    pair,
    {
      session: { store },
      async prompt(turn) {
        await turn.requestPermission("Delete it?");
        counts.push(synced);
        const requestedSchema = { type: "object", properties: {} } as const;
        await turn.elicit({ mode: "form", message: "?", requestedSchema });
        counts.push(synced);
      },
    },
    { requestPermission: () => "allow_once", elicit: () => ({ action: "decline" }) },
  );
  await session.prompt("x").result;
  assert.deepEqual(counts, [1, 2]);
});

const chatter = async (turn: Turn) => {
  for (let i = 0; i < 1_000; i++) {
    void turn.update(aside(`word ${i} `, `m${i}`));
    await quiet();
  }
};

inEveryVersion(
  "G8 a store that fails for long ends the turn with an error, and nothing grows",
  async (pair) => {
    const { store, fail } = slowStore();
    const talk = await openSession(pair, {
      session: { store, maxUnstored: 2_000 },
      async prompt(turn) {
        if (turn.text === "again") return;
        // its status ends although the store has failed and is full
        await turn.tool({ title: "T" }, () => {
          fail(true);
          // a first write that fails: from now on it is counted what waits
          return turn.tool({ title: "never begins" }, () => undefined).catch(() => chatter(turn));
        });
      },
    });
    await failsWith(talk.session.prompt("x").result, -32067, { reason: "unavailable" });
    const words = said(talk.updates).split("word").length - 1;
    assert.ok(words > 3 && words < 100, `${words} words`);
    const statuses = talk.updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" && update.status ? [update.status] : [],
    );
    assert.equal(statuses.at(-1), "failed");
    assert.equal(talk.log.filter((line) => line.includes("too far behind")).length, 1);
    await failsWith(talk.session.prompt("still broken").result, -32067);
    fail(false);
    assert.equal((await talk.session.prompt("again").result).stopReason, "end_turn");
    // what was shown is in the history, since nothing more was said than could be kept
    assert.deepEqual(
      (await replayOf(talk)).filter((line) => line.startsWith("agent:")),
      story(talk.updates).filter((line) => line.startsWith("agent:")),
    );
  },
);

inEveryVersion("G8 a store that hangs lets no more wait than it may", async (pair) => {
  const { store, shut, open } = slowStore();
  const talk = await openSession(pair, {
    session: { store, maxUnstored: 2_000 },
    async prompt(turn) {
      shut();
      const waits = turn.tool({ title: "waits for its start to be stored" }, () => undefined);
      await chatter(turn).finally(() => {
        open();
        return waits;
      });
    },
  });
  await failsWith(talk.session.prompt("x").result, -32067, { reason: "unavailable" });
});

test("a limit that is none is refused when the agent is made", async () => {
  const { agent } = await import("../../index.ts");
  for (const maxUnstored of [-1, Number.NaN, "x" as never])
    assert.throws(
      () => agent({ name: "a", version: "1", prompt: () => undefined, session: { maxUnstored } }),
      TypeError,
    );
});
