// Tests that a provider is loaded only when its model gets the first request.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import { streamed } from "../../test/fake-provider/fake-provider.ts";

const program = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) });
  const packages = () => [...new Set(loaded.filter((name) => /^(?:@ai-sdk|ai|zod|undici)\\b/.test(name)))].sort();
  await import(process.argv[1] + "/../index.ts");
  const { chooseModel } = await import(process.argv[1] + "/choose-model.ts");
  const providers = { ollama: { baseUrl: process.argv[2] } };
  const model = chooseModel({ model: "ollama/x", providers }, {});
  const before = packages();
  const signal = new AbortController().signal;
  const messages = [{ role: "user", content: [{ type: "text", text: "Hello" }] }];
  let text = "";
  for await (const event of model.stream({ system: "", messages, tools: [], effort: "none", signal })) text += event.text ?? "";
  const after = packages().filter((name) => /^@ai-sdk\\/(?!provider)/.test(name));
  console.log(JSON.stringify({ before, text, after }));
`;

test("choosing a model loads no provider, asking it loads its own only", async () => {
  await withFake([streamed(chatEvents({ text: ["Hello"] }))], async (fake) => {
    const flags = ["--conditions=parley-source", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...flags,
      new URL(".", import.meta.url).href.replace(/\/$/, ""),
      fake.url,
    ]);
    assert.deepEqual(JSON.parse(stdout), {
      before: [],
      text: "Hello",
      after: ["@ai-sdk/openai-compatible"],
    });
  });
});
