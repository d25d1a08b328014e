// Ollama, LM Studio, llama.cpp and vLLM on this machine, and how their models come to be chosen.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { memoryStore } from "@parley/acp/store";
import { withFake } from "../../../test/fake-provider/asking.ts";
import { chatEvents } from "../../../test/fake-provider/chat-wire.ts";
import { type Answer, streamed } from "../../../test/fake-provider/fake-provider.ts";
import { connected, temporaryFolder } from "../../../test/support/agent-probe.ts";
import { openAccount } from "../../auth/account.ts";
import { credentialsFile } from "../../auth/credentials-file.ts";
import type { ModelConfig } from "../provider-config.ts";
import { findLocalServers } from "./local-servers.ts";

/** Answers by path. A value may depend on the body. */
function served(routes: Readonly<Record<string, unknown>>): Answer {
  return (exchange, index) => {
    const { path, body } = exchange.request;
    const route = routes[path];
    if (path === "/v1/chat/completions") return streamed(chatEvents({ text: ["Hello"] }))(exchange, index);
    if (route === undefined) return exchange.json(404, {});
    exchange.json(200, typeof route === "function" ? route(body) : route);
  };
}

const shown: Readonly<Record<string, unknown>> = {
  "qwen3:30b": {
    capabilities: ["completion", "tools", "thinking"],
    model_info: { "qwen3.context_length": 262_144 },
  },
  "gemma3:4b": {
    capabilities: ["completion", "vision"],
    model_info: { "gemma3.context_length": 131_072 },
    parameters: "stop  <end>\nnum_ctx 65536",
  },
  "tiny:1b": { capabilities: ["completion"], model_info: { "tiny.context_length": 2_048 } },
  "loaded:7b": { capabilities: ["completion"], model_info: { "loaded.context_length": 131_072 } },
  "embed:1b": { capabilities: ["embedding"] },
};

const ollama = served({
  "/api/tags": { models: [...Object.keys(shown), "bad\u001b[2Jname"].map((name) => ({ name })) },
  "/api/ps": { models: [{ name: "loaded:7b", context_length: 100_000 }] },
  "/api/show": ({ model }: { model: string }) => shown[model],
});

test("Ollama: its models with the windows that they get, images and thinking", async () => {
  await withFake([ollama], async (fake) => {
    const [server] = await findLocalServers([{ id: "ollama", baseUrl: `${fake.url}/v1` }], 20_000);
    assert.deepEqual(
      [...(server?.models.values() ?? [])].map(({ name, contextWindow, takesImages, efforts }) =>
        [name, contextWindow, takesImages, efforts?.length].join(" "),
      ),
      [
        "qwen3:30b 32768 false 4",
        "gemma3:4b 65536 true 0",
        "tiny:1b 2048 false 0",
        "loaded:7b 100000 false 0",
      ],
    );
  });
});

for (const [id, routes, models] of [
  [
    "lmstudio",
    {
      "/api/v0/models": {
        data: [
          { id: "a", type: "llm", max_context_length: 40_000, loaded_context_length: 8_192, state: "loaded" },
          { id: "b", type: "vlm", max_context_length: 40_000, state: "not-loaded" },
          { id: "c", type: "embeddings", max_context_length: 512 },
        ],
      },
    },
    ["a 8192 false", "b 40000 true"],
  ],
  [
    "llamacpp",
    {
      "/props": { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } },
      "/v1/models": { data: [{ id: "model.gguf" }] },
    },
    ["model.gguf 16384 true"],
  ],
  ["vllm", { "/v1/models": { data: [{ id: "org/model", max_model_len: 65_536 }] } }, ["org/model 65536 "]],
] as const) {
  test(`${id}: its models with their windows`, async () => {
    await withFake([served(routes)], async (fake) => {
      const [server] = await findLocalServers([{ id, baseUrl: `${fake.url}/v1` }], 20_000);
      const found = [...(server?.models.values() ?? [])];
      assert.deepEqual(
        found.map(({ name, contextWindow, takesImages }) => [name, contextWindow, takesImages].join(" ")),
        models,
      );
    });
  });
}

test("another program at the port of a server, a silent one and an empty port are no servers", async () => {
  const other = served({ "/v1/models": { data: [{ id: "x" }] }, "/props": { hello: 1 }, "/api/tags": [] });
  const silent: Answer = (exchange) => exchange.open();
  await withFake([other], async (fake) => {
    await withFake([silent], async (mute) => {
      const ids = ["ollama", "lmstudio", "llamacpp", "vllm"];
      const addresses = ids.flatMap((id) =>
        [fake.url, mute.url, "http://127.0.0.1:1"].map((url) => ({ id, baseUrl: `${url}/v1` })),
      );
      assert.deepEqual(await findLocalServers(addresses, 500), []);
      assert.ok(
        fake.requests.every(({ headers }) => headers.authorization === undefined),
        "no key is sent",
      );
    });
  });
});

function account(t: TestContext, config: ModelConfig) {
  const folder = mkdtempSync(join(tmpdir(), "parley-local-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const nowhere = { baseUrl: "http://127.0.0.1:1/v1" };
  const providers = { lmstudio: nowhere, llamacpp: nowhere, vllm: nowhere, ...config.providers };
  const credentials = credentialsFile(join(folder, "credentials.json"));
  return openAccount({ config: { ...config, providers }, env: {}, credentials });
}

test("a session offers the models of a local server as soon as it is found, and can use them", {
  timeout: 20_000,
}, async (t) => {
  await withFake([ollama], async (fake) => {
    const { models, discover } = account(t, {
      model: "offline",
      providers: { ollama: { baseUrl: `${fake.url}/v1` } },
    });
    assert.equal(fake.requests.length, 0, "nobody is asked before a session begins");
    const cwd = temporaryFolder(t, {});
    const store = memoryStore();
    const { agent, end } = await connected({ version: 2, cwd, configured: models, discover, store });
    const offered = Promise.withResolvers<void>();
    const session = await agent.newSession({
      cwd,
      onUpdate: (update) => {
        if (JSON.stringify(update).includes('"value":"ollama/qwen3:30b"')) offered.resolve();
      },
    });
    await offered.promise;
    await session.setConfigOption("model", "ollama/qwen3:30b");
    const effort = session.configOptions.find(({ configId }) => configId === "effort");
    assert.equal(effort?.type === "select" && effort.currentValue, "medium");
    const { stopReason } = await session.prompt("hi").result;
    assert.equal(stopReason, "end_turn");
    const request = fake.requests.at(-1)?.body;
    assert.deepEqual([request.model, request.reasoning_effort], ["qwen3:30b", "medium"]);
    const { sessionId } = session;
    await end();

    // a new process does not know the server yet
    const later = account(t, { model: "offline", providers: { ollama: { baseUrl: `${fake.url}/v1` } } });
    const options = { version: 2 as const, cwd, configured: later.models, discover: later.discover, store };
    const again = await connected(options);
    const loaded = await again.agent.loadSession(sessionId, { cwd });
    const restored = loaded.configOptions.find(({ configId }) => configId === "model");
    assert.equal(restored?.type === "select" && restored.currentValue, "ollama/qwen3:30b");
  });
});

test("the first prompt already knows the window of the local model that was chosen", {
  timeout: 20_000,
}, async (t) => {
  const asked = Promise.withResolvers<void>();
  const slow: Answer = async (exchange, index) => {
    // the prompt is sent before the server has said anything of its models
    if (exchange.request.path.startsWith("/api/")) await asked.promise;
    return ollama(exchange, index);
  };
  await withFake([slow], async (fake) => {
    const { models, discover } = account(t, {
      model: "ollama/loaded:7b",
      providers: { ollama: { baseUrl: `${fake.url}/v1` } },
    });
    const cwd = temporaryFolder(t, {});
    const { agent, end } = await connected({ version: 2, cwd, configured: models, discover });
    const sizes: number[] = [];
    const session = await agent.newSession({
      cwd,
      onUpdate: (update) => {
        if (update.sessionUpdate === "state_update") asked.resolve();
        if (update.sessionUpdate === "usage_update") sizes.push(update.size);
      },
    });
    await session.prompt("hi").result;
    assert.deepEqual(sizes, [100_000]);
    await end();
  });
});

test("the config can forbid to look for servers, and their answers are used for a while", async (t) => {
  await withFake([ollama], async (fake) => {
    const providers = { ollama: { baseUrl: `${fake.url}/v1` } };
    const off = account(t, { providers, localServers: false });
    await off.discover();
    assert.equal(fake.requests.length, 0);
    const on = account(t, { providers });
    await on.discover();
    const { length } = fake.requests;
    assert.ok(length > 0);
    const before = on.models().models;
    // whatever listens there may call its models as it likes
    const named = before.map(({ facts }) => facts).filter(({ id }) => id.startsWith("ollama/"));
    assert.ok(named.length > 0 && named.every(({ name }) => name.endsWith(" (Ollama)")));
    await on.discover();
    assert.equal(fake.requests.length, length);
    assert.deepEqual(on.models().models, before, "model objects stay the same");
  });
});
