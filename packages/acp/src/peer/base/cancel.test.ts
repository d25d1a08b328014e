import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  chunk,
  inEveryVersion,
  initialize,
  openSession,
  place,
  quiet,
  rejects,
  said,
  states,
  statuses,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import type { PermissionRequest, SessionUpdate } from "../../index.ts";
import { applyEntry, createView } from "../../view.ts";

inEveryVersion(
  "a prompt that is cancelled before the agent began never reaches its handler twice",
  async (pair) => {
    let turns = 0;
    const { session } = await openSession(pair, {
      prompt: (turn) => {
        turns++;
        turn.signal.throwIfAborted();
      },
    });
    const prompt = session.prompt("x");
    prompt.cancel();
    assert.equal((await prompt.result).stopReason, "cancelled");
    assert.equal((await session.prompt("y").result).stopReason, "end_turn");
    assert.ok(turns <= 2);
  },
);

inEveryVersion(
  "A47 A49 a cancel in the middle of a stream ends it as cancelled, after its last words",
  async (pair) => {
    const { session, updates } = await openSession(pair, {
      async prompt(turn) {
        turn.say("a");
        await aborted(turn.signal).catch(() => undefined);
        turn.say("b");
        return "end_turn" as const;
      },
    });
    const prompt = session.prompt("x");
    for await (const update of prompt) if (update.sessionUpdate === "agent_message_chunk") session.cancel();
    assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
    assert.equal(said(updates), "ab");
    assert.equal(states(updates).at(-1), "idle");
  },
);

inEveryVersion("a cancel in a tool ends the tool, and then the turn", async (pair) => {
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      await turn.tool({ title: "Long" }, (tool) => {
        tool.start();
        return aborted(turn.signal);
      });
    },
  });
  const prompt = session.prompt("x");
  for await (const update of prompt) {
    if (update.sessionUpdate === "tool_call_update" && update.status === "in_progress") prompt.cancel();
  }
  assert.equal((await prompt.result).stopReason, "cancelled");
  // shown as cancelled at once (C26), and then as the agent says
  const last = pair.version === 1 ? "failed" : "cancelled";
  assert.deepEqual(statuses(updates), ["pending", "in_progress", "cancelled", last]);
});

inEveryVersion("a tool is not begun in a turn that has been cancelled", async (pair) => {
  let ran = false;
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      await aborted(turn.signal).catch(() => undefined);
      await turn.tool({ title: "Late" }, () => {
        ran = true;
      });
    },
  });
  const prompt = session.prompt("x");
  await prompt.accepted;
  await quiet();
  session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  assert.equal(ran, false);
  assert.equal(statuses(updates).at(-1), pair.version === 1 ? "failed" : "cancelled");
});

inEveryVersion(
  "C24 A63 a cancel answers every open question: cancelled here, not allowed there",
  async (pair) => {
    const signals: AbortSignal[] = [];
    const answers: unknown[] = [];
    const { session } = await openSession(
      pair,
      {
        async prompt(turn) {
          answers.push(
            ...(await Promise.all([turn.requestPermission("one?"), turn.requestPermission("two?")])),
          );
          answers.push(await turn.requestPermission("late?"));
        },
      },
      {
        requestPermission: (_ask: PermissionRequest, { signal }) => {
          signals.push(signal);
          if (signals.length === 2) queueMicrotask(() => session.cancel());
          return new Promise(() => undefined);
        },
      },
    );
    assert.equal((await session.prompt("x").result).stopReason, "cancelled");
    assert.deepEqual(answers, [undefined, undefined, undefined]);
    assert.deepEqual(
      signals.map(({ aborted: is }) => is),
      [true, true],
    );
  },
);

test("C24 a question that comes after the cancel is answered cancelled, and nobody is asked", async () => {
  for (const version of [1, 2] as const) {
    let asked = 0;
    const { agent, peer } = await withScriptedAgent(
      version,
      {
        "session/prompt": () => (version === 1 ? new Promise(() => undefined) : { messageId: "m" }),
      },
      { requestPermission: () => void asked++ },
    );
    const session = await agent.newSession(place);
    const prompt = session.prompt("x");
    await prompt.accepted;
    await quiet();
    session.cancel();
    const options = [{ optionId: "a", name: "A", kind: "allow_once" }];
    const params =
      version === 1
        ? { sessionId: "s1", toolCall: { toolCallId: "t" }, options }
        : { sessionId: "s1", title: "T", options };
    const answer = await peer.connection.request("session/request_permission", params);
    assert.deepEqual(answer, { outcome: { outcome: "cancelled" } });
    assert.equal(asked, 0);
    await agent.close();
  }
});

test("A63 A64 an agent does not wait for a client that is silent about a cancelled question", async () => {
  for (const version of [1, 2] as const) {
    const { call, peer } = withScriptedClient(
      {
        async prompt(turn) {
          assert.equal(await turn.requestPermission("may I?"), undefined);
        },
      },
      { "session/request_permission": () => new Promise(() => undefined) },
    );
    await call("initialize", initialize(version));
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    const answer = call("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    peer.notify("session/cancel", { sessionId });
    if (version === 1) assert.deepEqual(await answer, { stopReason: "cancelled" });
    else {
      await answer;
      await quiet();
      assert.match(JSON.stringify(peer.got.at(-1)), /"stopReason":"cancelled"/);
    }
    assert.ok(peer.methods().includes("session/update") || version === 1);
  }
});

inEveryVersion("G5 a cancel takes the prompts that wait with it, each with one outcome", async (pair) => {
  const turns: string[] = [];
  const { session } = await openSession(pair, {
    prompt: (turn) => {
      turns.push(turn.text);
      return aborted(turn.signal);
    },
  });
  const prompts = ["1", "2", "3"].map((each) => session.prompt(each));
  await prompts[0]?.accepted;
  await quiet();
  session.cancel();
  const outcomes = await Promise.all(prompts.map(({ result: outcome }) => outcome));
  assert.deepEqual(
    outcomes.map(({ stopReason }) => stopReason),
    ["cancelled", "cancelled", "cancelled"],
  );
  assert.deepEqual(turns, ["1"]);
  await quiet();
  assert.deepEqual(turns, ["1"], "none of them begins later");
});

inEveryVersion("G5 a cancel takes the prompts that wait in an inbox with it", async (pair) => {
  const turns: string[] = [];
  const { session } = await openSession(pair, {
    concurrentPrompts: "inbox",
    prompt: (turn) => {
      turns.push(turn.text);
      return aborted(turn.signal);
    },
  });
  const prompts = ["1", "2"].map((each) => session.prompt(each));
  await quiet();
  session.cancel();
  const outcomes = await Promise.all(prompts.map(({ result: outcome }) => outcome));
  assert.deepEqual(
    outcomes.map(({ stopReason }) => stopReason),
    ["cancelled", "cancelled"],
  );
  assert.deepEqual(turns, ["1"]);
});

inEveryVersion("cancelling one prompt that waits leaves the others alone", async (pair) => {
  const gate = Promise.withResolvers<void>();
  const turns: string[] = [];
  const { session } = await openSession(pair, {
    async prompt(turn) {
      turns.push(turn.text);
      await gate.promise;
    },
  });
  const [one, two, three] = ["1", "2", "3"].map((each) => session.prompt(each));
  await one?.accepted;
  await quiet();
  two?.cancel();
  assert.equal((await two?.result)?.stopReason, "cancelled");
  gate.resolve();
  assert.equal((await one?.result)?.stopReason, "end_turn");
  assert.equal((await three?.result)?.stopReason, "end_turn");
  assert.deepEqual(turns, ["1", "3"]);
});

test("cancelling the prompt that runs leaves those that this side keeps waiting (v1)", async () => {
  const turns: string[] = [];
  const { session } = await openSession(
    { editions: ["v1"], version: 1 },
    {
      prompt: (turn) => {
        turns.push(turn.text);
        return turn.text === "1" ? aborted(turn.signal) : undefined;
      },
    },
  );
  const [one, two] = ["1", "2"].map((each) => session.prompt(each));
  await quiet();
  one?.cancel();
  assert.equal((await one?.result)?.stopReason, "cancelled");
  assert.equal((await two?.result)?.stopReason, "end_turn");
});

inEveryVersion(
  "N109 a cancel twice, or when nothing runs, or after the end, does nothing to the next turn",
  async (pair) => {
    const { session, updates } = await openSession(pair, {
      prompt: (turn) => (turn.text === "stop" ? aborted(turn.signal) : undefined),
    });
    session.cancel();
    assert.equal((await session.prompt("a").result).stopReason, "end_turn");
    const prompt = session.prompt("stop");
    await prompt.accepted;
    await quiet();
    session.cancel();
    session.cancel();
    assert.equal((await prompt.result).stopReason, "cancelled");
    session.cancel();
    prompt.cancel();
    assert.equal((await session.prompt("b").result).stopReason, "end_turn");
    assert.deepEqual(states(updates), ["running", "idle", "running", "idle", "running", "idle"]);
  },
);

inEveryVersion(
  "G5 an agent that answers end_turn or an error to a cancelled prompt is not believed",
  async (pair) => {
    const { version } = pair;
    let turn = 0;
    const { agent, peer } = await withScriptedAgent(version, {
      "session/prompt": (_params, request) => {
        if (version === 2) return { messageId: `m${++turn}` };
        return new Promise((resolve, reject) => {
          request.signal.addEventListener("abort", () => undefined);
          peerCancel = () => (++turn === 1 ? resolve({ stopReason: "end_turn" }) : reject(new Error("boom")));
        });
      },
      "session/cancel": () => {
        if (version === 1) return peerCancel();
        peer.update("s1", {
          sessionUpdate: "state_update",
          state: "idle",
          stopReason: turn === 1 ? "end_turn" : "error",
        });
      },
    });
    let peerCancel = () => undefined as unknown;
    const session = await agent.newSession(place);
    for (let i = 0; i < 2; i++) {
      const prompt = session.prompt("x");
      await prompt.accepted;
      await quiet();
      if (version === 2) peer.update("s1", { sessionUpdate: "state_update", state: "running" });
      await quiet();
      session.cancel();
      assert.equal((await prompt.result).stopReason, "cancelled");
    }
  },
);

test("C27 updates that come after the cancel are still shown", async () => {
  const done = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => done.promise });
  const session = await agent.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => void updates.push(update));
  const prompt = session.prompt("x");
  await quiet();
  session.cancel();
  peer.update("s1", chunk("late"));
  done.resolve({ stopReason: "cancelled" });
  await prompt.result;
  peer.update("s1", chunk(" later"));
  await quiet();
  assert.equal(said(updates), "late later");
});

test("C26 C27 open tool calls are shown as cancelled at once, others are left alone, and the agent has the last word", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {
      "session/prompt": () => (version === 1 ? new Promise(() => undefined) : { messageId: "m" }),
    });
    const session = await agent.newSession(place);
    const updates: SessionUpdate[] = [];
    session.onUpdate((update) => void updates.push(update));
    const view = createView();
    session.onEntry((entry) => applyEntry(view, entry));
    const tool = (toolCallId: string, status?: string, title?: string) =>
      peer.update("s1", {
        sessionUpdate: title === undefined || version === 2 ? "tool_call_update" : "tool_call",
        toolCallId,
        ...(status === undefined ? {} : { status }),
        ...(title === undefined ? {} : { title }),
      });
    tool("history", "in_progress", "of an earlier time");
    await quiet();
    if (version === 2) peer.update("s1", { sessionUpdate: "state_update", state: "idle" });
    await session.prompt("x").accepted;
    await quiet();
    if (version === 2)
      peer.update("s1", {
        sessionUpdate: "state_update",
        state: "running",
        background: [{ type: "tool_call", toolCallId: "background" }],
      });
    tool("announced", undefined, "no status yet");
    tool("running", "in_progress", "runs");
    tool("done", "completed", "is done");
    tool("done"); // a word after the end opens nothing
    if (version === 2) tool("background", "in_progress", "goes on");
    await quiet();
    updates.length = 0;
    session.cancel();
    const shown = (id: string) => view.toolCalls.get(id)?.status;
    const marked = updates.flatMap((u) => (u.sessionUpdate === "tool_call_update" ? [u.toolCallId] : []));
    const history = version === 1 ? ["history"] : [];
    assert.deepEqual(marked.toSorted(), ["announced", ...history, "running"]);
    assert.deepEqual(
      [shown("announced"), shown("running"), shown("done")],
      ["cancelled", "cancelled", "completed"],
    );
    if (version === 2) assert.equal(shown("background"), "in_progress");
    session.cancel();
    assert.equal(statuses(updates).length, marked.length, "once");
    tool("running", "completed");
    await quiet();
    assert.equal(shown("running"), "completed");
    await agent.close();
  }
});

test("a v2 prompt that the agent takes although it was withdrawn is cancelled as work", async () => {
  const answer = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(2, {
    "session/prompt": () => answer.promise,
    "session/cancel": () =>
      peer.update("s1", { sessionUpdate: "state_update", state: "idle", stopReason: "cancelled" }),
  });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  prompt.cancel();
  await quiet();
  answer.resolve({ messageId: "m" });
  assert.equal((await prompt.result).stopReason, "cancelled");
  assert.ok(peer.methods().includes("session/cancel"));
});

test("N108 N110 N112 N113 cancels of nothing are ignored; session/cancel with an id is -32601", async () => {
  for (const version of [1, 2] as const) {
    const { call, peer } = withScriptedClient({ prompt: () => undefined });
    await call("initialize", initialize(version));
    peer.notify("session/cancel", { sessionId: "nobody" });
    peer.notify("session/cancel", { sessionId: 7 });
    peer.notify("$/cancel_request", { requestId: 99 });
    peer.notify("$/cancel_request", { requestId: {} });
    await rejects(call("session/cancel", { sessionId: "nobody" }), -32601);
    peer.notify("session/prompt", { sessionId: "nobody", prompt: [text("x")] });
    await rejects(call("session/prompt", { sessionId: "nobody", prompt: [text("x")] }), -32002, {
      sessionId: "nobody",
    });
  }
});

test("X12 a prompt request that the client cancels is answered once: cancelled on v1, -32800 while it waits on v2", async () => {
  for (const version of [1, 2] as const) {
    const { call } = withScriptedClient({ prompt: (turn) => aborted(turn.signal) });
    await call("initialize", initialize(version));
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    const send = (signal?: AbortSignal) =>
      call("session/prompt", { sessionId, prompt: [text("x")] }, signal === undefined ? {} : { signal });
    const [first, second] = [new AbortController(), new AbortController()];
    const one = send(first.signal);
    const two = send(second.signal);
    await quiet();
    second.abort();
    if (version === 2) {
      await one;
      await rejects(two, -32800);
    } else {
      assert.deepEqual(await two, { stopReason: "cancelled" });
      first.abort();
      assert.deepEqual(await one, { stopReason: "cancelled" });
    }
  }
});
