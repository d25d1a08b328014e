// Tests that a refused prompt leaves the conversation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "@parley/acp/store";
import {
  type Answer,
  calls,
  connected,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  thought,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead } from "../../test/support/stub-tools.ts";
import { ModelError, type ModelRequest } from "../model/model.ts";

const refuses: Answer = [
  { type: "text", text: "I will not." },
  { type: "end", cause: "refusal", usage: { input: 10, output: 2 } },
];

const texts = (request: ModelRequest | undefined) =>
  (request?.messages ?? []).map((message) =>
    message.role === "tool"
      ? "outcomes"
      : message.content.map((part) => (part.type === "text" ? part.text : part.type)).join(),
  );

inEveryVersion(
  "a refused prompt and what follows it are not sent again, also after a load",
  { "a.txt": "one\n" },
  async (setup) => {
    const store = memoryStore();
    const model = scriptedModel([says("Hello."), calls(["read", { path: "a.txt" }]), refuses, says("Fine.")]);
    const made = await talk({ ...setup, tools: [stubRead], models: [model], store });
    await made.session.prompt("hi").result;
    assert.equal((await made.session.prompt("something bad").result).stopReason, "refusal");
    assert.equal((await made.session.prompt("sorry").result).stopReason, "end_turn");
    assert.deepEqual(texts(model.requests[3]), ["hi", "Hello.", "sorry"]);
    await made.end();

    const later = scriptedModel([says("Welcome.")]);
    const { agent, end } = await connected({ ...setup, tools: [stubRead], models: [later], store });
    const session = await agent.loadSession(made.session.sessionId, { cwd: setup.cwd });
    await session.prompt("back").result;
    assert.deepEqual(texts(later.requests[0]), ["hi", "Hello.", "sorry", "Fine.", "back"]);
    await end();
  },
);

test("a prompt that joined a refused turn leaves with it", { timeout: 20_000 }, async (context) => {
  const setup = { version: 2 as const, cwd: temporaryFolder(context, {}) };
  const store = memoryStore();
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const gate = customTool("gate", async () => {
    reached.resolve();
    await goOn.promise;
    return "open";
  });
  const model = scriptedModel([says("Hello."), calls(["gate", {}]), refuses, says("Fine.")]);
  const made = await talk({ ...setup, tools: [gate], models: [model], store });
  await made.session.prompt("hi").result;
  const first = made.session.prompt("go");
  await reached.promise;
  const second = made.session.prompt("and this");
  goOn.resolve();
  await Promise.all([first.result, second.result]);
  assert.match(texts(model.requests[2]).join(), /and this/);
  await made.session.prompt("sorry").result;
  assert.deepEqual(texts(model.requests[3]), ["hi", "Hello.", "sorry"]);
  await made.end();

  const later = scriptedModel([says("Welcome.")]);
  const { agent, end } = await connected({ ...setup, tools: [gate], models: [later], store });
  const session = await agent.loadSession(made.session.sessionId, { cwd: setup.cwd });
  await session.prompt("back").result;
  assert.deepEqual(texts(later.requests[0]), ["hi", "Hello.", "sorry", "Fine.", "back"]);
  await end();
});

inEveryVersion(
  "a prompt that the provider rejects is refused, with the provider's words",
  {},
  async (setup) => {
    const words = "Anthropic refused the request (400: content_policy_violation).";
    const model = scriptedModel([
      // biome-ignore lint/correctness/useYield: it fails before it says anything
      async function* () {
        throw new ModelError("refused", words);
      },
      says("Fine."),
    ]);
    const { session, updates } = await talk({ ...setup, tools: [], models: [model] });
    assert.equal((await session.prompt("bad").result).stopReason, "refusal");
    const notices = updates.flatMap((u) => (u.sessionUpdate === "notice" ? [u.title] : []));
    assert.ok([...notices, thought(updates)].join().includes(words));
    await session.prompt("sorry").result;
    assert.deepEqual(texts(model.requests[1]), ["sorry"]);
  },
);
