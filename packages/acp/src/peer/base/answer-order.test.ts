// What an agent writes, in the order in which it writes it: updates that belong before an answer are before it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  initialize,
  type Prompted,
  quiet,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { memoryStore, type SessionStore } from "../../store.ts";

type Json = Record<string, unknown>;

/** One session, and a line for each message that left the agent: answers by their method. */
async function written(version: 1 | 2, prompt: Prompted, store: SessionStore = memoryStore()) {
  const lines: string[] = [];
  const methods = new Map<unknown, string>();
  const { call, peer } = withScriptedClient({
    prompt,
    session: { store },
    connection: {
      tap(direction, line) {
        const { id, method, params } = JSON.parse(line) as { id?: unknown; method?: string; params?: Json };
        if (direction === "in") {
          if (id !== undefined && method !== undefined) methods.set(id, method);
        } else if (method === "session/update") lines.push(nameOf((params as { update: Json }).update));
        else if (method === undefined) lines.push(`answer to ${methods.get(id)}`);
      },
    },
  });
  await call("initialize", initialize(version));
  const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
  const { sessionId } = opened as { sessionId: string };
  lines.length = 0;
  return {
    lines,
    peer,
    ask: (method: string, params: object = {}) => call(method, { sessionId, ...params }),
    say: (words: string) => call("session/prompt", { sessionId, prompt: [text(words)] }),
    sessionId,
  };
}

function nameOf({ sessionUpdate, state, status, stopReason, content }: Json): string {
  const [block] = [content ?? {}].flat() as { text?: string }[];
  const words = sessionUpdate === "user_message" ? undefined : block?.text;
  return [sessionUpdate, state ?? status ?? words, stopReason].filter((part) => part !== undefined).join(" ");
}

const place = { cwd: "/project", mcpServers: [] };

test("A24 A25 version 1 answers a load behind the last word of the history", async () => {
  const { lines, ask, say } = await written(1, async (turn) => {
    await turn.tool({ title: "T" }, () => undefined);
    await turn.say("last");
  });
  await say("first");
  await quiet();
  lines.length = 0;
  await ask("session/load", place);
  await quiet();
  assert.deepEqual(lines, [
    "user_message_chunk first",
    "tool_call pending",
    "tool_call_update in_progress",
    "tool_call_update completed",
    "agent_message_chunk last",
    "answer to session/load",
  ]);
  lines.length = 0;
  await ask("session/resume", place);
  await quiet();
  assert.deepEqual(lines, ["answer to session/resume"], "A26");
});

test("A27 A28 A30 version 2 answers a resume behind the history, if it was asked for, and the state", async () => {
  const { lines, ask, say } = await written(2, (turn) => void turn.say("last"));
  await say("first");
  await quiet();
  for (const replayFrom of [undefined, null, { type: "start" }]) {
    lines.length = 0;
    await ask("session/resume", { ...place, replayFrom });
    await quiet();
    const history = replayFrom ? ["user_message", "agent_message last"] : [];
    assert.deepEqual(lines, [...history, "state_update idle", "answer to session/resume"]);
  }
});

test("A25 A28 A30 what happens while history is being sent follows the answer, and the state is the one of then", async () => {
  for (const version of [1, 2] as const) {
    const gate = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    const good = memoryStore();
    const store: SessionStore = {
      ...good,
      async *read(...given) {
        gate.resolve();
        await reading.promise;
        yield* good.read(...given);
      },
    };
    const words: Prompted = async (turn) => {
      await turn.say("before");
      await gate.promise;
      void turn.say(" after");
      reading.resolve();
    };
    const { lines, ask, say } = await written(version, words, store);
    const prompted = say("go");
    await quiet();
    lines.length = 0;
    const method = version === 1 ? "session/load" : "session/resume";
    const loaded = ask(method, { ...place, ...(version === 1 ? {} : { replayFrom: { type: "start" } }) });
    await loaded;
    await prompted;
    await quiet();
    assert.deepEqual(
      lines,
      version === 1
        ? [
            "user_message_chunk go",
            "agent_message_chunk before",
            "answer to session/load",
            "agent_message_chunk  after",
            "answer to session/prompt",
          ]
        : [
            "user_message",
            "agent_message before",
            "state_update running",
            "answer to session/resume",
            "agent_message_chunk  after",
            "state_update idle end_turn",
          ],
    );
  }
});

test("A33 A34 A35 A37 closing writes the last updates, the end of the work, the answers, and then nothing", async () => {
  for (const version of [1, 2] as const) {
    const { lines, ask, say } = await written(version, async (turn) => {
      await turn.tool({ title: "T" }, () => aborted(turn.signal)).catch(() => undefined);
      await turn.say("last");
    });
    const answers = [say("one"), say("two")].map((answer) => answer.catch(() => undefined));
    await quiet();
    lines.length = 0;
    await ask("session/close");
    await Promise.all(answers);
    await quiet();
    const cancelled = version === 1 ? "tool_call_update failed" : "tool_call_update cancelled";
    const last = [cancelled, "agent_message_chunk last"];
    assert.deepEqual(
      lines.filter((line) => !line.startsWith("answer to session/prompt")),
      [...last, ...(version === 2 ? ["state_update idle cancelled"] : []), "answer to session/close"],
    );
    const isPrompt = (line: string) => line === "answer to session/prompt";
    assert.equal(lines.filter(isPrompt).length, version === 1 ? 2 : 1);
    assert.ok(lines.findLastIndex(isPrompt) < lines.indexOf("answer to session/close"));
  }
});

test("A46 A49 version 1 answers a prompt behind its last update, also a cancelled one", async () => {
  for (const cancel of [false, true]) {
    const { lines, peer, say, sessionId } = await written(1, async (turn) => {
      void turn.tool({ title: "Left" }, () => new Promise(() => undefined));
      if (cancel) await aborted(turn.signal).catch(() => undefined);
      await turn.say("last");
    });
    const answer = say("x");
    await quiet();
    if (cancel) peer.notify("session/cancel", { sessionId });
    assert.deepEqual(await answer, { stopReason: cancel ? "cancelled" : "end_turn" });
    await quiet();
    assert.deepEqual(lines.slice(-3), [
      "agent_message_chunk last",
      "tool_call_update failed",
      "answer to session/prompt",
    ]);
  }
});

test("A70 a tool call is in progress while it runs, and pending while it waits for a yes", async () => {
  for (const version of [1, 2] as const) {
    const gate = Promise.withResolvers<void>();
    const { lines, say } = await written(version, (turn) => turn.tool({ title: "T" }, () => gate.promise));
    const answer = say("x");
    await quiet();
    assert.match(lines.at(-1) ?? "", /tool_call_update in_progress/);
    gate.resolve();
    await answer;
  }
  for (const [optionId, after] of [
    ["allow_once", ["in_progress", "completed"]],
    ["reject_once", ["failed"]],
  ] as const) {
    const statuses: unknown[] = [];
    const { call, peer } = withScriptedClient(
      {
        prompt: (turn) =>
          turn.tool({ title: "T" }, async (tool) => {
            if (!(await tool.requestPermission())) throw new Error("not allowed");
          }),
      },
      {
        "session/request_permission": () => {
          statuses.push("asked");
          return { outcome: { outcome: "selected", optionId } };
        },
        "session/update": ({ update }) => {
          const { status } = update as Json;
          if (status !== undefined) statuses.push(status);
        },
      },
    );
    await call("initialize", initialize(2));
    const { sessionId } = (await call("session/new", { cwd: "/project" })) as { sessionId: string };
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    assert.deepEqual(statuses, ["pending", "asked", ...after]);
    await peer.connection.close();
  }
});
