import assert from "node:assert/strict";
import { arch, type } from "node:os";
import { test } from "node:test";
import { calls, inEveryVersion, says, scriptedModel, talk } from "../../test/support/agent-probe.ts";
import { stubRead } from "../../test/support/stub-tools.ts";
import { familyOf } from "../model/model-family.ts";
import { tokensOfText } from "../model/tokens.ts";

inEveryVersion(
  "the prompt names the machine and the habits, in at most 3,000 tokens with all tools before the project's rules",
  { "AGENTS.md": "Use tabs.", ".agents/skills/tidy/SKILL.md": "---\ndescription: Tidy up\n---\n" },
  async (setup) => {
    for (const id of [
      "anthropic/claude-sonnet-5",
      "openai/gpt-6-sol",
      "google/gemini-4-argon",
      "vllm/qwen3",
    ]) {
      const model = scriptedModel([says("ok")], { id });
      const { session, end } = await talk({ ...setup, models: [model] });
      await session.prompt("hi").result;
      const { system = "", tools = [] } = model.requests[0] ?? {};
      assert.ok(system.includes(`Operating system: ${type()} `));
      assert.ok(system.includes(`(${arch()})`));
      assert.match(system, /Shell for commands: \S+/);
      for (const habit of [
        /Keep going until the request is solved/,
        /Prefer read, grep, find and list to shell commands/,
        /independent calls together/,
        /Never revert or overwrite changes that you did not make/,
        /Never commit, push/,
        /path:line/,
      ])
        assert.match(system, habit);
      const rules = system.indexOf("<instructions from=");
      assert.ok(rules > 0, "the project's rules come last");
      assert.ok(["task", "skill"].every((name) => tools.some((tool) => tool.name === name)));
      // names, descriptions and schemas, as they are sent
      const tokens = tokensOfText(system.slice(0, rules)) + tokensOfText(JSON.stringify(tools));
      assert.ok(tokens <= 3_000, `${id}: ${tokens} tokens`);
      await end();
    }
  },
);

test("models of a family are recognised behind gateways too", () => {
  const families = {
    "anthropic/claude-sonnet-5": "claude",
    "openrouter/anthropic/claude-opus-5": "claude",
    "openai/gpt-6-sol": "gpt",
    "openai/o3": "gpt",
    "google/gemini-4-argon": "gemini",
    "ollama/gpt-oss-120b": "other",
    "vllm/qwen3-coder": "other",
  };
  for (const [id, family] of Object.entries(families)) assert.equal(familyOf(id), family, id);
});

inEveryVersion(
  "the prompt follows the family of the model, and stays for models of one family",
  { "a.txt": "a" },
  async (setup) => {
    const answers = [calls(["read", { path: "a.txt" }]), says("ok"), says("ok")];
    const sonnet = scriptedModel(answers, { id: "anthropic/claude-sonnet-5" });
    const opus = scriptedModel([says("ok")], { id: "anthropic/claude-opus-5" });
    const gpt = scriptedModel([says("ok")], { id: "openai/gpt-6-sol" });
    const { session } = await talk({ ...setup, tools: [stubRead], models: [sonnet, opus, gpt] });
    for (const { facts } of [sonnet, opus, gpt, sonnet]) {
      await session.setConfigOption("model", facts.id);
      await session.prompt("go").result;
    }
    const [first, , last] = sonnet.requests.map(({ system }) => system);
    assert.equal(opus.requests[0]?.system, first);
    assert.notEqual(gpt.requests[0]?.system, first);
    assert.equal(last, first, "its cache is still there");
  },
);

inEveryVersion("the share of cached tokens is in the usage", {}, async (setup) => {
  const model = scriptedModel([
    [
      { type: "tool_call", id: "1", name: "read", input: { path: "a" } },
      { type: "end", cause: "tool_calls", usage: { input: 1_000, output: 1, cachedInput: 500 } },
    ],
    [
      { type: "text", text: "done" },
      { type: "end", cause: "stop", usage: { input: 2_000, output: 1, cachedInput: 1_900 } },
    ],
    says("no cache"),
  ]);
  const { session, updates } = await talk({ ...setup, tools: [stubRead], models: [model] });
  const { usage } = await session.prompt("go").result;
  assert.equal(usage?.cachedReadTokens, 2_400);
  await session.prompt("more").result;
  const shares = updates.flatMap((update) =>
    update.sessionUpdate === "usage_update" ? [update._meta?.["_parley.dev/cachedShare"]] : [],
  );
  assert.deepEqual(shares, [0.5, 0.8, undefined]);
});
