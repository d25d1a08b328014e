// Tests requests from MCP servers: questions reach the user, unsupported requests are refused.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { ClientDefinition, ElicitationRequest } from "@parley/acp";
import {
  calls,
  said,
  says,
  scriptedModel,
  temporaryFolder,
  thought,
} from "../../test/support/agent-probe.ts";
import {
  outcomesOf,
  realServer,
  remoteServer,
  scriptServer,
  talkUntilEnd,
} from "../../test/support/mcp-probe.ts";

const patient = { timeout: 60_000 };

const form = {
  message: "Which branch?",
  requestedSchema: { type: "object", properties: { branch: { type: "string" } }, required: ["branch"] },
};

/** Its tool asks what its arguments say, and gives the answer. */
const asking = `let seen;
const answer = async (method, params) => {
  if (method === "initialize") { seen = params.capabilities; return hello({ tools: {} }); }
  if (method === "tools/list") return { tools: [tool("ask"), tool("capabilities")] };
  if (method !== "tools/call") return;
  if (params.name === "capabilities") return said(JSON.stringify(seen));
  const reply = await ask(params.arguments.method, params.arguments.params);
  if (params.arguments.over) notify("notifications/elicitation/complete", { elicitationId: params.arguments.over });
  return said(JSON.stringify(reply.result ?? reply.error));
};`;

async function asked(
  t: Parameters<typeof talkUntilEnd>[0],
  version: 1 | 2,
  clientDefinition: Partial<ClientDefinition>,
  ...questions: readonly object[]
): Promise<string[]> {
  const cwd = temporaryFolder(t, {});
  const wanted = [
    ...questions.map((each) => ["asking/ask", each] as const),
    ["asking/capabilities", {}] as const,
  ];
  const model = scriptedModel([calls(...wanted), says("done")]);
  const { session } = await talkUntilEnd(t, {
    version,
    cwd,
    models: [model],
    answers: wanted.map(() => "allow_once"),
    mcpServers: [scriptServer(cwd, "asking", asking)],
    clientDefinition,
  });
  await session.prompt("go").result;
  return outcomesOf(model);
}

for (const version of [1, 2] as const) {
  test(
    `a form of a server is shown to the user, and its answer goes back (v${version})`,
    patient,
    async (t) => {
      const asks: ElicitationRequest[] = [];
      const completed = Promise.withResolvers<string>();
      const url = { mode: "url", message: "Log in", url: "https://example.org/login", elicitationId: "e1" };
      const [first = "", second = "", capabilities = ""] = await asked(
        t,
        version,
        {
          elicit(ask) {
            asks.push(ask);
            return ask.mode === "form"
              ? { action: "accept", content: { branch: "main" } }
              : { action: "accept" };
          },
          elicitationCompleted: completed.resolve,
        },
        { method: "elicitation/create", params: form },
        { method: "elicitation/create", params: url, over: "e1" },
      );
      assert.deepEqual(JSON.parse(first), { action: "accept", content: { branch: "main" } });
      assert.deepEqual(JSON.parse(second), { action: "accept" });
      assert.deepEqual(JSON.parse(capabilities).elicitation, { form: {}, url: {} });
      assert.equal(asks[0]?.message, "The MCP server asking asks: Which branch?", "the user sees who asks");
      assert.equal(await completed.promise, "asking/e1");
    },
  );
}

test("TH12 A96 a URL that is not a web page is declined unseen", patient, async (t) => {
  const addresses = [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,<script>1</script>",
    "vscode://extension/run",
    "http://example.org/login",
    "https://user:password@example.org/",
    "http://localhost.example.org/",
    "ssh://-oProxyCommand=calc/x",
    "not an address",
    "",
  ];
  const asks: ElicitationRequest[] = [];
  const answers = await asked(
    t,
    2,
    {
      elicit(ask) {
        asks.push(ask);
        return { action: "accept" };
      },
    },
    ...addresses.map((url, i) => ({
      method: "elicitation/create",
      params: { mode: "url", message: "Go", url, elicitationId: `e${i}` },
    })),
  );
  assert.deepEqual(asks, []);
  for (const answer of answers.slice(0, addresses.length)) assert.doesNotMatch(answer, /"accept"/);
});

test("A94 no form asks for a secret, and the user never sees one that does", patient, async (t) => {
  const shown: string[] = [];
  const field = (name: string, more: object = {}) => ({
    message: "We need this",
    requestedSchema: { type: "object", properties: { [name]: { type: "string", ...more } } },
  });
  const secrets = [
    field("password"),
    field("apiKey"),
    field("x", { title: "Access token" }),
    field("x", { description: "the passphrase of your key" }),
    { ...form, message: "Please enter your GitHub token's secret" },
  ];
  const harmless = [field("branch"), { ...form, message: "Which file has the password policy?" }];
  const answers = await asked(
    t,
    2,
    {
      elicit(ask) {
        shown.push(ask.message);
        return { action: "cancel" };
      },
    },
    ...[...secrets, ...harmless].map((params) => ({ method: "elicitation/create", params })),
  );
  assert.equal(shown.length, harmless.length, shown.join("\n"));
  const actions = answers.slice(0, -1).map((answer) => JSON.parse(answer).action);
  assert.deepEqual(actions, [...secrets.map(() => "decline"), ...harmless.map(() => "cancel")]);
});

test("A97 no field of a form has an address that could be clicked", patient, async (t) => {
  const forms: ElicitationRequest[] = [];
  const properties = {
    branch: { type: "string", title: "See https://evil.example/a", description: "http://evil.example/b" },
    site: { type: "string", default: "https://evil.example/c" },
    page: { type: "string", enum: ["1", "2"], enumNames: ["One", "ftp://evil.example/d"] },
  };
  await asked(
    t,
    1,
    {
      elicit(ask) {
        forms.push(ask);
        return { action: "cancel" };
      },
    },
    {
      method: "elicitation/create",
      params: { message: "Where?", requestedSchema: { type: "object", properties } },
    },
  );
  assert.equal(forms.length, 1);
  assert.match(JSON.stringify(forms), /See evil\.example\/a/);
  assert.doesNotMatch(JSON.stringify(forms), /:\/\//);
});

test("A99 the server gets the user's decline", patient, async (t) => {
  const [answer = ""] = await asked(
    t,
    2,
    { elicit: () => ({ action: "decline" }) },
    { method: "elicitation/create", params: form },
  );
  assert.deepEqual(JSON.parse(answer), { action: "decline" });
});

test("servers of a client without forms are told so, and their questions are refused", patient, async (t) => {
  const [answer = "", sampling = "", capabilities = ""] = await asked(
    t,
    2,
    {},
    { method: "elicitation/create", params: form },
    { method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } },
  );
  assert.equal(JSON.parse(capabilities).elicitation, undefined);
  assert.equal(JSON.parse(capabilities).sampling, undefined, "our model is not theirs");
  for (const refused of [answer, sampling]) assert.equal(JSON.parse(refused).code, -32601);
});

test("the real server's elicitation reaches the user", patient, async (t) => {
  const cwd = temporaryFolder(t, {});
  const asks: ElicitationRequest[] = [];
  const model = scriptedModel([calls(["everything/trigger-elicitation-request", {}]), says("done")]);
  const { session } = await talkUntilEnd(t, {
    version: 1,
    cwd,
    models: [model],
    answers: ["allow_once"],
    mcpServers: [realServer("everything")],
    clientDefinition: {
      elicit(ask) {
        asks.push(ask);
        return { action: "decline" };
      },
    },
  });
  await session.prompt("go").result;
  assert.equal(asks.length, 1, JSON.stringify(outcomesOf(model)));
  assert.match(outcomesOf(model)[0] ?? "", /declined/i);
});

test(
  "a server starts in the cwd of its entry (absolute, or relative to the session's), else in the session's",
  patient,
  async (t) => {
    const cwd = temporaryFolder(t, {});
    mkdirSync(join(cwd, "inner"));
    const where = `const answer = (method) => {
    if (method === "initialize") return hello({ tools: {} });
    if (method === "tools/list") return { tools: [tool("where")] };
    if (method === "tools/call") return said(process.cwd());
  };`;
    const inner = join(cwd, "inner");
    const wanted = ["session", "entry", "relative"].map((name) => [`${name}/where`, {}] as const);
    const model = scriptedModel([calls(...wanted), says("done")]);
    const { session } = await talkUntilEnd(t, {
      version: 1,
      cwd,
      models: [model],
      answers: wanted.map(() => "allow_once"),
      mcpServers: [
        scriptServer(cwd, "session", where),
        scriptServer(cwd, "entry", where, { more: { _meta: { cwd: inner } } }),
        scriptServer(cwd, "relative", where, { more: { _meta: { cwd: "inner" } } }),
      ],
    });
    await session.prompt("go").result;
    assert.deepEqual(outcomesOf(model), [cwd, inner, inner]);
  },
);

test("a server that refuses us, where logins cannot be kept, fails with instructions", patient, async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="http://127.0.0.1:1/x"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo; // a port was asked for
  const { session, updates } = await talkUntilEnd(t, {
    version: 1,
    cwd: temporaryFolder(t, {}),
    models: [scriptedModel([says("done")])],
    mcpServers: [remoteServer("http", `http://127.0.0.1:${port}/mcp`)],
  });
  await session.prompt("go").result;
  assert.match(
    `${thought(updates)}${said(updates)}${JSON.stringify(updates)}`,
    /refused the connection \(401\): check its headers\./,
  );
});
