import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  inEveryVersion,
  initialize,
  openSession,
  type Prompted,
  place,
  quiet,
  rejects,
  states,
  statuses,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import type { AgentSession, DisplayTerminal, SessionUpdate, Turn } from "../../index.ts";

const v2 = { editions: ["v2"], version: 2 } as const;

/** A version 2 client by hand, with one session. */
async function byHand(definition: { prompt: Prompted; [more: string]: unknown }) {
  const talk = withScriptedClient(definition);
  await talk.call("initialize", initialize(2));
  const { sessionId } = (await talk.call("session/new", { cwd: "/project" })) as { sessionId: string };
  const prompt = (words: string) => talk.call("session/prompt", { sessionId, prompt: [text(words)] });
  const updates = () =>
    talk.peer.got.flatMap(({ method, params }) =>
      method === "session/update" ? [params["update"] as SessionUpdate & Record<string, unknown>] : [],
    );
  const tools = () => updates().filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
  return { ...talk, sessionId, prompt, updates, tools };
}

test("A108 A109 tool_call/cancel aborts that call, is answered at once and confirmed by its last update", async () => {
  const seen: unknown[] = [];
  const { call, sessionId, prompt, tools, updates } = await byHand({
    async prompt(turn) {
      await turn
        .tool({ title: "Long", toolCallId: "t", cancellable: true }, (tool) => aborted(tool.signal))
        .catch((error: { code: number }) => seen.push(error.code, turn.signal.aborted));
      await turn.say("and on");
    },
  });
  await prompt("go");
  await quiet();
  assert.deepEqual(tools()[0]?.["capabilities"], { cancel: {} });
  assert.deepEqual(await call("tool_call/cancel", { sessionId, toolCallId: "t" }), {});
  await quiet();
  const { status, capabilities } = tools().at(-1) as { status?: string; capabilities?: unknown };
  assert.deepEqual([status, capabilities], ["cancelled", null]);
  assert.deepEqual(seen, [-32800, false], "the turn goes on");
  assert.ok(JSON.stringify(updates()).includes("and on"));
  assert.equal((updates().at(-1) as { stopReason?: string }).stopReason, "end_turn");
  await rejects(call("tool_call/cancel", { sessionId, toolCallId: "t" }), -32602, { path: "/toolCallId" });
});

test("A108 what is unknown, over or not cancellable is -32602, and goes on", async () => {
  const gate = Promise.withResolvers<void>();
  const { call, sessionId, prompt, tools } = await byHand({
    prompt: (turn) => turn.tool({ title: "Plain", toolCallId: "t" }, () => gate.promise),
  });
  await prompt("go");
  await quiet();
  await rejects(call("tool_call/cancel", { sessionId, toolCallId: "t" }), -32602);
  await rejects(call("tool_call/cancel", { sessionId, toolCallId: "nothing" }), -32602);
  await rejects(call("terminal/cancel", { sessionId, terminalId: "nothing" }), -32602, {
    path: "/terminalId",
  });
  await rejects(call("tool_call/cancel", { sessionId: "nobody", toolCallId: "t" }), -32002);
  gate.resolve();
  await quiet();
  assert.equal((tools().at(-1) as { status?: string }).status, "completed");
});

test("A108 A109 terminal/cancel reaches the owner of the process, and its exit takes the capability back", async () => {
  let terminal: DisplayTerminal | undefined;
  const { call, sessionId, prompt, updates } = await byHand({
    async prompt(turn) {
      const ended = Promise.withResolvers<void>();
      terminal = turn.terminal({ command: "sleep 9", onCancel: () => ended.resolve() });
      await ended.promise;
      terminal.exit({ signal: "SIGTERM" });
    },
  });
  await prompt("go");
  await quiet();
  const terminalId = terminal?.terminalId ?? "";
  const shown = () => updates().filter(({ sessionUpdate }) => sessionUpdate === "terminal_update");
  assert.deepEqual(shown()[0]?.["capabilities"], { cancel: {} });
  assert.deepEqual([shown()[0]?.["command"], shown()[0]?.["cwd"]], ["sleep 9", "/project"], "A107");
  assert.deepEqual(await call("terminal/cancel", { sessionId, terminalId }), {});
  await quiet();
  assert.deepEqual(shown().at(-1)?.["exitStatus"], { signal: "SIGTERM" });
  assert.equal(shown().at(-1)?.["capabilities"], null);
  await rejects(call("terminal/cancel", { sessionId, terminalId }), -32602);
});

test("A108 a cancel of one call withdraws its question, and the call does not run", async () => {
  const withdrawn: boolean[] = [];
  const seen: unknown[] = [];
  const talk = withScriptedClient(
    {
      async prompt(turn) {
        const start = { title: "T", toolCallId: "t", cancellable: true, permission: true } as const;
        await turn
          .tool(start, () => seen.push("ran"))
          .catch((error: { code: number }) => seen.push(error.code, turn.signal.aborted));
      },
    },
    {
      "session/request_permission"(_params, request) {
        request.signal.addEventListener("abort", () => withdrawn.push(true));
        return new Promise(() => undefined);
      },
    },
  );
  await talk.call("initialize", initialize(2));
  const { sessionId } = (await talk.call("session/new", { cwd: "/project" })) as { sessionId: string };
  await talk.call("session/prompt", { sessionId, prompt: [text("go")] });
  await quiet();
  await talk.call("tool_call/cancel", { sessionId, toolCallId: "t" });
  await quiet();
  await quiet();
  assert.deepEqual([withdrawn, seen], [[true], [-32800, false]]);
  const updates = talk.peer.got.map(({ params }) => params["update"] as Record<string, unknown> | undefined);
  assert.equal(updates.findLast((update) => update?.["status"] !== undefined)?.["status"], "cancelled");
});

test("A108 a call that is part of another names it, and a cancel of that one ends both", async () => {
  const seen: unknown[] = [];
  const { call, sessionId, prompt, tools } = await byHand({
    prompt: (turn) =>
      turn
        .tool({ title: "Research", toolCallId: "outer", cancellable: true }, (parent) =>
          turn.tool(
            { title: "Read", toolCallId: "inner", cancellable: true, parent, _meta: { own: 1 } },
            (tool) => aborted(tool.signal),
          ),
        )
        .then(
          () => undefined,
          (error: { code: number }) => void seen.push(error.code, turn.signal.aborted),
        ),
  });
  await prompt("go");
  await quiet();
  const inner = tools().find(({ toolCallId }) => toolCallId === "inner");
  assert.deepEqual(inner?._meta, { own: 1, claudeCode: { parentToolUseId: "outer" } });
  await call("tool_call/cancel", { sessionId, toolCallId: "outer" });
  await quiet();
  const ends = tools().filter(({ status }) => status === "cancelled");
  assert.deepEqual(
    ends.map(({ toolCallId }) => toolCallId),
    ["inner", "outer"],
  );
  assert.deepEqual(seen, [-32800, false]);
});

test("A108 calls and terminals that an agent reported by updates of its own cannot be cancelled", async () => {
  const gate = Promise.withResolvers<void>();
  const cancel = { capabilities: { cancel: {} } };
  const { call, sessionId, prompt } = await byHand({
    async prompt(turn: Turn) {
      await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "t", title: "T", ...cancel });
      await turn.update({ sessionUpdate: "terminal_update", terminalId: "x", ...cancel });
      await gate.promise;
    },
  });
  await prompt("go");
  await quiet();
  await rejects(call("tool_call/cancel", { sessionId, toolCallId: "t" }), -32602);
  await rejects(call("terminal/cancel", { sessionId, terminalId: "x" }), -32602);
  gate.resolve();
});

inEveryVersion(
  "a version 1 client never sees what it could cancel, and the tool runs all the same",
  async (pair) => {
    if (pair.version !== 1) return;
    const { session, updates } = await openSession(pair, {
      async prompt(turn) {
        await turn.tool({ title: "T", cancellable: true }, (tool) => void tool.signal.throwIfAborted());
        turn.terminal({ command: "c", onCancel: () => undefined }).exit({ exitCode: 0 });
      },
    });
    assert.equal((await session.prompt("x").result).stopReason, "end_turn");
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed"]);
    assert.ok(!JSON.stringify(updates).includes("capabilities"));
  },
);

inEveryVersion("A66 work beside the conversation outlives its turn, and its status ends", async (pair) => {
  const gate = Promise.withResolvers<string>();
  let running: Promise<string> | undefined;
  const { session, updates } = await openSession(pair, {
    prompt(turn) {
      running ??= turn.session.runInBackground({ title: "Server", toolCallId: "b" }, () => gate.promise);
    },
  });
  assert.equal((await session.prompt("start").result).stopReason, "end_turn");
  assert.deepEqual(statuses(updates), ["pending", "in_progress"], "it goes on");
  // a cancel is for the conversation, and this is not part of it
  session.cancel();
  assert.equal((await session.prompt("other things").result).stopReason, "end_turn");
  gate.resolve("done");
  assert.equal(await running, "done");
  await quiet();
  assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed"]);
  assert.deepEqual(states(updates).at(-1), "idle");
});

test("A65 A66 background work is in every state once it was reported: announced before, over after", async () => {
  const gate = Promise.withResolvers<void>();
  const { prompt, updates } = await byHand({
    async prompt(turn: Turn) {
      if (turn.text === "start")
        void turn.session.runInBackground({ title: "B", toolCallId: "b" }, () => gate.promise);
    },
  });
  await prompt("plain");
  await quiet();
  assert.ok(!JSON.stringify(updates()).includes("background"), "not before");
  await prompt("start");
  await quiet();
  await prompt("again");
  await quiet();
  gate.resolve();
  await quiet();
  await quiet();
  const story = updates().flatMap((update): unknown[] => {
    if (update.sessionUpdate === "tool_call_update") return [String(update.status)];
    return update.sessionUpdate === "state_update" ? [[update["state"], update["background"]]] : [];
  });
  const listed = [{ type: "tool_call", toolCallId: "b" }];
  assert.deepEqual(story.slice(2), [
    ["running", undefined],
    "pending",
    ["running", listed],
    "in_progress",
    ["idle", listed],
    ["running", listed],
    ["idle", listed],
    "completed",
    ["idle", []],
  ]);
});

test("A66 a list with what was never announced, or without what still runs, is refused", async () => {
  const { prompt, log } = await byHand({
    prompt({ session }: Turn) {
      const work = [{ type: "tool_call" as const, toolCallId: "b" }];
      assert.throws(() => session.setBackgroundWork(work), TypeError);
      assert.throws(() => session.setBackgroundWork([{ type: "terminal", terminalId: "t" }]), TypeError);
      assert.throws(() => session.setBackgroundWork([{ type: "subagent", sessionId: "s" }]), TypeError);
      void session.update({ sessionUpdate: "tool_call_update", toolCallId: "b", title: "B" });
      session.setBackgroundWork(work);
      assert.throws(() => session.setBackgroundWork([]), TypeError);
      void session.update({ sessionUpdate: "tool_call_update", toolCallId: "b", status: "completed" });
      session.setBackgroundWork([]);
    },
  });
  await prompt("x");
  await quiet();
  assert.deepEqual(
    log.filter((line) => line.includes("failed")),
    [],
  );
});

test("A37 A108 background work is cancelled by tool_call/cancel and by closing, not by session/cancel", async () => {
  const { call, peer, prompt, sessionId, tools } = await byHand({
    prompt({ session, text: id }: Turn) {
      void session
        .runInBackground({ title: id, toolCallId: id }, (tool) => aborted(tool.signal))
        .catch(() => undefined);
    },
  });
  await prompt("one");
  await prompt("two");
  await quiet();
  peer.notify("session/cancel", { sessionId });
  await quiet();
  const ends = () =>
    tools()
      .filter(({ status }) => status === "cancelled")
      .map(({ toolCallId }) => toolCallId);
  assert.deepEqual(ends(), []);
  await call("tool_call/cancel", { sessionId, toolCallId: "one" });
  await quiet();
  assert.deepEqual(ends(), ["one"]);
  await call("session/close", { sessionId });
  assert.deepEqual(ends(), ["one", "two"]);
  const count = peer.got.length;
  await quiet();
  assert.equal(peer.got.length, count, "then there is silence");
});

test("A60 a question of background work leaves the state of the conversation alone", async () => {
  const { prompt, updates } = await byHand({
    async prompt({ session }: Turn) {
      void session.runInBackground({ title: "B" }, (tool) => tool.requestPermission()).catch(() => undefined);
    },
  });
  await prompt("x");
  await quiet();
  await quiet();
  assert.ok(!JSON.stringify(updates()).includes("requires_action"));
});

inEveryVersion(
  "A57 A58 work that no prompt asked for is a turn of its own, in line with the prompts",
  async (pair) => {
    const order: string[] = [];
    let there: AgentSession | undefined;
    const { session, updates } = await openSession(pair, {
      session: {
        open: (each) => {
          there = each;
        },
      },
      async prompt(turn) {
        order.push(turn.text);
        await quiet();
      },
    });
    const outcomes = [
      there?.runTurn(async (turn) => {
        order.push("mine");
        assert.deepEqual(turn.prompt, []);
        await turn.tool({ title: "T" }, () => undefined);
        return "max_tokens";
      }),
      session.prompt("yours").result,
    ];
    assert.deepEqual(await Promise.all(outcomes), [{ stopReason: "max_tokens" }, { stopReason: "end_turn" }]);
    assert.deepEqual(order, ["mine", "yours"]);
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed"]);
    if (pair.version === 2) assert.deepEqual(states(updates), ["running", "idle", "running", "idle"]);
    const failed = await there?.runTurn(() => {
      throw new Error("secret");
    });
    assert.equal(failed?.error?.code, -32603);
    const cancelled = there?.runTurn((turn) => aborted(turn.signal));
    await quiet();
    session.cancel();
    assert.deepEqual(await cancelled, { stopReason: "cancelled" });
    await session.close();
    assert.deepEqual(await there?.runTurn(() => undefined), { stopReason: "cancelled" });
  },
);

test("work of the agent's own waits behind a turn with an inbox, and is no message of it", async () => {
  const inboxes: number[] = [];
  const gate = Promise.withResolvers<void>();
  let there: AgentSession | undefined;
  const { session } = await openSession(v2, {
    concurrentPrompts: "inbox",
    session: {
      open: (each) => {
        there = each;
      },
    },
    async prompt(turn) {
      await gate.promise;
      inboxes.push(turn.inbox.size);
    },
  });
  const first = session.prompt("1");
  await first.accepted;
  const mine = there?.runTurn(() => "refusal");
  await quiet();
  gate.resolve();
  await first.result;
  assert.deepEqual(await mine, { stopReason: "refusal" });
  assert.deepEqual(inboxes, [0]);
});

inEveryVersion("A72 a tool call has one id and one name while it runs", async (pair) => {
  const { session } = await openSession(pair, {
    async prompt(turn) {
      await turn.tool({ title: "T", name: "read", toolCallId: "t" }, async (tool) => {
        assert.throws(() => tool.update({ name: "write" }), /does not change/);
        await tool.update({ name: "read" });
        await assert.rejects(
          turn.tool({ title: "U", toolCallId: "t" }, () => undefined),
          /is running/,
        );
      });
      await turn.tool({ title: "T", name: "write", toolCallId: "t" }, () => undefined);
    },
  });
  assert.deepEqual(await session.prompt("x").result, { stopReason: "end_turn" });
  await session.close();
  assert.ok(place);
});
