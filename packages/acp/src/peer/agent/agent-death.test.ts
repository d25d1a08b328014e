// Tests that a disconnect ends the agent's work once and leaves the store consistent.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  conversation,
  inEveryVersion,
  initialize,
  openSession,
  place,
  quiet,
  said,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import type { AgentSession, Entry, SessionUpdate } from "../../index.ts";
import { type EntryBody, memoryStore, parseEntry, type SessionStore, serializeEntry } from "../../store.ts";

async function entriesOf(store: SessionStore, sessionId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of storedEntries(store, sessionId)) entries.push(parseEntry(entry));
  return entries;
}

const ends = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.kind === "result" ? [entry.result.stopReason] : []));

inEveryVersion(
  "a turn whose client dies is cancelled once, and its history says so and goes on",
  async (pair) => {
    const store = memoryStore();
    let aborts = 0;
    let turns = 0;
    const { session, agent, served } = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        turns++;
        turn.signal.addEventListener("abort", () => aborts++);
        turn.say("half a ");
        await turn.tool({ title: "T" }, () => aborted(turn.signal));
      },
    });
    const prompts = [session.prompt("1"), session.prompt("2"), session.prompt("3")];
    for (const { result: outcome } of prompts) outcome.catch(() => undefined);
    for await (const update of prompts[0] ?? []) if (update.sessionUpdate === "tool_call_update") break;
    await agent.close();
    await served.closed;
    await quiet();
    assert.deepEqual([turns, aborts], [1, 1]);
    const entries = await entriesOf(store, session.sessionId);
    assert.deepEqual(ends(entries), ["cancelled"]);
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, i) => i + 1),
    );
    const tools = entries.flatMap((entry) =>
      entry.kind === "update" && entry.update.sessionUpdate === "tool_call_update"
        ? [entry.update.status]
        : [],
    );
    assert.equal(tools.at(-1), "cancelled");
    // another connection goes on where it was
    const later = await conversation(pair, { session: { store }, prompt: (turn) => void turn.say("whole") });
    const again = await later.agent.loadSession(session.sessionId, place);
    assert.equal((await again.prompt("more").result).stopReason, "end_turn");
    assert.deepEqual(ends(await entriesOf(store, session.sessionId)), ["cancelled", "end_turn"]);
  },
);

inEveryVersion(
  "what runs beside the conversation, and waits in line, ends with the connection",
  async (pair) => {
    const store = memoryStore();
    const seen: string[] = [];
    const { session, agent, served } = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        const background = turn.session.runInBackground({ title: "B" }, (tool) => aborted(tool.signal));
        background.catch(() => seen.push("background"));
        const work = turn.session.runTurn(() => void seen.push("never"));
        void work.then(({ stopReason }) => seen.push(`work ${stopReason}`));
        await aborted(turn.signal);
      },
    });
    const { result: outcome, accepted } = session.prompt("x");
    outcome.catch(() => undefined);
    await accepted;
    await quiet();
    await agent.close();
    await served.closed;
    assert.deepEqual(seen.toSorted(), ["background", "work cancelled"]);
    assert.deepEqual(ends(await entriesOf(store, session.sessionId)), ["cancelled"]);
  },
);

test("a session that was being opened when its client died can be had by the next one", async () => {
  for (const version of [1, 2] as const) {
    for (const method of ["session/new", "session/resume"]) {
      const store = memoryStore();
      const gate = Promise.withResolvers<void>();
      const closed: string[] = [];
      let there: AgentSession | undefined;
      const first = await openSession(
        { editions: [`v${version}`], version },
        { session: { store }, prompt: () => undefined },
      );
      await first.session.close();
      const { call, peer, served } = withScriptedClient({
        session: {
          store,
          open: async (session) => {
            there = session;
            await gate.promise;
          },
          close: (session) => void closed.push(session.sessionId),
        },
        prompt: () => undefined,
      });
      await call("initialize", initialize(version));
      const params = { cwd: "/project", mcpServers: [], sessionId: first.session.sessionId };
      call(method, params).catch(() => undefined);
      await quiet();
      await peer.connection.close();
      await quiet();
      gate.resolve();
      await served.closed;
      assert.deepEqual(closed, [there?.sessionId], `${method} in version ${version}`);
      const later = await conversation(
        { editions: [`v${version}`], version },
        { session: { store }, prompt: () => undefined },
      );
      assert.ok(await later.agent.loadSession(there?.sessionId ?? "", place));
    }
  }
});

test("an opening that never ends does not keep the turns of other sessions from ending", async () => {
  const never = Promise.withResolvers<void>();
  const { call, peer, served } = withScriptedClient({
    connection: { drainMs: 0 },
    prompt: (turn) => {
      turn.signal.addEventListener("abort", () => stopped.resolve());
      return aborted(turn.signal);
    },
    session: { open: (session) => (session.cwd === "/never" ? never.promise : undefined) },
  });
  const stopped = Promise.withResolvers<void>();
  await call("initialize", initialize(2));
  const { sessionId } = (await call("session/new", { cwd: "/project" })) as { sessionId: string };
  await call("session/prompt", { sessionId, prompt: [text("x")] });
  call("session/new", { cwd: "/never" }).catch(() => undefined);
  await quiet();
  void peer.connection.close();
  await stopped.promise;
  never.resolve();
  await served.closed;
});

inEveryVersion("a client that dies while history is being sent leaves nothing behind", async (pair) => {
  const good = memoryStore();
  const gate = Promise.withResolvers<void>();
  let isSlow = false;
  const store: SessionStore = {
    ...good,
    async *read(...given) {
      for await (const page of good.read(...given)) {
        if (isSlow && page.some(({ kind }) => kind === "result")) await gate.promise;
        yield page;
      }
    },
  };
  const talk = await openSession(pair, { session: { store }, prompt: (turn) => void turn.say("word") });
  await talk.session.prompt("x").result;
  isSlow = true;
  const loading = talk.agent.loadSession(talk.session.sessionId, place);
  loading.catch(() => undefined);
  await quiet();
  await talk.agent.close();
  gate.resolve();
  await talk.served.closed;
  isSlow = false;
  const later = await openSession(pair, { session: { store }, prompt: () => undefined });
  const again = await later.agent.loadSession(talk.session.sessionId, place);
  const updates: Parameters<typeof said>[0][number][] = [];
  again.onUpdate((update) => void updates.push(update));
  assert.equal(said(updates), "word");
});

inEveryVersion(
  "F1 F11 what a killed process left in the middle has ended when the session is loaded, once",
  async (pair) => {
    const store = memoryStore();
    const first = await openSession(pair, {
      session: { store },
      prompt: (turn) => turn.tool({ title: "Done" }, () => undefined),
    });
    const { sessionId } = first.session;
    await first.session.prompt("whole").result;
    await first.session.close();
    const before = await entriesOf(store, sessionId);
    // what a process writes before it is killed in the middle of a turn
    const bodies: EntryBody[] = [
      { kind: "prompt", messageId: "m", prompt: [text("half")] },
      {
        kind: "update",
        update: { sessionUpdate: "tool_call_update", toolCallId: "t", title: "T", status: "pending" },
      },
      { kind: "update", update: { sessionUpdate: "terminal_update", terminalId: "x", command: "sleep" } },
      { kind: "ask", askId: "q", permission: { title: "?", options: [] } },
    ];
    const claim = await store.claim(sessionId);
    await store.append(
      claim,
      before.length,
      bodies.map((body, i) => serializeEntry({ format: 1, seq: before.length + 1 + i, time: 1, ...body })),
    );
    await store.release(claim);
    for (let times = 0; times < 2; times++) {
      const { agent } = await conversation(pair, { session: { store }, prompt: () => undefined });
      const session = await agent.loadSession(sessionId, place);
      const updates: SessionUpdate[] = [];
      session.onUpdate((update) => void updates.push(update));
      const tool = updates.findLast((update) => "toolCallId" in update && update.toolCallId === "t");
      assert.equal((tool as { status?: string }).status, "failed");
      await session.close();
      await agent.close();
      const added = (await entriesOf(store, sessionId)).slice(before.length + bodies.length);
      assert.deepEqual(
        added.map((entry) => (entry.kind === "update" ? entry.update.sessionUpdate : entry.kind)),
        ["tool_call_update", "terminal_update", "answer", "result"],
      );
    }
  },
);

inEveryVersion(
  "a client that dies while history is being sent in the middle of a turn keeps nobody waiting",
  async (pair) => {
    const good = memoryStore();
    const gate = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    const store: SessionStore = {
      ...good,
      async *read(...given) {
        reading.resolve();
        await gate.promise;
        yield* good.read(...given);
      },
    };
    const talk = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        await aborted(turn.signal).catch(() => undefined);
        void turn.say("to nobody");
      },
    });
    const { result: outcome, accepted } = talk.session.prompt("x");
    outcome.catch(() => undefined);
    await accepted;
    await quiet();
    talk.agent.loadSession(talk.session.sessionId, place).catch(() => undefined);
    await reading.promise;
    await talk.agent.close();
    gate.resolve();
    await talk.served.closed;
    assert.deepEqual(ends(await entriesOf(good, talk.session.sessionId)), ["cancelled"]);
    assert.ok(!talk.log.some((line) => line.includes("goes on after")), talk.log.join());
  },
);

test("a handler that does not heed its signal is left behind: its session closes, whole, and goes on elsewhere", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const version of [1, 2] as const) {
    const pair = { editions: [`v${version}`], version } as const;
    const store = memoryStore();
    const never = Promise.withResolvers<void>();
    const { session, updates, agent } = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        if (turn.text === "again") return;
        await turn.tool({ title: "Deaf" }, () => never.promise).catch(() => undefined);
        await turn.say("too late");
      },
    });
    const { result: outcome } = session.prompt("x");
    await quiet();
    const closing = session.close();
    for (let waits = 0; waits < 4; waits++) {
      await quiet();
      t.mock.timers.tick(5_000);
    }
    await closing;
    assert.equal((await outcome).stopReason, "cancelled");
    const shown = updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" && update.status ? [update.status] : [],
    );
    assert.equal(shown.at(-1), version === 1 ? "failed" : "cancelled");
    const before = await entriesOf(store, session.sessionId);
    assert.deepEqual(ends(before), ["cancelled"]);
    const again = await agent.loadSession(session.sessionId, place);
    never.resolve();
    await quiet();
    t.mock.timers.tick(5_000);
    await quiet();
    assert.deepEqual(await entriesOf(store, session.sessionId), before, "nothing is written behind its back");
    assert.equal((await again.prompt("again").result).stopReason, "end_turn");
  }
});
