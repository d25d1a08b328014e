import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, askInVain, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import { streamed } from "../../test/fake-provider/fake-provider.ts";
import { costOf } from "../model/tokens.ts";
import { chooseModel, listModels } from "./choose-model.ts";

const hello = streamed(chatEvents({ text: ["Hello"] }));

test("no model is chosen without a configuration or for offline", () => {
  assert.equal(chooseModel({}, {}), undefined);
  assert.equal(chooseModel({ model: "offline" }, { ANTHROPIC_API_KEY: "k" }), undefined);
  assert.equal(chooseModel({}, { PARLEY_MODEL: "offline", ANTHROPIC_API_KEY: "k" }), undefined);
  // A variable that is set to nothing is not set.
  assert.equal(chooseModel({}, { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: " " }), undefined);
});

for (const [env, id] of [
  [{ ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5"],
  [{ OPENAI_API_KEY: "k" }, "openai/gpt-6.1-sol"],
  [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google/gemini-4-argon"],
  [{ GEMINI_API_KEY: "k" }, "google/gemini-4-argon"],
  [{ OLLAMA_HOST: "127.0.0.1:11434" }, "ollama/auto"],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:8000/v1" }, "openai/auto"],
  [{ OPENAI_BASE_URL: "https://api.openai.com/v1", OPENAI_API_KEY: "k" }, "openai/gpt-6.1-sol"],
  [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5"],
  [{ OPENAI_API_KEY: "k", PARLEY_MODEL: "openai/gpt-5.2" }, "openai/gpt-5.2"],
  [{ OPENAI_API_KEY: "k", PARLEY_MODEL: "openai" }, "openai/gpt-6.1-sol"],
  [{ OPENAI_API_KEY: "k", PARLEY_MODEL: "gpt-9" }, "openai/gpt-9"],
  [{ ANTHROPIC_API_KEY: "k", PARLEY_MODEL: "claude-opus-5-5" }, "anthropic/claude-opus-5-5"],
  [{ PARLEY_MODEL: "ollama/library/qwen3:30b" }, "ollama/library/qwen3:30b"],
] as const) {
  test(`${JSON.stringify(env)} chooses ${id}`, () => {
    assert.equal(chooseModel({}, env)?.facts.id, id);
  });
}

test("the user's choice overrides the environment, the config and the guess, in this order", () => {
  const config = { model: "google/gemini-2.5-pro" };
  const env = { ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k" };
  assert.equal(chooseModel(config, env)?.facts.id, "google/gemini-2.5-pro");
  const named = { ...env, PARLEY_MODEL: "claude-opus-5" };
  assert.equal(chooseModel(config, named)?.facts.id, "anthropic/claude-opus-5");
  assert.equal(chooseModel(config, named, { model: "gemini-4-argon" })?.facts.id, "google/gemini-4-argon");
  assert.equal(chooseModel(config, named, { model: "offline" }), undefined);
});

test("a provider without a key is an error that says how to get one", () => {
  assert.throws(() => chooseModel({ model: "anthropic/claude-opus-5" }, {}), {
    name: "ModelError",
    kind: "auth",
    message: "Anthropic needs an API key. Set ANTHROPIC_API_KEY or run: parley agent login anthropic",
  });
  const providers = { work: { baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "WORK_KEY" } };
  assert.throws(() => chooseModel({ model: "work/x", providers }, {}), {
    kind: "auth",
    message: /Set WORK_KEY/,
  });
});

test("a key that was stored by a login counts, from the next request on", async () => {
  await withFake([hello], async (fake) => {
    let stored: string | undefined = "first-key";
    const providers = { openai: { kind: "openai-chat", baseUrl: fake.url } } as const;
    const model = chooseModel({ providers, model: "gpt-4.1" }, {}, { credentials: () => stored });
    await ask(model!);
    stored = "second-key";
    await ask(model!);
    stored = undefined;
    assert.equal((await askInVain(model!)).error.kind, "auth");
    assert.deepEqual(
      fake.requests.map(({ headers }) => headers.authorization),
      ["Bearer first-key", "Bearer second-key"],
    );
  });
});

test("any server by its address, with its own headers", async () => {
  await withFake([hello], async (fake) => {
    const headers = { "x-team": "parley" };
    const providers = { work: { baseUrl: `${fake.url}/api/v1/`, headers } };
    await ask(chooseModel({ model: "work/team/model", providers }, {})!);
    assert.equal(fake.requests[0]?.path, "/api/v1/chat/completions");
    assert.equal(fake.requests[0]?.headers["x-team"], "parley");
    assert.equal(fake.requests[0]?.body.model, "team/model");
  });
});

test("OLLAMA_HOST may be a host, a port, an address to listen on or a URL", async () => {
  await withFake([hello], async (fake) => {
    const port = new URL(fake.url).port;
    for (const host of [
      `127.0.0.1:${port}`,
      `0.0.0.0:${port}`,
      `:${port}`,
      fake.url,
      `${fake.url}/`,
      `${fake.url}/v1`,
    ]) {
      await ask(chooseModel({ model: "ollama/x" }, { OLLAMA_HOST: host })!);
    }
    assert.deepEqual(new Set(fake.requests.map(({ path }) => path)), new Set(["/v1/chat/completions"]));
    assert.equal(fake.requests.length, 6);
  });
});

for (const [config, message] of [
  [
    { model: "nowhere/x" },
    /"nowhere\/x" has an unknown provider.*anthropic, openai, google, openrouter.*ollama/,
  ],
  [{ model: "work/x", providers: { work: {} } }, /"work" has no address/],
  [
    { model: "work/x", providers: { work: { baseUrl: "127.0.0.1:80" } } },
    /"work" is not an http or https URL/,
  ],
  [
    { model: "work/x", providers: { work: { baseUrl: "http://me:secret@127.0.0.1/v1" } } },
    /contains a user name/,
  ],
] as const) {
  test(`${JSON.stringify(config)} is refused in words`, () => {
    const isRight = (error: Error): boolean => message.test(error.message) && !/secret/.test(error.message);
    assert.throws(() => chooseModel(config, {}), isRight);
  });
}

test("known facts of a model: dated names match, the config overrides", () => {
  const env = { ANTHROPIC_API_KEY: "k", OLLAMA_HOST: "127.0.0.1" };
  const dated = chooseModel({ model: "claude-sonnet-4-5-20250929" }, env)!.facts;
  assert.equal(dated.id, "anthropic/claude-sonnet-4-5-20250929");
  assert.equal(dated.name, "Claude Sonnet 4.5");
  assert.equal(dated.contextWindow, 200_000);
  assert.deepEqual([dated.takesImages, dated.takesAudio, dated.takesDocuments], [true, false, true]);
  assert.equal(dated.price?.output, 15);

  const unknown = chooseModel({ model: "claude-next-9" }, env)!.facts;
  assert.equal(unknown.contextWindow, 200_000);
  assert.equal(unknown.price, undefined);

  const models = { "qwen3:30b": { contextWindow: 65_536, efforts: ["low", "high"] as const } };
  const local = chooseModel({ model: "ollama/qwen3:30b", providers: { ollama: { models } } }, env)!.facts;
  assert.deepEqual([local.contextWindow, local.efforts, local.takesImages], [65_536, ["low", "high"], false]);
});

test("cost: tokens times price, more for long prompts, undefined for unknown prices", () => {
  const price = { input: 2, output: 10, cachedInput: 0.2, long: { above: 200_000, input: 2, output: 1.5 } };
  assert.equal(costOf(price, { input: 1_000, output: 100, cachedInput: 500 }), 0.0021);
  assert.equal(costOf(price, { input: 300_000, output: 1_000 }), 1.215);
  assert.equal(costOf({ input: 1, output: 1 }, { input: 10, output: 0, cachedInput: 10 }), 0.00001);
  assert.equal(costOf(undefined, { input: 1, output: 1 }), undefined);
});

test("the available models are those of providers with a key and those in the config", () => {
  assert.deepEqual(listModels({}, {}), []);
  const ids = listModels(
    { providers: { work: { baseUrl: "http://127.0.0.1:1/v1", models: { a: {}, b: {} } }, openai: {} } },
    { ANTHROPIC_API_KEY: "k", OLLAMA_HOST: "127.0.0.1" },
    { credentials: (provider) => (provider === "google" ? "k" : undefined) },
  ).map(({ facts }) => facts.id);
  assert.ok(ids.includes("anthropic/claude-sonnet-5-5"));
  assert.ok(ids.includes("google/gemini-4-argon"));
  assert.ok(!ids.some((id) => id.startsWith("openai/")));
  assert.deepEqual(ids.slice(-3), ["ollama/auto", "work/a", "work/b"]);
});
