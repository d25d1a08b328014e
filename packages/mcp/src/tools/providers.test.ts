import assert from "node:assert/strict";
import { test } from "node:test";
import { McpServer as OlderServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer } from "@modelcontextprotocol/server";
import type { McpProvider } from "@parley/acp/model";
import { mcpKit, tool } from "@parley/mcp";
import { z } from "zod";
import { ask, claimed } from "../../test/support/ask.ts";

const greet = tool({
  name: "greet",
  description: "Greets somebody.",
  schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  run: ({ name }, { sessionId }) => `hello ${name} in ${sessionId}`,
});

function provider(...tools: readonly unknown[]): McpProvider {
  const [only, ...more] = mcpKit().providers(tools, "tools");
  assert.equal(more.length, 0);
  return only ?? assert.fail();
}

const calling = (name: string, input: object = {}) => claimed({ name, arguments: input });

test("tools become one server that lists and calls them", async () => {
  const add = tool({
    name: "add",
    description: "Adds.",
    readOnly: true,
    schema: z.object({ a: z.number(), b: z.number().default(1) }),
    run: ({ a, b }) => ({ content: [{ type: "text", text: `${a + b}` }], structuredContent: { sum: a + b } }),
  });
  const server = provider(greet, add);
  assert.equal(server.name, "tools");
  const { tools } = (await ask(server, "tools/list", claimed())) as { tools: { name: string }[] };
  assert.partialDeepStrictEqual(tools, [
    {
      name: "greet",
      description: "Greets somebody.",
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      annotations: { readOnlyHint: false },
    },
    {
      name: "add",
      inputSchema: { properties: { a: { type: "number" } } },
      annotations: { readOnlyHint: true },
    },
  ]);
  assert.partialDeepStrictEqual(await ask(server, "tools/call", calling("add", { a: 2 })), {
    content: [{ type: "text", text: "3" }],
    structuredContent: { sum: 3 },
  });
  await server.close?.();
});

test("a tool knows the session of a call, which the agent cannot set (M5)", async () => {
  const server = provider(greet);
  const forged = calling("greet", { name: "a" });
  forged._meta["_parley.dev/session"] = "forged";
  const answers = await Promise.all([
    ask(server, "tools/call", forged, { sessionId: "one" }),
    ask(server, "tools/call", calling("greet", { name: "b" }), { sessionId: "two" }),
    ask(server, "tools/call", forged),
  ]);
  assert.deepEqual(
    answers.map((each) => (each as { content: { text: string }[] }).content[0]?.text),
    ["hello a in one", "hello b in two", "hello a in undefined"],
  );
});

test("what does not fit the schema, and what a tool throws, is an error that the model reads", async () => {
  const broken = tool({
    name: "broken",
    description: "Fails.",
    run: () => {
      throw new Error("no disk");
    },
  });
  const server = provider(greet, broken);
  assert.partialDeepStrictEqual(await ask(server, "tools/call", calling("broken")), {
    isError: true,
    content: [{ type: "text", text: "no disk" }],
  });
  const wrong = (await ask(server, "tools/call", calling("greet", { name: 7 }))) as {
    isError: boolean;
    content: { text: string }[];
  };
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0]?.text ?? "", /name/);
});

test("an unknown method, tool or bad parameters are errors of MCP, not of the connection (M9)", async () => {
  const server = provider(greet);
  await assert.rejects(ask(server, "no/such", claimed()), {
    name: "McpFailure",
    body: { code: -32_601, message: "Method not found" },
  });
  await assert.rejects(ask(server, "tools/call", claimed()), ({ body }) => body.code === -32_602);
  await assert.rejects(ask(server, "tools/call", calling("other")), ({ body }) => body.code === -32_602);
});

test("cancelling reaches the tool and nothing else, progress reaches its own request (M13, M14)", async () => {
  const started = Promise.withResolvers<void>();
  const aborted: string[] = [];
  const wait = tool({
    name: "wait",
    description: "Waits.",
    schema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    async run({ id }, { signal, progress }) {
      progress(1, 2, `half of ${id}`);
      if (id === "quick") return "done";
      started.resolve();
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          aborted.push(id);
          resolve();
        });
      });
      progress(2);
      return "late";
    },
  });
  const server = provider(wait);
  const cancel = new AbortController();
  const seen: unknown[] = [];
  const slow = ask(server, "tools/call", calling("wait", { id: "slow" }), {
    signal: cancel.signal,
    notify: (method, params) => seen.push([method, params]),
  });
  await started.promise;
  const params = calling("wait", { id: "quick" });
  params._meta["progressToken"] = "p7";
  const mine: unknown[] = [];
  const quick = ask(server, "tools/call", params, { notify: (method, what) => mine.push([method, what]) });
  assert.partialDeepStrictEqual(await quick, { content: [{ text: "done" }] });
  assert.deepEqual(mine, [
    ["notifications/progress", { progressToken: "p7", progress: 1, total: 2, message: "half of quick" }],
  ]);
  cancel.abort(new Error("enough"));
  await assert.rejects(slow, /enough/);
  assert.deepEqual(aborted, ["slow"]);
  assert.deepEqual(seen, [], "nobody asked for progress");
});

test("peers of older generations, whose requests say no revision, get results as they know them", async () => {
  const server = provider(greet);
  const old = (await ask(server, "tools/call", { name: "greet", arguments: { name: "x" } })) as object;
  assert.equal("resultType" in old, false);
});

for (const [which, make] of [
  ["@modelcontextprotocol/server", McpServer],
  ["@modelcontextprotocol/sdk", OlderServer],
] as const) {
  test(`an McpServer of ${which} serves several sessions at once and is released by the last (M5)`, async () => {
    const own = new make({ name: "mine", version: "1.2.3" });
    // as: both have the same method
    (own as McpServer).registerTool(
      "who",
      { description: "Says the session.", inputSchema: z.object({}) },
      (_, extra) => {
        const meta = "mcpReq" in extra ? extra.mcpReq._meta : (extra as { _meta?: object })._meta;
        return { content: [{ type: "text", text: JSON.stringify(meta) }] };
      },
    );
    const kit = mcpKit();
    const [one] = kit.providers([own], "tools");
    const [two] = kit.providers([own], "tools");
    assert.ok(one && two);
    assert.equal(one.name, "mine");
    const discovered = (await ask(one, "server/discover", claimed())) as Record<string, unknown>;
    assert.ok((discovered["capabilities"] as { tools?: object }).tools);
    assert.deepEqual((discovered["_meta"] as object | undefined) && discovered["_meta"], {
      "io.modelcontextprotocol/serverInfo": { name: "mine", version: "1.2.3" },
    });
    const texts = await Promise.all(
      [one, two].map(async (each, index) => {
        const answer = await ask(each, "tools/call", calling("who"), { sessionId: `s${index}` });
        return JSON.parse((answer as { content: { text: string }[] }).content[0]?.text ?? "");
      }),
    );
    assert.partialDeepStrictEqual(texts, [{ "_parley.dev/session": "s0" }, { "_parley.dev/session": "s1" }]);
    await one.close?.();
    assert.ok(await ask(two, "tools/list", claimed()), "the other session goes on");
    await two.close?.();
    const [again] = kit.providers([own], "tools");
    assert.ok(await ask(again ?? assert.fail(), "tools/list", claimed()), "it can be used again");
    await again?.close?.();
  });
}

test("an McpServer that is connected elsewhere says what to do", async () => {
  const { InMemoryTransport } = await import("@modelcontextprotocol/server");
  const own = new McpServer({ name: "mine", version: "1.0.0" });
  await own.connect(InMemoryTransport.createLinkedPair()[0]);
  await assert.rejects(
    ask(provider(own), "tools/list", claimed()),
    /connected to a transport already: give each/,
  );
});

test("wrong tools are refused with what was expected", () => {
  const kit = mcpKit();
  assert.throws(
    () => kit.providers([{ name: "x" }], "tools"),
    /tools\[0\]: expected a tool\(\), .* got an object with name/,
  );
  assert.throws(() => kit.providers([greet, greet], "tools"), /two tools greet; rename one/);
  const run = () => undefined;
  assert.throws(() => tool({ name: "a b", description: "", run }), /name: expected 1 to 128 .* got "a b"/);
  assert.throws(
    () => tool({ name: "a", description: "", schema: { type: "string" } as never, run }),
    /schema\.type: expected "object", got "string"/,
  );
  assert.throws(
    () => tool({ name: "a", description: "" } as never),
    /tool a: run: expected a function, got nothing/,
  );
});

for (const [which, make] of [
  ["@modelcontextprotocol/server", McpServer],
  ["@modelcontextprotocol/sdk", OlderServer],
] as const) {
  test(`what an McpServer of ${which} asks itself is refused with a sentence, and its call goes on (M16)`, async () => {
    const own = new make({ name: "asking", version: "1" });
    // as: both have the same method
    (own as McpServer).registerTool("ask", { description: "Asks." }, async () => {
      const refused: unknown = await own.server.ping().catch((error: unknown) => error);
      return { content: [{ type: "text", text: String(refused) }] };
    });
    const server = provider(own);
    assert.match(
      JSON.stringify(await ask(server, "tools/call", calling("ask"))),
      /ping: nobody can answer requests of this server|.ping. cannot be sent while serving/,
    );
    await server.close?.();
  });
}
