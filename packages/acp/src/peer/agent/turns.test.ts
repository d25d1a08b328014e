import assert from "node:assert/strict";
import {
  aborted,
  failsWith,
  inEveryVersion,
  initialize,
  openSession,
  quiet,
  rejects,
  said,
  states,
  statuses,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, RequestError, type SessionUpdate, type StopReason } from "../../index.ts";

const kinds = (updates: readonly SessionUpdate[]) => updates.map(({ sessionUpdate }) => sessionUpdate);

inEveryVersion("a turn says, thinks and plans, and the client sees it in order (Q10)", async (pair) => {
  const { session, updates } = await openSession(pair, {
    prompt(turn) {
      assert.equal(turn.text, "hi");
      turn.think("hm");
      turn.say("a");
      turn.say("b");
      turn.plan([{ content: "do", priority: "high", status: "pending" }]);
      turn.say("c");
    },
  });
  const prompt = session.prompt("hi");
  const outcome = await prompt.result;
  assert.deepEqual(outcome, { stopReason: "end_turn" });
  assert.equal(said(updates), "abc");
  assert.deepEqual(states(updates), ["running", "idle"]);
  assert.equal(session.state, "idle");
  const ids = updates.flatMap((u) => (u.sessionUpdate === "agent_message_chunk" ? [u.messageId] : []));
  assert.equal(new Set(ids).size, 1, "one message");
  const messages = updates.flatMap((u) => (u.sessionUpdate === "user_message" ? [u.messageId] : []));
  assert.deepEqual(messages, [await prompt.accepted], "A52 the echo has the id of the answer");
  assert.ok(kinds(updates).indexOf("agent_thought_chunk") < kinds(updates).indexOf("agent_message_chunk"));
});

inEveryVersion(
  "a turn reports usage, title, commands and notices, in and outside of itself",
  async (pair) => {
    const { session, updates, agent } = await openSession(pair, {
      async prompt(turn) {
        turn.usage({ used: 10, size: 100, cost: { amount: 1, currency: "USD" } });
        turn.session.setTitle("A title");
        turn.session.setAvailableCommands([{ type: "command", name: "go", description: "goes" }]);
        turn.notice("warning", "careful", "really");
        // after the answer: an update outside every turn (N121)
        void quiet().then(() =>
          turn.session.update({
            sessionUpdate: "agent_message_chunk",
            messageId: "late",
            content: text("late"),
          }),
        );
      },
    });
    await session.prompt("x").result;
    await quiet();
    await quiet();
    const seen = new Set(kinds(updates));
    for (const kind of ["usage_update", "session_info_update", "available_commands_update", "notice"])
      assert.ok(seen.has(kind as never), kind);
    assert.deepEqual(session.availableCommands, [{ type: "command", name: "go", description: "goes" }]);
    assert.equal(said(updates), "late");
    assert.equal(session.state, "idle");
    const { sessions } = await agent.listSessions();
    assert.equal(sessions[0]?.title, "A title");
  },
);

inEveryVersion(
  "A70 A113 a tool call goes pending, in progress, completed; a throw makes it failed",
  async (pair) => {
    const { session, updates } = await openSession(pair, {
      async prompt(turn) {
        const value = await turn.tool(
          { title: "Read", kind: "read", name: "read", rawInput: { a: 1 } },
          async (tool) => {
            await tool.add("found");
            return 7;
          },
        );
        assert.equal(value, 7);
        await turn
          .tool({ title: "Break" }, () => {
            throw new Error("it broke");
          })
          .catch((error: Error) => turn.say(error.message));
      },
    });
    const { stopReason } = await session.prompt("x").result;
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed", "pending", "failed"]);
    assert.equal(said(updates), "it broke");
    assert.ok(!JSON.stringify(updates).includes("turns.test.ts"), "no stack");
  },
);

inEveryVersion("a tool call that the handler left running ends with the turn", async (pair) => {
  const { session, updates } = await openSession(pair, {
    prompt(turn) {
      void turn.tool({ title: "Left" }, () => new Promise(() => undefined));
    },
  });
  await session.prompt("x").result;
  assert.deepEqual(statuses(updates), ["pending", "failed"]);
});

inEveryVersion(
  "a tool call whose turn ended before it began is not begun, and nobody dies of it",
  async (pair) => {
    let ran = false;
    const { session, updates } = await openSession(pair, {
      prompt(turn) {
        void turn.tool({ title: "Late" }, () => {
          ran = true;
        });
      },
    });
    await session.prompt("x").result;
    await quiet();
    assert.deepEqual([ran, statuses(updates)], [false, ["pending", "failed"]]);
  },
);

inEveryVersion("a status that the handler set last is not overwritten by its return", async (pair) => {
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      await turn.tool({ title: "No" }, (tool) => tool.update({ status: "failed" }));
      await turn.tool({ title: "Yes" }, (tool) => tool.finish("completed", { title: "Done" }));
    },
  });
  await session.prompt("x").result;
  assert.deepEqual(statuses(updates), ["pending", "failed", "pending", "in_progress", "completed"]);
});

inEveryVersion(
  "G7 an update that is not valid throws at once, and a tool's status ends all the same",
  async (pair) => {
    const { session, updates } = await openSession(pair, {
      async prompt(turn) {
        assert.throws(
          () => turn.update({ sessionUpdate: "usage_update", used: -1, size: "x" } as never),
          TypeError,
        );
        await assert.rejects(
          turn.tool({ title: "Bad" }, (tool) => tool.finish("completed", { locations: "no" } as never)),
          TypeError,
        );
        turn.say("ok");
      },
    });
    assert.equal((await session.prompt("x").result).stopReason, "end_turn");
    assert.equal(said(updates), "ok");
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "failed"]);
  },
);

inEveryVersion("a diff has what each version needs, and a terminal shows what was written", async (pair) => {
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      await turn.tool({ title: "Edit" }, async (tool) => {
        await tool.diff({ path: "/project/a", oldText: "old\n", newText: "new\n" });
        const terminal = tool.terminal({ command: "ls" });
        await terminal.write("out");
        terminal.exit({ exitCode: 0 });
      });
    },
  });
  await session.prompt("x").result;
  const contents = updates.flatMap((u) =>
    u.sessionUpdate === "tool_call_update" && u.content ? [u.content] : [],
  );
  const diff = contents.at(-1)?.[0];
  assert.ok(diff?.type === "diff");
  assert.deepEqual(
    diff.changes.map(({ operation, path }) => [operation, path]),
    [["modify", "/project/a"]],
  );
  if (pair.version === 1) assert.equal(diff.newText, "new\n");
  else assert.match(diff.patch?.text ?? "", /-old\n\+new/);
  assert.ok(kinds(updates).includes("terminal_output_chunk"));
});

inEveryVersion(
  "a handler that throws a RequestError ends the prompt with that error, in every version",
  async (pair) => {
    const { session, updates } = await openSession(pair, {
      prompt() {
        throw new RequestError("other", "no model", { code: -32099, data: { why: "no key" } });
      },
    });
    const { result: outcome } = session.prompt("x");
    const error = await failsWith(outcome, -32099, { why: "no key" });
    assert.equal(error.message, "no model");
    assert.deepEqual(states(updates), ["running", "idle"]);
    assert.ok(JSON.stringify(updates.at(-1)).includes("no model"));
  },
);

inEveryVersion(
  "the message of an Error reaches the user, and its stack only the log (A113)",
  async (pair) => {
    const thrown = [
      new Error("the model quux is not installed"),
      new Error("it broke\n    at prompt (/home/me/secret.ts:1:2)"),
      Object.assign(new Error("no such file"), { path: "/home/me/secret", syscall: "open" }),
      new Error("x".repeat(5_000)),
      new Error(""),
      "just words",
    ];
    const expected = [
      "the model quux is not installed",
      "it broke",
      "no such file",
      `${"x".repeat(1_000)}…`,
      "internal error",
      "internal error",
    ];
    const { session, updates, log } = await openSession(pair, {
      prompt() {
        throw thrown.shift();
      },
    });
    for (const message of expected) {
      const { stopReason, error } = await session.prompt("x").result;
      assert.deepEqual([stopReason, error?.code, error?.message], ["error", -32603, message]);
      assert.deepEqual(Object.keys(error?.data as object), ["reason", "correlationId"]);
    }
    assert.ok(!JSON.stringify(updates).includes("secret"));
    assert.equal(log.filter((line) => line.includes("a prompt handler failed")).length, expected.length);
    // and the session lives
    assert.equal(session.state, "idle");
  },
);

inEveryVersion(
  "with exposeErrors: false a handler's Error is an internal error without its text",
  async (pair) => {
    const fail = () => {
      throw new Error("secret");
    };
    const options = [{ value: "a", name: "A" }];
    const { session, updates, log } = await openSession(pair, {
      exposeErrors: false,
      prompt: fail,
      session: {
        open: (opened) =>
          opened.setConfigOptions([
            { configId: "fast", name: "Fast", type: "select", currentValue: "a", options },
          ]),
        setConfigOption: fail,
      },
    });
    const { error } = await session.prompt("x").result;
    assert.deepEqual([error?.code, error?.message], [-32603, "internal error"]);
    await assert.rejects(session.setConfigOption("fast", "a"), { code: -32603, message: "internal error" });
    assert.ok(!JSON.stringify([error, updates]).includes("secret"));
    assert.ok(log.some((line) => line.includes("a prompt handler failed")));
  },
);

inEveryVersion("a handler's end that is none is an internal error, never silence", async (pair) => {
  const ends = [{ stopReason: 7 }, 7, "done", { stopReason: "end_turn", usage: "much" }];
  const { session } = await openSession(pair, { unstable: "*", prompt: () => ends.shift() as never });
  while (ends.length > 0) {
    const end = await session.prompt("x").result.catch((error: RequestError) => ({ error }));
    assert.equal(end.error?.code, -32603);
  }
});

inEveryVersion("stop reasons arrive as they were given", async (pair) => {
  const reasons = ["max_tokens", "max_turn_requests", "refusal"];
  const { session } = await openSession(pair, { prompt: (turn) => turn.text as StopReason });
  for (const reason of reasons) assert.equal((await session.prompt(reason).result).stopReason, reason);
});

inEveryVersion("prompts that come while a turn runs wait in line, one turn at a time", async (pair) => {
  let running = 0;
  const order: string[] = [];
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      assert.equal(++running, 1);
      order.push(turn.text);
      await quiet();
      turn.say(turn.text);
      running--;
    },
  });
  const prompts = ["1", "2", "3"].map((each) => session.prompt(each));
  await Promise.all(prompts.map(({ result: outcome }) => outcome));
  await quiet();
  assert.deepEqual(order, ["1", "2", "3"]);
  assert.equal(said(updates), "123");
});

inEveryVersion(
  "N107 an agent that takes one prompt at a time answers -32064, and the turn goes on",
  async (pair) => {
    const gate = Promise.withResolvers<void>();
    const { session, agent, served } = await openSession(pair, {
      concurrentPrompts: "reject",
      prompt: () => gate.promise,
    });
    void served;
    const first = session.prompt("1");
    await first.accepted;
    if (pair.version === 2) {
      const second = session.prompt("2");
      await failsWith(second.result, -32064);
      await rejects(second.accepted, -32064);
    }
    gate.resolve();
    assert.equal((await first.result).stopReason, "end_turn");
    void agent;
  },
);

inEveryVersion(
  "an agent with an inbox finds later prompts there, and they share the outcome",
  async (pair) => {
    // a v1 client of ours would keep the second one to itself, so the wire is written by hand
    if (pair.version === 1) return steeredByHand();
    const { session } = await openSession(pair, steered);
    const first = session.prompt("1");
    await first.accepted;
    const second = session.prompt("2");
    await second.accepted;
    assert.deepEqual(await first.result, { stopReason: "refusal" });
    assert.deepEqual(await second.result, { stopReason: "refusal", joined: true });
  },
);

const steered: Pick<AgentDefinition, "concurrentPrompts" | "prompt"> = {
  concurrentPrompts: "inbox",
  async prompt(turn) {
    for await (const message of turn.inbox) {
      assert.deepEqual(message.prompt, [text("2")]);
      return "refusal";
    }
  },
};

async function steeredByHand(): Promise<void> {
  const { call } = withScriptedClient(steered);
  await call("initialize", initialize(1));
  const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
  const [first, second] = ["1", "2"].map((each) =>
    call("session/prompt", { sessionId, prompt: [text(each)] }),
  );
  assert.deepEqual(await first, { stopReason: "refusal" });
  assert.deepEqual(await second, { stopReason: "refusal" });
}

inEveryVersion(
  "a prompt that the inbox keeps becomes a turn of its own, also one that comes as the turn ends",
  async (pair) => {
    const turns: string[] = [];
    const { session } = await openSession(pair, {
      concurrentPrompts: "inbox",
      async prompt(turn) {
        turns.push(turn.text);
        if (turn.text === "1") await quiet();
      },
    });
    const prompts = ["1", "2", "3"].map((each) => session.prompt(each));
    await prompts[0]?.result;
    const last = session.prompt("4");
    await Promise.all([...prompts, last].map(({ result: outcome }) => outcome));
    assert.deepEqual(turns, ["1", "2", "3", "4"]);
  },
);

inEveryVersion("a handler that waits for its inbox for ever ends when it is cancelled", async (pair) => {
  const { session } = await openSession(pair, {
    concurrentPrompts: "inbox",
    async prompt(turn) {
      for await (const _ of turn.inbox) turn.say("got one");
    },
  });
  const prompt = session.prompt("1");
  await prompt.accepted;
  await quiet();
  session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
});

inEveryVersion("a signal is handed on: an abort that it causes is no error (A48)", async (pair) => {
  const { session, log } = await openSession(pair, { prompt: (turn) => aborted(turn.signal) });
  const prompt = session.prompt("x");
  await prompt.accepted;
  await quiet();
  session.cancel();
  assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
  assert.deepEqual(
    log.filter((line) => line.includes("error")),
    [],
  );
});

inEveryVersion("the methods of a turn and of its tool calls work without their object", async (pair) => {
  const { session, updates } = await openSession(
    pair,
    {
      async prompt({
        say,
        think,
        plan,
        tool,
        announce,
        terminal,
        requestPermission,
        elicit,
        notice,
        usage,
        update,
        text,
      }) {
        await think("hm");
        await plan([{ content: "answer", priority: "high", status: "pending" }]);
        await notice("info", "soon");
        await usage({ used: 1, size: 2 });
        const toolCallId = announce({ title: "Look" });
        const files = await tool(
          { title: "Look", toolCallId },
          async ({ start, update: patch, add, diff, terminal: shown, requestPermission: ask, finish }) => {
            await diff({ path: "/project/a", newText: "b" });
            assert.equal((await ask())?.kind, "allow_once");
            start();
            await add("found");
            await patch({ title: "Looked" });
            shown().exit({ exitCode: 0 });
            await finish("completed");
            return 2;
          },
        );
        terminal().exit({ exitCode: 0 });
        assert.equal((await requestPermission("Really?"))?.kind, "allow_once");
        assert.equal(typeof elicit, "function");
        await update({
          sessionUpdate: "agent_message_chunk",
          messageId: "m",
          content: { type: "text", text },
        });
        await say(` ${files}`);
      },
    },
    { requestPermission: () => "allow_once" },
  );
  const result = await session.prompt("x");
  assert.deepEqual(result, { stopReason: "end_turn" });
  assert.equal(said(updates), "x 2");
});
