// Bedrock, Vertex and Azure: their addresses, credentials and wires.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, askInVain, testClock, textOf, withFake } from "../../test/fake-provider/asking.ts";
import { converseEvents, event, eventStream, exception } from "../../test/fake-provider/bedrock-wire.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import { failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import { geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { Model } from "../model/model.ts";
import { chooseModel, listModels } from "./choose-model.ts";
import { endpointOf, type ProviderConfig } from "./provider-config.ts";

type Variables = Readonly<Record<string, string>>;

const tools = [{ name: "fs/read", description: "Reads", inputSchema: { type: "object", properties: {} } }];
const sonnet = "amazon-bedrock/global.anthropic.claude-sonnet-5";
const account = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret-of-the-account" };

function chosen(model: string, provider: ProviderConfig, env: Variables): Model {
  const id = model.split("/")[0] ?? "";
  const found = chooseModel({ model, providers: { [id]: provider } }, env, {
    clock: testClock(),
    retries: { attempts: 1 },
  });
  assert.ok(found);
  return found;
}

test("Bedrock: a request is signed with the account's keys, for its region, and marked for the cache", async () => {
  const first = eventStream(converseEvents("Hello", [["t1", "fs_read", { path: "a" }]]));
  await withFake([first, eventStream(converseEvents("Done"))], async (fake) => {
    const env = { ...account, AWS_SESSION_TOKEN: "token-of-the-session", AWS_REGION: "eu-west-3" };
    const model = chosen(sonnet, { baseUrl: fake.url }, env);
    const answer = assistantMessage();
    const events = await ask(model, { tools, effort: "max" });
    for (const each of events) answer.add(each);
    assert.equal(textOf(events), "Hello");
    assert.deepEqual(
      answer.calls.map(({ id, name, input }) => [id, name, input]),
      [["t1", "fs/read", { path: "a" }]],
    );
    const end = events.at(-1);
    assert.ok(end?.type === "end");
    assert.deepEqual([end.cause, end.usage?.cachedInput], ["tool_calls", 100]);

    const outcomes = [
      { callId: "t1", name: "fs/read", content: [{ type: "text" as const, text: "42" }], isError: false },
    ];
    const user = { role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] };
    await ask(model, { tools, messages: [user, answer.message, { role: "tool", outcomes }] });
    const [{ path, headers, body } = assert.fail(), { body: next } = assert.fail()] = fake.requests;
    assert.equal(path, "/model/global.anthropic.claude-sonnet-5/converse-stream");
    assert.match(
      headers.authorization ?? "",
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-3\/bedrock\/aws4_request, /,
    );
    assert.equal(headers["x-amz-security-token"], "token-of-the-session");
    assert.deepEqual(body.system, [{ text: "You are a test." }, { cachePoint: { type: "default" } }]);
    assert.deepEqual(body.messages.at(-1).content.at(-1), { cachePoint: { type: "default" } });
    assert.equal(body.additionalModelRequestFields.output_config.effort, "max");
    assert.equal(next.messages[2].content[0].toolResult.toolUseId, "t1");
    assert.doesNotMatch(JSON.stringify([headers, body]), /secret-of-the-account/);
  });
});

test("TH25 Bedrock: an error that quotes the token of the session is shown without it", async () => {
  const quoting = failed(403, {
    message: "The token token-of-the-session or secret-of-the-account is wrong",
  });
  await withFake([quoting], async (fake) => {
    const env = { ...account, AWS_SESSION_TOKEN: "token-of-the-session", AWS_REGION: "eu-west-3" };
    const { error } = await askInVain(chosen(sonnet, { baseUrl: fake.url }, env));
    assert.match(error.message, /The token \*\*\* or \*\*\* is wrong/);
  });
});

test("Bedrock: an API key is used instead of the account, and thoughts go back with their signature", async () => {
  const thinking = [
    event("messageStart", { role: "assistant" }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "Hm." } } }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "SIG" } } }),
    event("contentBlockStop", { contentBlockIndex: 0 }),
    event("messageStop", { stopReason: "end_turn" }),
  ];
  await withFake([eventStream(thinking), eventStream(converseEvents("Done"))], async (fake) => {
    const env = { ...account, AWS_BEARER_TOKEN_BEDROCK: "bedrock-key" };
    const model = chosen(sonnet, { baseUrl: fake.url }, env);
    const answer = assistantMessage();
    const events = await ask(model, { effort: "high" });
    for (const each of events) answer.add(each);
    assert.equal(textOf(events, "thinking"), "Hm.");
    const user = { role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] };
    await ask(model, { effort: "high", messages: [user, answer.message, user] });
    assert.equal(fake.requests[0]?.headers.authorization, "Bearer bedrock-key");
    assert.match(JSON.stringify(fake.requests[1]?.body.messages[1]), /"signature":"SIG"/);
  });
});

test("Bedrock: a throttled stream, a refused key and a missing one are told apart", async () => {
  const throttled = eventStream([exception("throttlingException", "Too many tokens")]);
  const refused = failed(403, { message: "The security token included in the request is invalid" });
  await withFake([throttled, refused], async (fake) => {
    const model = chosen(sonnet, { baseUrl: fake.url }, account);
    assert.equal((await askInVain(model)).error.kind, "rate_limit");
    const { error } = await askInVain(model);
    assert.equal(error.kind, "auth");
    assert.doesNotMatch(error.message, /secret-of-the-account/);
    assert.throws(() => chosen(sonnet, { baseUrl: fake.url }, {}), {
      kind: "auth",
      message: /Set AWS_BEARER_TOKEN_BEDROCK or run: parley agent login amazon-bedrock/,
    });
  });
});

test("Vertex: a token goes to the project's own address, and signatures of thoughts go back", async () => {
  const first = geminiEvents([
    { text: "Hello" },
    { functionCall: { name: "fs_read", args: {} }, thoughtSignature: "SIG" },
  ]);
  await withFake([streamed(first), streamed(geminiEvents([{ text: "Done" }]))], async (fake) => {
    const baseUrl = `${fake.url}/v1beta1/projects/p/locations/l/publishers/google`;
    const env = { GOOGLE_VERTEX_PROJECT: "p", CLOUDSDK_AUTH_ACCESS_TOKEN: "ya29.token" };
    const model = chosen("google-vertex/gemini-2.5-pro", { baseUrl }, env);
    const answer = assistantMessage();
    const events = await ask(model, { tools, effort: "low" });
    for (const each of events) answer.add(each);
    assert.equal(textOf(events), "Hello");
    const user = { role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] };
    const outcomes = answer.calls.map(({ id, name }) => ({ callId: id, name, content: [], isError: false }));
    await ask(model, { tools, messages: [user, answer.message, { role: "tool", outcomes }] });
    const [{ path, headers, body } = assert.fail(), { body: next } = assert.fail()] = fake.requests;
    assert.equal(
      path,
      "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    );
    assert.equal(headers.authorization, "Bearer ya29.token");
    assert.equal(body.generationConfig.thinkingConfig.includeThoughts, true);
    assert.match(JSON.stringify(next.contents), /"thoughtSignature":"SIG"/);
  });
});

test("Vertex: an API key of the express mode needs no project", async () => {
  await withFake([streamed(geminiEvents([{ text: "Hello" }]))], async (fake) => {
    const env = { GOOGLE_VERTEX_API_KEY: "express" };
    await ask(chosen("google-vertex/gemini-2.5-pro", { baseUrl: fake.url }, env));
    assert.equal(fake.requests[0]?.headers["x-goog-api-key"], "express");
    assert.equal(fake.requests[0]?.headers.authorization, undefined);
  });
});

test("Azure: a deployment gets the key in the header api-key, and thinks if the config says so", async () => {
  await withFake([streamed(responsesEvents({ text: ["Hello"] }))], async (fake) => {
    const models = { "my-deployment": { efforts: ["low", "high"] } as const };
    const model = chosen(
      "azure/my-deployment",
      { baseUrl: `${fake.url}/openai/v1`, models },
      { AZURE_API_KEY: "azure-key" },
    );
    assert.equal(textOf(await ask(model, { effort: "xhigh", cacheKey: "s1" })), "Hello");
    const [{ path, headers, body } = assert.fail()] = fake.requests;
    assert.equal(path, "/openai/v1/responses");
    assert.equal(headers["api-key"], "azure-key");
    assert.equal(headers.authorization, undefined);
    assert.deepEqual(
      [body.model, body.store, body.reasoning.effort, body.prompt_cache_key],
      ["my-deployment", false, "high", "s1"],
    );
  });
});

test("Azure: with an API version, the address names the deployment", async () => {
  await withFake([streamed(chatEvents({ text: ["Hello"] }))], async (fake) => {
    const provider = { baseUrl: `${fake.url}/openai`, apiVersion: "2024-10-21", apiKey: "k" };
    const model = chosen("azure/gpt-4.1", provider, {});
    assert.equal(model.facts.contextWindow, 1_047_576, "the facts of the model with this name");
    assert.equal(model.facts.price, undefined, "the price is Azure's own");
    assert.equal(textOf(await ask(model)), "Hello");
    const [{ path, headers } = assert.fail()] = fake.requests;
    assert.equal(path, "/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21");
    assert.equal(headers["api-key"], "k");
  });
});

for (const [id, provider, env, address] of [
  ["amazon-bedrock", {}, {}, "https://bedrock-runtime.us-east-1.amazonaws.com"],
  [
    "amazon-bedrock",
    { region: "eu-west-1" },
    { AWS_REGION: "x" },
    "https://bedrock-runtime.eu-west-1.amazonaws.com",
  ],
  [
    "google-vertex",
    {},
    { GOOGLE_CLOUD_PROJECT: "p" },
    "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google",
  ],
  [
    "google-vertex",
    { project: "p", location: "eu" },
    {},
    "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/publishers/google",
  ],
  [
    "google-vertex",
    { project: "p" },
    { GOOGLE_VERTEX_LOCATION: "us-east5" },
    "https://us-east5-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-east5/publishers/google",
  ],
  ["azure", { resource: "mine" }, {}, "https://mine.openai.azure.com/openai/v1"],
  ["azure", {}, { AZURE_OPENAI_ENDPOINT: "https://mine.example.com/" }, "https://mine.example.com/openai/v1"],
  ["azure", { resource: "mine", apiVersion: "v" }, {}, "https://mine.openai.azure.com/openai"],
] as const) {
  test(`the address of ${id} with ${JSON.stringify({ ...provider, ...env })} is ${address}`, () => {
    const endpoint = endpointOf(id, { providers: { [id]: provider } }, env, () => undefined);
    assert.equal(endpoint.baseUrl, address);
  });
}

test("a cloud without what its address needs is refused in words, and never chosen by chance", () => {
  assert.throws(
    () => chooseModel({ model: "google-vertex/gemini-2.5-pro" }, {}),
    /Set GOOGLE_VERTEX_PROJECT/,
  );
  assert.throws(() => chooseModel({ model: "azure/x" }, { AZURE_API_KEY: "k" }), /Set AZURE_RESOURCE_NAME/);
  assert.throws(
    () => chooseModel({ model: "azure" }, { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "r" }),
    /Azure OpenAI has no default model. Name a deployment: azure\/NAME/,
  );
  // A host that is not a plain name would get the key.
  const evil = { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "evil.example/x" };
  assert.throws(() => chooseModel({ model: "azure/x" }, evil), /Set AZURE_RESOURCE_NAME/);
  // An account of AWS and a project of Google are there for other things.
  assert.deepEqual(listModels({}, { ...account, GOOGLE_CLOUD_PROJECT: "p", AZURE_API_KEY: "k" }), []);
});
