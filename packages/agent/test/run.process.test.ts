// Tests what `parley run` shows of tokens and failures: from the provider's bytes to the output of the command.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anthropicError, anthropicEvents } from "./fake-provider/anthropic-wire.ts";
import { withFake } from "./fake-provider/asking.ts";
import { failed, streamed } from "./fake-provider/fake-provider.ts";
import { type Home, home, launcher, patience } from "./support/process-probe.ts";

/** Not synchronous: the provider is in this process. */
function run(place: Home, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, ...place.env };
  return new Promise((resolve) => {
    execFile(launcher, ["run", ...args], { cwd: place.cwd, env }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
}

const endOf = (stdout: string) => JSON.parse(stdout.trim().split("\n").at(-1) ?? "");

test(
  "tokens that the provider reports are in the end line and in the last line on stderr",
  patience,
  async (t) => {
    const startUsage = { input_tokens: 100, cache_creation_input_tokens: 20, cache_read_input_tokens: 30 };
    const usage = { output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } };
    const blocks = [{ type: "text" as const, pieces: ["Hello."] }];
    await withFake([streamed(anthropicEvents({ blocks, startUsage, usage }))], async (fake) => {
      const place = home(t);
      const provider = { baseUrl: `${fake.url}/v1`, apiKey: "sk-test-0123456789" };
      place.configure({ agent: { model: "anthropic", providers: { anthropic: provider } } });
      const { text, usage: tokens } = endOf((await run(place, "--json", "--no-history", "hi")).stdout);
      assert.equal(text, "Hello.");
      assert.deepEqual(tokens, {
        totalTokens: 200,
        inputTokens: 150,
        outputTokens: 50,
        thoughtTokens: 20,
        cachedReadTokens: 30,
        cachedWriteTokens: 20,
      });
      assert.match((await run(place, "--no-history", "hi")).stderr, /200 tokens/);
    });
  },
);

test("a wrong key is told in the provider's words", patience, async (t) => {
  const refused = failed(401, anthropicError("authentication_error", "invalid x-api-key"));
  await withFake([refused], async (fake) => {
    const place = home(t);
    const provider = { baseUrl: `${fake.url}/v1`, apiKey: "sk-test-0123456789" };
    place.configure({ agent: { model: "anthropic", providers: { anthropic: provider } } });
    const { exitCode, error } = endOf((await run(place, "--json", "--no-history", "hi")).stdout);
    assert.equal(exitCode, 6);
    assert.match(error.message, /Anthropic did not accept the API key/);
  });
});

test("the message of an Error that an agent's handler throws reaches the user", patience, async (t) => {
  const place = home(t);
  const program = join(place.cwd, "throws.ts");
  const acp = (entry: string) => JSON.stringify(import.meta.resolve(entry));
  writeFileSync(
    program,
    `import { agent } from ${acp("@parley/acp")};
import { serveStdio } from ${acp("@parley/acp/node")};
await serveStdio(agent({
  name: "throws",
  version: "1.0.0",
  prompt() {
    throw new Error("the model quux is not installed");
  },
}));
`,
  );
  const command = [process.execPath, "--conditions=parley-source", program];
  const { stderr } = await run(place, "--no-history", "hi", "--", ...command);
  assert.match(stderr, /^parley: the agent returned an error: the model quux is not installed \(-32603\)$/m);
});
