// Recovery from errors that agents answer with, in the codes of real agents.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { managed, patience, say, scripted } from "../../test/support/managed-probe.ts";
import type { AgentProblem, ManagedAgentEvent } from "../index.ts";

const cwd = tmpdir();
const fails = (code: number, message: string, data?: unknown) => [
  { fail: { code, message, ...(data === undefined ? {} : { data }) } },
];

for (const [who, code, message, data] of [
  ["by code, with its own pause", -32065, "slow down", { reason: "rate_limited", retryAfter: 0.002 }],
  ["by HTTP status", 429, "Too Many Requests", undefined],
  ["in words", -32603, "API Error: rate limit reached", undefined],
] as const) {
  test(
    `an agent that wants a pause gets it, and the prompt is sent again: ${who} (Q11)`,
    patience,
    async (t) => {
      const turns = [
        { steps: fails(code, message, data) },
        { steps: fails(code, message, data) },
        { steps: say("ok") },
      ];
      const { entry } = scripted(t, { play: { turns } });
      const { agent, events } = await managed(t, entry);
      const session = await agent.newSession({ cwd });
      assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
      const retries = events.filter(
        (event): event is Extract<ManagedAgentEvent, { kind: "retrying" }> => event.kind === "retrying",
      );
      assert.deepEqual(
        retries.map(({ problem, attempt }) => [problem.kind, attempt]),
        [
          ["rate_limited", 1],
          ["rate_limited", 2],
        ],
      );
      if (data !== undefined)
        assert.deepEqual(
          retries.map(({ delayMs }) => delayMs),
          [2, 2],
        );
    },
  );
}

test("a pause ends when the prompt is cancelled, and has a limit", patience, async (t) => {
  const { entry } = scripted(t, { play: { otherwise: fails(-32065, "slow down", { retryAfter: 200 }) } });
  const waits = Promise.withResolvers<void>();
  const { agent } = await managed(t, entry, {
    onEvent: (event) => event.kind === "retrying" && waits.resolve(),
  });
  const session = await agent.newSession({ cwd });
  const prompt = session.prompt("hi");
  await waits.promise;
  prompt.cancel();
  assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
  const limited = await managed(t, entry, { maxRetries: 0 });
  const other = await limited.agent.newSession({ cwd });
  assert.partialDeepStrictEqual(await other.prompt("hi").result, {
    stopReason: "error",
    error: { code: -32065 },
  });
});

test("an agent that fails in the middle of its work is not sent the prompt again", patience, async (t) => {
  const steps = [{ tool: { title: "rm", kind: "execute" as const } }, ...fails(-32065, "slow down")];
  const { entry } = scripted(t, { play: { turns: [{ steps }], otherwise: say("again") } });
  const { agent, kinds } = await managed(t, entry);
  const session = await agent.newSession({ cwd });
  assert.equal((await session.prompt("hi").result).stopReason, "error");
  assert.ok(!kinds().includes("retrying"));
});

for (const [code, message] of [
  [-32002, "Resource not found"],
  [-32602, "Unknown sessionId: abc (session not found)"],
  [-32603, "Session does not exist"],
  [-32001, "no such session"],
] as const) {
  test(
    `a session that the agent no longer knows is replaced where the user agrees: ${code} ${message} (Q11)`,
    patience,
    async (t) => {
      const lost = { replies: [{ method: "session/prompt", nth: 1, error: { code, message } }] };
      const able = { replies: [...lost.replies, { method: "session/resume", error: { code, message } }] };
      const { entry } = scripted(t, { play: { editions: ["v1"], wire: able, otherwise: say("new") } });
      const asked: AgentProblem[] = [];
      const { agent, events } = await managed(t, entry, {
        asker: {
          newSession: async (problem) => {
            asked.push(problem);
            return true;
          },
        },
      });
      const session = await agent.newSession({ cwd });
      const before = session.sessionId;
      assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
      assert.deepEqual(
        asked.map(({ kind, message: words }) => [kind, words]),
        [["session_not_found", message]],
      );
      assert.notEqual(session.sessionId, before);
      assert.ok(events.some((event) => event.kind === "continued" && event.how === "new"));
    },
  );
}

test("a session that the agent has put away is taken up again, and nobody is asked", patience, async (t) => {
  const wire = {
    replies: [{ method: "session/prompt", nth: 1, error: { code: -32002, message: "not found" } }],
  };
  const { entry } = scripted(t, { play: { editions: ["v1"], wire, otherwise: say("back") } });
  const { agent, events } = await managed(t, entry, { asker: { newSession: () => assert.fail("asked") } });
  const session = await agent.newSession({ cwd });
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
  assert.ok(events.some((event) => event.kind === "continued" && event.how === "resumed"));
});

test(
  "without somebody who agrees, a session that is lost is an error in the agent's own words",
  patience,
  async (t) => {
    const error = { code: -32002, message: "it is gone" };
    const replies = ["session/prompt", "session/resume", "session/load"].map((method) => ({ method, error }));
    const { entry } = scripted(t, { play: { editions: ["v1"], wire: { replies } } });
    const { agent } = await managed(t, entry);
    const session = await agent.newSession({ cwd });
    assert.partialDeepStrictEqual(await session.prompt("hi").result, { stopReason: "error", error });
  },
);

test("an agent that timed out is asked once more, and no more than once (Q11)", patience, async (t) => {
  const { entry } = scripted(t, {
    play: { turns: [{ steps: fails(-32068, "timeout") }], otherwise: say("ok") },
  });
  const { agent } = await managed(t, entry);
  const session = await agent.newSession({ cwd });
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
  const slow = scripted(t, { play: { otherwise: fails(-32068, "timeout") } });
  const other = await (await managed(t, slow.entry)).agent.newSession({ cwd });
  assert.equal((await other.prompt("hi").result).stopReason, "error");
});

test(
  "a session that is not opened in time is asked for once more, with twice the time",
  patience,
  async (t) => {
    const wire = { replies: [{ method: "session/new", nth: 1, answer: "never" as const }] };
    const { entry } = scripted(t, { play: { wire } });
    const { agent, events } = await managed(t, entry, { setupTimeoutMs: 1_500 });
    const session = await agent.newSession({ cwd });
    assert.notEqual(session.sessionId, "");
    assert.partialDeepStrictEqual(
      events.find((event) => event.kind === "retrying"),
      { problem: { kind: "timeout", message: "scripted did not answer within 1500 ms" } },
    );
  },
);

test("what was denied or failed is tried again where the user says so", patience, async (t) => {
  const { entry } = scripted(t, {
    play: {
      turns: [{ steps: fails(-32060, "the rule no-network forbids it") }, { steps: fails(-32603, "oops") }],
      otherwise: say("ok"),
    },
  });
  const asked: string[] = [];
  const { agent } = await managed(t, entry, {
    asker: {
      retry: async ({ kind, message }) => {
        asked.push(`${kind}: ${message}`);
        return true;
      },
    },
  });
  const session = await agent.newSession({ cwd });
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
  assert.deepEqual(asked, ["denied: the rule no-network forbids it", "other: oops"]);
});

test("a file that was not found is no lost session", patience, async (t) => {
  const { entry } = scripted(t, { play: { otherwise: fails(-32002, 'cannot find "/project/notes.txt"') } });
  const { agent, kinds } = await managed(t, entry, { asker: { newSession: () => assert.fail("asked") } });
  const session = await agent.newSession({ cwd });
  assert.partialDeepStrictEqual(await session.prompt("hi").result, { error: { code: -32002 } });
  assert.ok(!kinds().includes("continued"));
});

test("what an agent hides behind an internal error is in the words of the problem", patience, async (t) => {
  const { entry } = scripted(t, {
    play: { otherwise: fails(-32603, "Internal error", { details: "no licence" }) },
  });
  const asked: string[] = [];
  const { agent } = await managed(t, entry, {
    asker: {
      retry: async ({ message }) => {
        asked.push(message);
        return false;
      },
    },
  });
  const session = await agent.newSession({ cwd });
  await session.prompt("hi").result;
  assert.deepEqual(asked, ["Internal error: no licence"]);
});
