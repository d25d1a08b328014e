// What an agent owes a client in a turn: each test reads the wire as a client by hand sees it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  inEveryVersion,
  initialize,
  openSession,
  type Prompted,
  quiet,
  rejects,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, RequestError } from "../../index.ts";
import { memoryStore, type SessionStore } from "../../store.ts";

type Json = Record<string, unknown>;

/** One session of a client by hand, with a line for each thing that came: answers and updates in their order. */
async function started(
  version: 1 | 2,
  definition: Partial<AgentDefinition> & { prompt: Prompted },
  answers: Record<string, (params: Json) => unknown> = {},
) {
  const { call, peer } = withScriptedClient(definition, answers);
  await call("initialize", initialize(version));
  const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
  const { sessionId } = opened as { sessionId: string };
  const answered: Json[] = [];
  const prompt = async (words = "x") => {
    const result = (await call("session/prompt", { sessionId, prompt: [text(words)] })) as Json;
    answered.push(result);
    peer.got.push({ method: "answer", params: result });
    return result;
  };
  const lines = () =>
    peer.got.map(({ method, params }) => {
      if (method !== "session/update") return method;
      const update = params["update"] as Json;
      const more = update["state"] ?? update["status"];
      return more === undefined ? String(update["sessionUpdate"]) : `${update["sessionUpdate"]} ${more}`;
    });
  const updates = () =>
    peer.got.flatMap(({ method, params }) => (method === "session/update" ? [params["update"] as Json] : []));
  peer.got.length = 0;
  return { call, peer, sessionId, prompt, lines, updates };
}

test("A51 A52 A56 A57 A58 A59 version 2 answers at insertion, echoes the message, and says when work begins and ends", async () => {
  const gate = Promise.withResolvers<void>();
  const { prompt, lines, updates } = await started(2, { prompt: () => gate.promise });
  const { messageId } = await prompt();
  await quiet();
  assert.deepEqual(
    lines().toSorted(),
    ["answer", "state_update running", "user_message"],
    "the work goes on",
  );
  const echo = updates().find(({ sessionUpdate }) => sessionUpdate === "user_message");
  assert.deepEqual(echo, { sessionUpdate: "user_message", messageId, content: [text("x")] });
  gate.resolve();
  await quiet();
  assert.deepEqual(updates().at(-1), {
    sessionUpdate: "state_update",
    state: "idle",
    stopReason: "end_turn",
  });
});

function slow(): { store: SessionStore; gate: PromiseWithResolvers<void>; fail: { is: boolean } } {
  const good = memoryStore();
  const gate = Promise.withResolvers<void>();
  const fail = { is: false };
  const store: SessionStore = {
    ...good,
    async append(...given) {
      await gate.promise;
      if (fail.is) throw new Error("no disk");
      return good.append(...given);
    },
  };
  return { store, gate, fail };
}

test("A53 neither the answer nor the echo comes before the message is stored", async () => {
  const { store, gate } = slow();
  const { prompt, lines } = await started(2, { session: { store }, prompt: () => undefined });
  const answer = prompt();
  await quiet();
  assert.deepEqual(lines(), []);
  gate.resolve();
  await answer;
  await quiet();
  assert.ok(lines().includes("user_message"));
});

test("A55 a prompt that is refused shows no message", async () => {
  const { store, gate, fail } = slow();
  const { prompt, lines, call, sessionId } = await started(2, {
    session: { store },
    concurrentPrompts: "reject",
    prompt: () => undefined,
  });
  fail.is = true;
  const refused = rejects(prompt(), -32067);
  gate.resolve();
  await refused;
  await rejects(call("session/prompt", { sessionId, prompt: [] }), -32602);
  await rejects(call("session/prompt", { sessionId: "nobody", prompt: [text("x")] }), -32002);
  await quiet();
  assert.deepEqual(
    lines().filter((line) => line.includes("user_message")),
    [],
  );
});

test("A54 after the insertion a failure is the end of the work, never an error answer", async () => {
  const failures: unknown[] = [new Error("secret"), new RequestError("other", "no model", { code: -32099 })];
  const { prompt, updates } = await started(2, {
    prompt() {
      throw failures.shift();
    },
  });
  for (const code of [-32603, -32099]) {
    assert.ok((await prompt())["messageId"]);
    await quiet();
    const last = updates().at(-1) as { stopReason: string; error: { code: number } };
    assert.deepEqual([last.stopReason, last.error.code], ["error", code]);
  }
});

test("A60 A61 everything that waits for the user requires action, and then it runs again or is over", async () => {
  const asked = Promise.withResolvers<object>();
  const { prompt, lines, peer, sessionId } = await started(
    2,
    {
      async prompt(turn) {
        await Promise.all([turn.requestPermission("one?"), turn.requestPermission("two?")]);
        turn.say("thanks");
        if (turn.text === "cancel") await turn.requestPermission("three?");
      },
    },
    { "session/request_permission": () => asked.promise },
  );
  await prompt();
  await quiet();
  assert.equal(lines().filter((line) => line === "state_update requires_action").length, 1);
  asked.resolve({ outcome: { outcome: "selected", optionId: "allow_once" } });
  await quiet();
  await quiet();
  const states = () => lines().filter((line) => line.startsWith("state_update"));
  assert.deepEqual(
    states().map((line) => line.split(" ")[1]),
    ["running", "requires_action", "running", "idle"],
  );
  assert.ok(lines().indexOf("agent_message_chunk") > lines().lastIndexOf("state_update running"));
  const never = await started(
    2,
    { prompt: async (turn) => void (await turn.requestPermission("?")) },
    { "session/request_permission": () => new Promise(() => undefined) },
  );
  await never.prompt();
  await quiet();
  never.peer.notify("session/cancel", { sessionId: never.sessionId });
  await quiet();
  assert.deepEqual(
    never
      .lines()
      .filter((line) => line.startsWith("state_update"))
      .map((line) => line.split(" ")[1]),
    ["running", "requires_action", "idle"],
  );
  assert.ok(peer && sessionId);
});

test("A62 a cancel is confirmed behind every update, and says nothing where nothing was active", async () => {
  const { prompt, lines, peer, sessionId, updates } = await started(2, {
    async prompt(turn) {
      await turn
        .tool({ title: "T" }, (tool) => {
          tool.start();
          return aborted(turn.signal);
        })
        .catch(() => undefined);
      await quiet();
      turn.say("last words");
    },
  });
  peer.notify("session/cancel", { sessionId });
  await quiet();
  assert.deepEqual(lines(), []);
  await prompt();
  await quiet();
  peer.notify("session/cancel", { sessionId });
  await quiet();
  await quiet();
  assert.deepEqual(lines().slice(-3), [
    "tool_call_update cancelled",
    "agent_message_chunk",
    "state_update idle",
  ]);
  assert.equal(updates().at(-1)?.["stopReason"], "cancelled");
});

test("A63 A64 N134 questions of a cancelled turn are withdrawn, and late answers mean nothing", async () => {
  for (const version of [1, 2] as const) {
    const answer = Promise.withResolvers<object>();
    const allowed: boolean[] = [];
    const withdrawn: boolean[] = [];
    const { call, peer } = withScriptedClient(
      { prompt: async (turn) => void allowed.push((await turn.requestPermission("?")) !== undefined) },
      {
        "session/request_permission": (_params, request) => {
          request.signal.addEventListener("abort", () => withdrawn.push(true));
          return answer.promise;
        },
      },
    );
    await call("initialize", initialize(version));
    const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
    const { sessionId } = opened as { sessionId: string };
    const prompted = call("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    peer.notify("session/cancel", { sessionId });
    await prompted;
    await quiet();
    answer.resolve({ outcome: { outcome: "selected", optionId: "allow_once" } });
    await quiet();
    assert.deepEqual([allowed, withdrawn], [[false], [true]]);
  }
});

test("A68 A69 every message has an id, on either version, also a replayed one of the user's", async () => {
  for (const version of [1, 2] as const) {
    const { call, prompt, sessionId, updates, peer } = await started(version, {
      async prompt(turn) {
        turn.think("a");
        turn.say("b");
        turn.say({ type: "resource_link", name: "n", uri: "file:///a" });
        await turn.tool({ title: "T" }, () => undefined);
        turn.say("c");
      },
    });
    await prompt();
    await quiet();
    const messages = () =>
      updates().filter(({ sessionUpdate }) => /_(?:message|thought)(?:_chunk)?$/.test(String(sessionUpdate)));
    const live = messages();
    assert.ok(live.every(({ messageId }) => typeof messageId === "string" && messageId !== ""));
    const ids = live
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ messageId }) => messageId);
    assert.deepEqual([ids[0] === ids[1], ids[1] === ids[2]], [true, false], "a tool call ends a message");
    peer.got.length = 0;
    const replay =
      version === 1 ? ["session/load", {}] : ["session/resume", { replayFrom: { type: "start" } }];
    const where = { sessionId, cwd: "/project", mcpServers: [], ...(replay[1] as object) };
    await call(replay[0] as string, where);
    assert.ok(messages().every(({ messageId }) => typeof messageId === "string" && messageId !== ""));
    const [first] = messages();
    assert.match(String(first?.["sessionUpdate"]), /^user_message/);
  }
});

inEveryVersion("A71 A72 the first report of a tool call has its title and its name", async (pair) => {
  const { session, wire } = await openSession(pair, {
    prompt: (turn) => turn.tool({ title: "Read it", name: "read", kind: "read" }, () => undefined),
  });
  await session.prompt("x").result;
  const first = wire
    .map(({ message }) => ((message["params"] as Json | undefined)?.["update"] ?? {}) as Json)
    .find(({ toolCallId }) => toolCallId !== undefined);
  assert.deepEqual([first?.["title"], first?.["name"], first?.["status"]], ["Read it", "read", "pending"]);
});

test("A74 A75 A76 a plan is sent whole each time: with its id on version 2, as `plan` on version 1", async () => {
  const entry = (content: string, status: "pending" | "completed") =>
    ({ content, priority: "low", status }) as const;
  const whole = [
    [entry("a", "pending"), entry("b", "pending")],
    [entry("a", "completed"), entry("b", "pending")],
  ];
  for (const version of [1, 2] as const) {
    const { prompt, updates, lines } = await started(version, {
      unstable: "*",
      prompt(turn) {
        for (const entries of whole) turn.plan(entries);
        const bad = { sessionUpdate: "plan_update", plan: { type: "items", entries: [] } } as never;
        assert.throws(() => turn.update(bad), /\/plan\/planId must be/);
        const file = (uri: string) => ({
          sessionUpdate: "plan_update" as const,
          plan: { type: "file" as const, planId: "f", uri },
        });
        assert.throws(() => turn.update(file("plan.md")), /must be a URI/);
        void turn.update(file("file:///project/plan.md"));
      },
    });
    await prompt();
    await quiet();
    const plans = updates().filter(({ sessionUpdate }) => String(sessionUpdate).startsWith("plan"));
    if (version === 1) {
      assert.deepEqual(
        plans.map(({ entries }) => entries),
        [
          ...whole,
          // a plan in a file has one entry there
          [
            ...(whole[1] ?? []),
            { content: "file:///project/plan.md", priority: "medium", status: "in_progress" },
          ],
        ],
      );
      assert.ok(!lines().includes("plan_update"));
    } else {
      const sent = plans.map(({ plan }) => plan as Json);
      assert.deepEqual(
        sent.map(({ planId }) => planId),
        ["main", "main", "f"],
      );
      assert.deepEqual(
        sent.slice(0, 2).map(({ entries }) => entries),
        whole,
      );
    }
  }
});

test("A67 states are the library's: an app cannot send one", async () => {
  for (const version of [1, 2] as const) {
    const { prompt, updates } = await started(version, {
      prompt(turn) {
        for (const state of ["running", "idle", "_pondering"])
          assert.throws(() => turn.update({ sessionUpdate: "state_update", state } as never), TypeError);
      },
    });
    await prompt();
    await quiet();
    const states = updates().flatMap(({ state }) => (state === undefined ? [] : [state]));
    assert.deepEqual(states, version === 1 ? [] : ["running", "idle"]);
  }
});

test("A106 a diff lists its changes by absolute paths, and its patch says the same without prefixes or a wrapper", async () => {
  const { prompt, updates } = await started(2, {
    async prompt(turn) {
      await turn.tool({ title: "Edit" }, async (tool) => {
        await tool.diff({ path: "/project/a b.txt", oldText: "old\n", newText: "new\n" });
        await tool.diff({ path: "/project/c", newText: "made\n" });
        assert.throws(() => tool.diff({ path: "relative", newText: "x" }), TypeError);
      });
    },
  });
  await prompt();
  await quiet();
  const content = updates().findLast((update) => update["content"] !== undefined)?.["content"];
  const diffs = content as { changes: Json[]; patch: { format: string; text: string }; newText?: string }[];
  assert.equal(diffs.length, 2);
  for (const { changes, patch, newText } of diffs) {
    const [change] = changes;
    assert.equal(newText, undefined, "version 1's texts stay at home");
    assert.equal(patch.format, "git_patch");
    const heads = patch.text.match(/^(?:---|\+\+\+) .*$/gm) ?? [];
    const paths = heads.map((line) => line.slice(4)).filter((path) => path !== "/dev/null");
    assert.deepEqual(new Set(paths), new Set([change?.["path"]]));
    assert.match(patch.text, /^diff --git \/project/);
  }
  assert.deepEqual(
    diffs.map(({ changes }) => changes[0]?.["operation"]),
    ["modify", "add"],
  );
});

test("A50 a cancel aborts the signals of the turn and of its tools at once", async () => {
  const seen: string[] = [];
  const { prompt, peer, sessionId } = await started(2, {
    prompt: (turn) => {
      turn.signal.addEventListener("abort", () => seen.push("turn"));
      return turn.tool({ title: "T", cancellable: true }, (tool) => {
        tool.signal.addEventListener("abort", () => seen.push("tool"));
        return aborted(tool.signal);
      });
    },
  });
  await prompt();
  await quiet();
  peer.notify("session/cancel", { sessionId });
  await quiet();
  assert.deepEqual(seen.toSorted(), ["tool", "turn"]);
});
