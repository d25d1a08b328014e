// Tests that a choice that fails leaves the user where they were, with the reason first.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import type { Entry } from "@parley/acp";
import type { Conversation } from "@parley/client/conversation";
import { openHistory } from "@parley/client/history";
import { historyFile, SessionRecording } from "@parley/client/internal";
import { scripted } from "../../../../client/test/support/managed-probe.ts";
import {
  type Chat,
  chatHome,
  chatWith,
  farAgent,
  patience,
  saidIn,
} from "../../../test/support/chat-probe.ts";
import { launcher } from "../../../test/support/run-probe.ts";
import { historyPath } from "../../settings/data-folder.ts";

const text = (words: string) => ({ text: words });

async function asked({ until }: Chat, session: Conversation) {
  await until(() => session.questions.length > 0);
  const [question] = session.questions;
  return question ?? assert.fail("nothing is asked");
}

async function confirmed(chat: Chat, session: Conversation) {
  const question = await asked(chat, session);
  return question.kind === "confirm" ? question : assert.fail(`another question: ${question.kind}`);
}

test(
  "an agent that is unknown or not installed leaves the user in the session, with what was written",
  patience,
  async (t) => {
    const far = await farAgent(t, { otherwise: [{ say: "hello {{prompt}}" }] });
    const { cwd } = chatHome(t, { far });
    const chat = chatWith(t, { cwd, agent: "far" });
    const { conversation, session, until, notices } = chat;
    await until(() => session.phase === "ready");
    for (const [agent, reason] of [
      ["nosuch", /nosuch/],
      ["gemini", /gemini/],
    ] as const) {
      const chosen = conversation.open({ kind: "new", agent });
      chosen.send(text(`for ${agent}`));
      await until(() => chosen.phase === "closed");
      assert.equal(conversation.current, session);
      assert.deepEqual(conversation.sessions, [session]);
      await until(() => reason.test(notices()));
    }
    assert.equal(session.draft, "for nosuch\n\nfor gemini", "nothing waits in a session that does not exist");
    session.send(text("here"));
    assert.equal(await chat.answered(1), "hello here");
  },
);

test(
  "a session whose agent cannot be started is free for others, while the chat goes on",
  patience,
  async (t) => {
    const far = await farAgent(t, { otherwise: [{ say: "hello {{prompt}}" }] });
    const { cwd } = chatHome(t, { far, gone: { ...far, url: "ws://127.0.0.1:1/" } });
    const history = historyFile(openHistory({ path: historyPath() }));
    t.after(() => history.close());
    const failed = (error: unknown) => assert.fail(String(error));
    const recording = new SessionRecording(async () => history, { agent: { name: "gone" }, failed });
    recording.begin({ sessionId: "theirs", cwd });
    const prompt = [{ type: "text", text: "theirs" }] as const;
    recording.entry({ format: 1, seq: 1, time: 0, kind: "prompt", messageId: "m", prompt: [...prompt] });
    await recording.close();
    const id = recording.id ?? assert.fail("it has begun");
    const { conversation, session, until, notices } = chatWith(t, { cwd, agent: "far" });
    await until(() => session.phase === "ready");
    const chosen = conversation.open({ kind: "kept", id });
    await until(() => chosen.phase === "closed" || chosen.phase === "failed");
    await history.claim(id).catch((error: Error) => assert.fail(`${error.message} ${notices()}`));
    await history.release(id);
  },
);

/** A session that `parley run` uses until the agent goes on. */
async function inUse(t: TestContext) {
  const far = await farAgent(t, {
    unstable: ["fork"],
    turns: [{ when: "theirs", steps: [{ say: "begun" }, { wait: { gate: "go" } }] }],
    otherwise: [{ say: "hello {{prompt}}" }],
  });
  const { cwd } = chatHome(t, { far });
  const args = ["run", "--agent", "far", "--session", "same", "theirs"];
  const run = spawn(launcher, args, { cwd, stdio: "ignore" });
  const exited = once(run, "exit");
  t.after(async () => {
    run.kill("SIGKILL");
    await exited;
  });
  await far.agent.reached("go");
  const history = openHistory({ path: historyPath() });
  t.after(() => history.close());
  const [{ id } = assert.fail("it is not stored")] = await history.list();
  // its text is stored within 250 ms
  for (let stored = ""; !stored.includes("begun"); ) {
    const entries: Entry[] = [];
    for await (const entry of history.entries(id)) entries.push(entry);
    stored = JSON.stringify(entries);
    await new Promise(setImmediate);
  }
  return { far, cwd, id, pid: run.pid };
}

function isCopy(copy: Conversation, id: string): void {
  assert.equal(copy.title, "same (copy)");
  assert.notEqual(copy.historyId, id);
  assert.equal(saidIn(copy), "begun", "it has the conversation");
}

test("a session that another process uses is not shown; a copy of it is offered", patience, async (t) => {
  const { far, cwd, id, pid } = await inUse(t);
  const chat = chatWith(t, { cwd, agent: "far" });
  const { conversation, session, until } = chat;
  await until(() => session.phase === "ready");
  for (const isYes of [false, true]) {
    const chosen = conversation.open({ kind: "kept", id });
    const question = await confirmed(chat, session);
    assert.equal(conversation.current, session);
    await until(() => chosen.phase === "closed");
    assert.match(question.lines.join("\n"), new RegExp(`in use by process ${pid}`));
    assert.match(question.ask, /Open a copy/);
    question.answer(isYes);
    await chat.caughtUp();
  }
  await until(() => conversation.current !== session && conversation.current.phase === "ready");
  isCopy(conversation.current, id);
  far.agent.open("go");
});

test("a copy is offered when chat begins with a session that another process uses", patience, async (t) => {
  const { far, cwd, id } = await inUse(t);
  const chat = chatWith(t, { cwd, agent: "far", isContinued: true });
  const { conversation, session, until } = chat;
  session.draft = "go on";
  for (const isYes of [false, true]) {
    const question = await confirmed(chat, session);
    assert.equal(session.phase, "failed");
    assert.match(session.problem?.message ?? "", /same is in use by process/);
    assert.match(question.ask, /Open a copy/);
    question.answer(isYes);
    if (!isYes) await session.restart();
  }
  await until(() => conversation.current !== session && conversation.current.phase === "ready");
  isCopy(conversation.current, id);
  assert.equal(conversation.current.draft, "go on");
  await until(() => conversation.sessions.length === 1);
  assert.deepEqual(conversation.sessions, [conversation.current], "the one that was not opened is gone");
  far.agent.open("go");
});

test(
  "after a crash, every reopening that the agent refuses asks for a new session, with the crash first",
  patience,
  async (t) => {
    const refusals = [
      { code: -32603, message: "Internal error", data: { details: "no rollout found for thread id 7" } },
      { code: -32002, message: "Resource not found: /sessions/7" },
      { code: 1001, message: "OpenCode service failure" },
    ];
    for (const error of refusals) {
      const { cwd } = chatHome(t);
      const sessions = [{ sessionId: "old", cwd }];
      const replies = [
        { method: "session/resume", error },
        { method: "session/load", error },
      ];
      const { entry } = scripted(
        t,
        {
          stderr: "the disk is full\n",
          play: { sessions, otherwise: [{ crash: { exitCode: 7 } }] },
        } as never,
        { play: { wire: { replies }, otherwise: [{ say: "here" }] } },
      );
      const chat = chatWith(t, { cwd, command: [entry.command, ...entry.args], session: "old" });
      const { session, answered, until } = chat;
      session.send(text("work"));
      const first = await confirmed(chat, session);
      assert.match(first.lines[0] ?? "", /the agent ended: .*7/);
      assert.match(first.lines[1] ?? "", /the disk is full/);
      first.answer(false);
      await until(() => session.phase === "crashed" && session.turn === undefined);
      const restarted = session.restart();
      const again = await confirmed(chat, session);
      assert.match(again.ask, /Start a new one/);
      again.answer(true);
      await restarted;
      const [waiting] = session.queue;
      session.send((await session.unqueue(waiting?.id ?? "")) ?? text("lost"));
      assert.equal(await answered(2), "here");
    }
  },
);

test(
  "a login says why it is wanted; who does not log in is idle, and the prompt is kept",
  patience,
  async (t) => {
    const why = "Anthropic did not accept the API key (401: invalid x-api-key)";
    const far = await farAgent(t, {
      authMethods: [
        { methodId: "web", type: "agent", name: "Browser" },
        { methodId: "key", type: "agent", name: "Key" },
      ] as never,
      otherwise: [{ fail: { code: -32000, message: why } }],
    });
    const { cwd } = chatHome(t, { far });
    const chat = chatWith(t, { cwd, agent: "far" });
    const { session, until, notices } = chat;
    session.send(text("work"));
    const question = await asked(chat, session);
    assert.equal(question.kind, "login");
    await until(() => notices().includes(why));
    if (question.kind === "login") question.answer(undefined);
    await until(() => session.turn === undefined);
    assert.deepEqual([session.phase, session.problem], ["ready", undefined]);
    assert.deepEqual(
      session.queue.map((each) => each.text),
      ["work"],
    );
  },
);
