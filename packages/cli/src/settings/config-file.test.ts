import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type AgentConfig, agentConfigSchema } from "@parley/agent/config";
import { ConfigError, configSchema, parseConfig } from "@parley/client/config";
import { Ajv2020 } from "ajv/dist/2020.js";

const read = (text: string) => {
  const { config, warnings } = parseConfig(text, "config.json", agentConfigSchema);
  return { config: config as { readonly agent?: AgentConfig }, warnings }; // checked just now
};
const failure = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail("it was accepted");
};

test("a config file has comments and commas too many, and says what the agent does", () => {
  const { config, warnings } = read(`\uFEFF// mine
{
  "$schema": "file:///opt/parley/config.schema.json", /* "mode": "chat" */
  "agent": {
    "model": "work/qwen", // http://not.a.comment
    "providers": { "work": { "baseUrl": "http://127.0.0.1:8000/v1", "models": { "qwen": { "contextWindow": 1e3, }, }, }, },
    "mode": "code", "effort": "high", "autoApprove": "edits", "maxTurnRequests": 7,
  },
}
`);
  assert.deepEqual(warnings, []);
  assert.deepEqual(config.agent, {
    model: "work/qwen",
    providers: { work: { baseUrl: "http://127.0.0.1:8000/v1", models: { qwen: { contextWindow: 1000 } } } },
    mode: "code",
    effort: "high",
    autoApprove: "edits",
    maxTurnRequests: 7,
  });
});

test("an empty file is no mistake", () => {
  assert.deepEqual(read(" \n"), { config: {}, warnings: [] });
});

test("a name that is not known is reported with its path, and the rest is used", () => {
  const { config, warnings } = read(
    '{"agent":{"modle":"x","mode":"chat","providers":{"a b":{"url":"x"}}},"__proto__":{}}',
  );
  assert.equal(config.agent?.mode, "chat");
  assert.deepEqual(warnings, [
    "config.json: agent.modle is not known; there are model, providers, localServers, registry, mode, effort, autoApprove, maxTurnRequests, compactAt, sandbox, hooks, loginShell, mcpServers, privateHosts",
    'config.json: agent.providers."a b".url is not known; there are kind, baseUrl, apiKey, apiKeyEnv, headers, timeout, region, project, location, resource, apiVersion, models',
    "config.json: __proto__ is not known; there are $schema, agent, agents, client, chains, chat",
  ]);
});

test("every value that cannot be used is told at once, with what is wanted, and without what it says", () => {
  const message = failure(
    `{"agent":{"privateHosts":["a",1],"mode":"yolo","maxTurnRequests":0.5,"model":"","providers":{"w":{"baseUrl":["sk-secret-1"],"apiKey":5,
      "models":{"m":{"takesImages":"sk-secret-2","price":{"input":1}}}}}}}`,
  );
  assert.deepEqual(message.split("\n"), [
    "config.json: agent.privateHosts[1] must be a text, got 1",
    "config.json: agent.mode must be one of ask, code, architect, chat, got another text",
    "config.json: agent.maxTurnRequests must be a whole number from 1 on, got 0.5",
    "config.json: agent.model must be a text that is not empty, got an empty text",
    "config.json: agent.providers.w.baseUrl must be a text, got a list",
    "config.json: agent.providers.w.apiKey must be a text, got 5",
    "config.json: agent.providers.w.models.m.takesImages must be true or false, got another text",
    "config.json: agent.providers.w.models.m.price.output is missing",
  ]);
});

for (const [text, wanted] of [
  ['{\n  "agent": sk-secret-1\n}', /^config\.json:2:12: not JSON: expected a value$/],
  ['{"agent": {"model": "sk-secret-1}', /:1:21: not JSON: this quoted text does not end on its line/],
  ['{"agent": {"model": "sk-secret-1\\q"}}', /:1:21: .*an escape that JSON does not know/],
  ['{"agent": {} "sk-secret-1"}', /:1:14: .*expected "," or "\}"/],
  ["{sk-secret-1}", /:1:2: .*expected a quoted name or "\}"/],
  ['{"agent" {}}', /:1:10: .*expected ":"/],
  ['{"agent": {', /:1:12: .*expected a quoted name or "\}"/],
  ['{"agent": {"model": 1', /:1:22: .*expected "," or "\}"/],
  ['{"agent": ["sk-secret-1"', /:1:25: .*expected "," or "\]"/],
  ['{"agent":{},"agent":{}}', /:1:13: .*this name occurs twice/],
  ["{} x", /:1:4: .*unexpected text after the value/],
  ["/* without end", /:1:1: .*expected a value/],
  ["[".repeat(100), /:1:66: .*nested too deeply/],
  ["null", /the file must be an object, got null/],
  ["[1, 2,]", /the file must be an object, got a list/],
] as const) {
  test(`the place of a mistake is told, and nothing of the text: ${text.slice(0, 40)}`, () => {
    const message = failure(text);
    assert.match(message, wanted);
    assert.doesNotMatch(message, /sk-secret/);
  });
}

test("the schema that editors use is the one that files are checked by", () => {
  const file = new URL("../../config.schema.json", import.meta.url);
  const committed = JSON.parse(readFileSync(file, "utf8")) as object;
  assert.deepEqual(
    committed,
    JSON.parse(JSON.stringify(configSchema(agentConfigSchema))),
    "run: npm run generate",
  );
  const validate = new Ajv2020({ allErrors: true }).compile(committed);
  assert.equal(validate({ agent: { mode: "code", providers: { w: { baseUrl: "x" } } } }), true);
  for (const wrong of [
    { agent: { mode: "yolo" } },
    { other: 1 },
    { agent: { maxTurnRequests: 0 } },
    { chains: { a: [1] } },
  ]) {
    assert.equal(validate(wrong), false);
  }
});
