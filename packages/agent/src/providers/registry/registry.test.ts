// The registry of models: what it says, how it is read and how it is refreshed.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withFake } from "../../../test/fake-provider/asking.ts";
import type { Answer } from "../../../test/fake-provider/fake-provider.ts";
import { builtins } from "../builtin-providers.ts";
import { chooseModel, listModels } from "../choose-model.ts";
import { builtInRegistry } from "./built-in.ts";
import { refreshRegistry, storedRegistry } from "./refresh.ts";
import { decodeRegistry, mergedRegistry } from "./registry.ts";

const model = {
  name: "New",
  limit: { context: 500_000, output: 64_000 },
  modalities: { input: ["text", "image", "pdf"] },
  reasoning: true,
  reasoning_options: [{ type: "effort", values: ["xhigh", "low", null, "default"] }],
  cost: { input: 1, output: 4, cache_read: 0.1, tiers: [{ tier: { size: 200_000 }, input: 2, output: 6 }] },
};

function file(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-registry-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "models.json");
}

const json =
  (body: unknown): Answer =>
  (exchange) =>
    exchange.json(200, body);

test("every built-in model belongs to a built-in provider, and has a window and an output limit that fit", () => {
  for (const [id, models] of builtInRegistry) {
    assert.ok(Object.hasOwn(builtins, id), id);
    assert.ok(models.size > 0, id);
    for (const [name, { contextWindow = 0, maxOutput = 0, efforts, price }] of models) {
      const at = `${id}/${name}`;
      assert.ok(contextWindow >= 100_000 && maxOutput >= 8_000, at);
      assert.ok(maxOutput <= contextWindow, at);
      assert.ok(efforts !== undefined, at);
      assert.ok(price === undefined || price.output >= price.input, at);
    }
  }
});

test("a model has every effort level that it was published with, and one that does not think has none", () => {
  const efforts = (id: string) =>
    chooseModel({ model: id }, {}, { isKeyOptional: true })?.facts.efforts?.join(" ");
  assert.equal(efforts("claude-sonnet-5-5"), "low medium high xhigh max");
  assert.equal(efforts("claude-opus-5"), "none low medium high xhigh max");
  assert.equal(efforts("claude-haiku-4-5"), "none low medium high");
  assert.equal(efforts("gpt-6.1-sol"), "low medium high xhigh max");
  assert.equal(efforts("gpt-6-luna"), "none low medium high xhigh max");
  assert.equal(efforts("gpt-4.1"), "");
  assert.equal(efforts("gemini-4-argon"), "minimal low medium high");
  assert.equal(efforts("gemini-2.5-flash"), "none low medium high");
  assert.equal(efforts("deepseek/deepseek-v4-pro"), "high max");
  assert.equal(efforts("cerebras/zai-glm-4.7"), "", "what can only be switched off has no levels");
});

test("facts are read from the format of models.dev; what cannot be used is left out", () => {
  const registry = decodeRegistry({
    openai: {
      models: {
        new: model,
        "new-embedding": { ...model, limit: { context: 0, output: 0 } },
        "no-tools": { ...model, tool_call: false },
        "bad\u001bname": model,
        unpriced: { ...model, cost: undefined, reasoning: false, reasoning_options: undefined },
        vague: { ...model, reasoning_options: undefined },
      },
    },
  });
  const models = registry.get("openai");
  assert.deepEqual([...(models?.keys() ?? [])], ["new", "unpriced", "vague"]);
  assert.deepEqual(models?.get("new"), {
    name: "New",
    contextWindow: 500_000,
    maxOutput: 64_000,
    takesImages: true,
    takesAudio: false,
    takesDocuments: true,
    efforts: ["low", "xhigh"],
    price: { input: 1, output: 4, cachedInput: 0.1, long: { above: 200_000, input: 2, output: 1.5 } },
  });
  assert.equal("price" in (models?.get("unpriced") ?? {}), false);
  assert.deepEqual(models?.get("unpriced")?.efforts, []);
  assert.equal(models?.get("vague")?.efforts, undefined, "the levels are not known");
});

for (const [what, document, message] of [
  ["no object", [], /must be an object/],
  ["a provider without models", { openai: {} }, /openai\.models must be an object, got undefined/],
  [
    "a window in words",
    { openai: { models: { x: { limit: { context: "big" } } } } },
    /limit\.context must be/,
  ],
  [
    "a negative price",
    { openai: { models: { x: { ...model, cost: { input: -1, output: 1 } } } } },
    /openai\.models\.x\.cost\.input must be a price/,
  ],
  ["an endless window", { openai: { models: { x: { limit: { context: 1e300 } } } } }, /number of tokens/],
] as const) {
  test(`a registry with ${what} is refused, with the place`, () => {
    assert.throws(() => decodeRegistry(document), { name: "RegistryError", message });
  });
}

test("a refresh stores what is used of the document, and its facts replace the built-in ones", async (t) => {
  const path = file(t);
  const sonnet = { ...model, name: "Sonnet, renewed", cost: { input: 9, output: 9 } };
  const document = {
    anthropic: { id: "anthropic", env: ["X"], models: { "claude-sonnet-5-5": { ...sonnet, weights: "no" } } },
    unknown: { models: { x: model } },
    deepseek: { models: { "deepseek-next": model } },
  };
  await withFake([json(document)], async (fake) => {
    await refreshRegistry({
      path,
      providers: ["anthropic", "deepseek", "xai"],
      url: `${fake.url}/api.json`,
      env: {},
    });
  });
  assert.doesNotMatch(readFileSync(path, "utf8"), /unknown|weights|env/);
  const registry = mergedRegistry(builtInRegistry, storedRegistry(path));
  const env = { ANTHROPIC_API_KEY: "k", DEEPSEEK_API_KEY: "k" };
  const facts = chooseModel({}, env, { registry })?.facts;
  assert.deepEqual(
    [facts?.id, facts?.name, facts?.contextWindow, facts?.price],
    ["anthropic/claude-sonnet-5-5", "Sonnet, renewed", 500_000, { input: 9, output: 9 }],
  );
  const ids = listModels({}, env, { registry }).map((each) => each.facts.id);
  assert.ok(ids.includes("deepseek/deepseek-next"), "a new model can be chosen");
  assert.ok(ids.includes("anthropic/claude-opus-5-5"), "others stay");
});

for (const [what, answer, message] of [
  ["is not there", (exchange) => exchange.json(500, {}), /answered 500/],
  ["is no JSON", (exchange) => exchange.text(200, "<html>", "text/html"), /is not JSON/],
  ["has other data", json({ hello: "world" }), /without any model/],
  ["has bad data", json({ openai: { models: { x: { limit: { context: "1" } } } } }), /limit\.context/],
  [
    "leads elsewhere",
    (exchange) => exchange.json(302, {}, { location: "http://127.0.0.1:1/" }),
    /could not be read/,
  ],
  [
    "never ends",
    async (exchange) => {
      exchange.open();
      const spaces = Buffer.alloc(1024 * 1024, " ");
      for (let count = 0; count < 40; count++) await exchange.write(spaces).catch(() => undefined);
      exchange.end();
    },
    /larger than/,
  ],
] as const satisfies readonly (readonly [string, Answer, RegExp])[]) {
  test(`a refresh from a registry that ${what} is refused, and the old one stays`, async (t) => {
    const path = file(t);
    writeFileSync(path, JSON.stringify({ openai: { models: { old: model } } }));
    const before = readFileSync(path, "utf8");
    await withFake([answer], async (fake) => {
      const refresh = refreshRegistry({ path, providers: ["openai"], url: fake.url, env: {} });
      await assert.rejects(refresh, { name: "RegistryError", message });
    });
    assert.equal(readFileSync(path, "utf8"), before);
    assert.deepEqual(readdirSync(join(path, "..")), ["models.json"], "no draft is left");
  });
}

test("a registry is fetched by https only, except on this machine", async (t) => {
  const refresh = refreshRegistry({ path: file(t), providers: [], url: "http://example.org/x", env: {} });
  await assert.rejects(refresh, /must be an https URL/);
});

test("a stored registry that cannot be read does not matter", (t) => {
  const path = file(t);
  assert.equal(storedRegistry(path), undefined);
  writeFileSync(path, "{");
  assert.equal(storedRegistry(path), undefined);
});
