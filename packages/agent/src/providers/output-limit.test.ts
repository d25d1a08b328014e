import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { ask, modelAt, withFake } from "../../test/fake-provider/asking.ts";
import { streamed } from "../../test/fake-provider/fake-provider.ts";

const hello = streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hello"] }] }));

for (const [id, maxTokens, expected] of [
  ["zai/glm-5", undefined, 32_000],
  ["zai/glm-5", 20_000, 20_000],
  ["anthropic/claude-sonnet-4-5", 30_000, 30_000],
] as const) {
  test(`B5 thinking is part of the output limit: ${id}, ${maxTokens ?? "no wish"}`, async () => {
    await withFake([hello], async (fake) => {
      const model = modelAt(fake.url, id, { kind: "anthropic" });
      await ask(model, { effort: "medium", maxTokens });
      const { max_tokens, thinking } = fake.requests[0]?.body ?? {};
      assert.equal(max_tokens, expected);
      assert.ok(thinking.budget_tokens < max_tokens);
    });
  });
}

test("B5 a short answer that the user has chosen comes beside the thinking", async () => {
  await withFake([hello], async (fake) => {
    await ask(modelAt(fake.url, "anthropic/claude-sonnet-4-5"), { effort: "medium", maxTokens: 1_024 });
    const { max_tokens, thinking } = fake.requests[0]?.body ?? {};
    assert.equal(max_tokens, thinking.budget_tokens + 1_024);
  });
});
