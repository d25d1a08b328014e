// Mistakes at the end of a turn speak: what is said too late fails, and what was not awaited is logged.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  openSession,
  place,
  quiet,
  said,
  statuses,
} from "../../../test/support/peer-probe.ts";
import {
  type Agent,
  agent as makeAgent,
  client as makeClient,
  type SessionUpdate,
  type ToolCallHandle,
  type Turn,
} from "../../index.ts";

const late: SessionUpdate = {
  sessionUpdate: "agent_message_chunk",
  messageId: "m",
  content: { type: "text", text: "by the session" },
};

const ofTurn: Readonly<Record<string, (turn: Turn) => unknown>> = {
  "turn.say": (turn) => turn.say("x"),
  "turn.think": (turn) => turn.think("x"),
  "turn.plan": (turn) => turn.plan([]),
  "turn.tool": (turn) => turn.tool({ title: "T" }, () => assert.fail("it ran")),
  "turn.announce": (turn) => turn.announce({ title: "T" }),
  "turn.terminal": (turn) => turn.terminal(),
  "turn.requestPermission": (turn) => turn.requestPermission("?"),
  "turn.elicit": (turn) => turn.elicit({ mode: "url", message: "m", elicitationId: "e", url: "https://a.b" }),
  "turn.notice": (turn) => turn.notice("info", "x"),
  "turn.usage": (turn) => turn.usage({ used: 1, size: 2 }),
  "turn.update": (turn) => turn.update(late),
};

const ofTool: Readonly<Record<string, (tool: ToolCallHandle) => unknown>> = {
  "tool.start": (tool) => tool.start(),
  "tool.update": (tool) => tool.update({ title: "U" }),
  "tool.add": (tool) => tool.add("x"),
  "tool.diff": (tool) => tool.diff({ path: "/a", newText: "x" }),
  "tool.terminal": (tool) => tool.terminal(),
  "tool.requestPermission": (tool) => tool.requestPermission(),
  "tool.finish": (tool) => tool.finish("completed"),
};

inEveryVersion(
  "a turn that has ended says nothing more: each method of it and of its tools fails, and says what to use",
  async (pair) => {
    let turn: Turn | undefined;
    let tool: ToolCallHandle | undefined;
    const { session, updates, wire, agent } = await openSession(pair, {
      async prompt(given) {
        turn = given;
        await turn.tool({ title: "T" }, (running) => {
          tool = running;
        });
      },
    });
    await session.prompt("x").result;
    await quiet();
    const before = wire.length;
    assert.ok(turn && tool);
    for (const [method, call] of Object.entries(ofTurn))
      await assert.rejects(async () => call(turn as Turn), ended(method), method);
    for (const [method, call] of Object.entries(ofTool))
      await assert.rejects(async () => call(tool as ToolCallHandle), ended(method), method);
    await quiet();
    assert.equal(wire.length, before);
    assert.equal(turn.session.turn, undefined);
    await turn.session.update(late);
    const { stopReason } = await turn.session.runTurn((own) => own.say(", and in a new turn"));
    await quiet();
    assert.deepEqual([said(updates), stopReason], ["by the session, and in a new turn", "end_turn"]);
    await agent.close();
  },
);

function ended(method: string): RegExp {
  const called = method.replace(".", "\\.");
  return new RegExp(`^Error: the turn has ended: ${called}\\(\\) .* or use session\\.update\\(\\)`);
}

inEveryVersion("a cancelled turn that still runs goes on talking", async (pair) => {
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      session.cancel();
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      await turn.say("last words");
    },
  });
  assert.equal((await session.prompt("x").result).stopReason, "cancelled");
  assert.equal(said(updates), "last words");
});

test("a handler that goes on after its session was closed is told so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = Promise.withResolvers<void>();
  let turn: Turn | undefined;
  const { session, agent } = await openSession(
    { editions: ["v2"], version: 2 },
    {
      prompt(given) {
        turn = given;
        return gate.promise;
      },
    },
  );
  const prompt = session.prompt("x");
  await prompt.accepted;
  const closed = session.close();
  for (let isClosed = false; !isClosed; ) {
    await quiet();
    t.mock.timers.tick(5_000);
    isClosed = await Promise.race([closed.then(() => true), quiet().then(() => false)]);
  }
  await assert.rejects(async () => turn?.say("x"), ended("turn.say"));
  assert.throws(() => turn?.session.update(late), /^Error: the session is closed: session\.update\(\)/);
  assert.throws(() => turn?.session.terminal(), /^Error: the session is closed: session\.terminal\(\)/);
  assert.throws(() => turn?.session.setTitle("T"), /^Error: the session is closed/);
  assert.deepEqual(await turn?.session.runTurn(() => assert.fail("it ran")), { stopReason: "cancelled" });
  gate.resolve();
  await agent.close();
});

inEveryVersion(
  "a tool call that nobody awaits fails with what to do, and that is logged once for a session",
  async (pair) => {
    let runs = 0;
    const { session, updates, log, agent } = await openSession(pair, {
      async prompt(turn) {
        // at once: it does not even begin
        void turn.tool({ title: "Never begun" }, () => void runs++);
        if (turn.text === "slow") await quiet();
      },
    });
    await session.prompt("fast").result;
    assert.equal(runs, 0);
    assert.deepEqual(statuses(updates), ["pending", "failed"]);
    assert.match(
      JSON.stringify(updates),
      /the turn ended while this tool call was open: await turn\.tool\(\)/,
    );
    await session.prompt("fast").result;
    await session.prompt("slow").result;
    assert.equal(runs, 1);
    const warnings = () =>
      log.filter((line) => line.startsWith("agent warn: the turn ended while this tool"));
    assert.equal(warnings().length, 1, log.join("\n"));
    const second = await agent.newSession(place);
    await second.prompt("fast").result;
    assert.equal(warnings().length, 2);
    await agent.close();
  },
);

inEveryVersion(
  "a tool call that runs when its turn ends has failed, and what it says then throws",
  async (pair) => {
    const gate = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<unknown>();
    const { session, updates, agent } = await openSession(pair, {
      async prompt(turn) {
        const began = Promise.withResolvers<void>();
        void turn
          .tool({ title: "Slow" }, async (tool) => {
            began.resolve();
            await gate.promise;
            await tool.add("too late");
          })
          .catch(refused.resolve);
        await began.promise;
      },
    });
    assert.equal((await session.prompt("x").result).stopReason, "end_turn");
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "failed"]);
    gate.resolve();
    assert.match(String(await refused.promise), ended("tool.add"));
    assert.ok(!JSON.stringify(updates).includes("too late"));
    await agent.close();
  },
);

inEveryVersion(
  "a question that nobody awaits is answered with no when its turn ends, and logged once for a session",
  async (pair) => {
    const answers: Promise<unknown>[] = [];
    const { session, log, agent } = await openSession(
      pair,
      {
        async prompt(turn) {
          answers.push(turn.requestPermission("Delete it?"));
          await quiet();
        },
      },
      { requestPermission: () => new Promise(() => undefined) },
    );
    await session.prompt("x").result;
    await session.prompt("y").result;
    assert.deepEqual(await Promise.all(answers), [undefined, undefined]);
    const warnings = log.filter((line) => line.includes("await turn.requestPermission()"));
    assert.deepEqual(warnings, [
      "agent warn: the turn ended while a question was open: await turn.requestPermission() and turn.elicit()",
    ]);
    await agent.close();
  },
);

inEveryVersion(
  "a turn that fails or is cancelled blames nobody for the calls that it leaves",
  async (pair) => {
    const { session, updates, log, agent } = await openSession(pair, {
      async prompt(turn) {
        const open = turn.tool({ title: "T" }, () => new Promise<void>(() => undefined));
        if (turn.text === "cancel") session.cancel();
        if (turn.text === "cancel")
          await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
        else await Promise.all([open, quiet().then(() => Promise.reject(new Error("the other one failed")))]);
      },
    });
    assert.equal((await session.prompt("fail").result).stopReason, "error");
    assert.equal((await session.prompt("cancel").result).stopReason, "cancelled");
    assert.ok(!JSON.stringify(updates).includes("await turn.tool"));
    assert.deepEqual(
      log.filter((line) => line.startsWith("agent warn")),
      [],
    );
    await agent.close();
  },
);

inEveryVersion(
  "tokens that the agent may not send are dropped, and that is logged once for a session",
  async (pair) => {
    const usage = { totalTokens: 3, inputTokens: 1, outputTokens: 2 };
    const prompt = () => ({ stopReason: "end_turn" as const, usage });
    const { session, log, agent } = await openSession(pair, { prompt });
    assert.deepEqual(await session.prompt("x").result, { stopReason: "end_turn" });
    await session.prompt("y").result;
    assert.deepEqual(
      log.filter((line) => line.includes("usage")),
      ['agent warn: the usage of a turn is not sent: enable it with unstable: ["usage"]'],
    );
    await agent.close();
  },
);

inEveryVersion("tokens that the agent may send are sent, also for a cancelled turn", async (pair) => {
  const usage = { totalTokens: 3, inputTokens: 1, outputTokens: 2 };
  const { session, agent } = await openSession(
    pair,
    {
      unstable: "*",
      async prompt(turn) {
        if (turn.text === "cancel") session.cancel();
        await quiet();
        return { stopReason: "end_turn", usage };
      },
    },
    { unstable: "*" },
  );
  assert.deepEqual(await session.prompt("x").result, { stopReason: "end_turn", usage });
  assert.deepEqual(await session.prompt("cancel").result, { stopReason: "cancelled", usage });
  await agent.close();
});

inEveryVersion(
  "a handler that ignores the cancel of its turn does not keep the client waiting, and its session closes at once",
  async (pair) => {
    const never = new Promise<void>(() => undefined);
    const { session, updates, log, agent } = await openSession(pair, {
      connection: { cancelGraceMs: 0 },
      prompt: (turn) => turn.tool({ title: "Deaf" }, () => never),
    });
    const prompt = session.prompt("x");
    await quiet();
    session.cancel();
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal(statuses(updates).at(-1), pair.version === 1 ? "failed" : "cancelled");
    const warnings = log.filter((line) => line.includes("goes on after its turn was cancelled"));
    assert.equal(warnings.length, 1, log.join("\n"));
    assert.match(warnings[0] ?? "", /pass turn\.signal to everything that the handler waits for/);
    // one handler at a time: a further prompt is refused with what to do, not kept waiting for ever
    const { error } = await session.prompt("y");
    assert.deepEqual(
      [error?.kind, /close the session/.test(error?.message ?? "")],
      ["turn_in_progress", true],
    );
    await session.close();
    const again = await agent.loadSession(session.sessionId, place);
    assert.equal(again.state, "idle");
    await agent.close();
  },
);

test("session.close of a definition that waits for the agent's end does not hang it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const log: string[] = [];
  const served: Agent = makeAgent({
    name: "a",
    version: "1",
    log: (_level, message) => log.push(message),
    session: { close: () => served.close() },
    prompt: () => undefined,
  });
  const connection = await makeClient({ name: "c", version: "1" }).connect(served);
  await connection.newSession(place);
  const closed = connection.close();
  for (let isClosed = false; !isClosed; ) {
    await quiet();
    t.mock.timers.tick(5_000);
    isClosed = await Promise.race([closed.then(() => true), quiet().then(() => false)]);
  }
  await served.close();
  assert.ok(
    log.some((line) => line.includes("session.close goes on")),
    log.join("\n"),
  );
});
