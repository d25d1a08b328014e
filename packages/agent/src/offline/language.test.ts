// What the offline model makes of a request: its first calls, or its words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { planRequest, testRequest } from "../model/agent-requests.ts";
import type { ModelEvent, ModelMessage, ModelRequest, TextPart } from "../model/model.ts";
import { offlineModel } from "./offline-model.ts";

interface Answered {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (readonly [name: string, input: unknown])[];
}

const allTools = ["read", "list", "grep", "edit", "write", "move", "delete", "bash", "fetch"];
const text = (words: string): TextPart => ({ type: "text", text: words });

/** The answer to a request, before any call of it has run. */
async function answered(
  content: string | readonly TextPart[],
  {
    tools = allTools,
    others = [] as readonly { id: string; name: string }[],
    signal = new AbortController().signal,
  } = {},
): Promise<Answered> {
  const message: ModelMessage = {
    role: "user",
    content: typeof content === "string" ? [text(content)] : content,
  };
  const request: ModelRequest = {
    system: "",
    messages: [message],
    tools: tools.map((name) => ({ name, description: "", inputSchema: {} })),
    effort: "none",
    maxTokens: undefined,
    signal,
  };
  const events: ModelEvent[] = [];
  for await (const event of offlineModel(async () => others).stream(request)) events.push(event);
  const all = (type: "text" | "thinking") =>
    events.map((event) => (event.type === type ? event.text : "")).join("");
  return {
    text: all("text"),
    thinking: all("thinking"),
    calls: events.flatMap((event) =>
      event.type === "tool_call" ? [[event.name, event.input] as const] : [],
    ),
  };
}

const requests: readonly (readonly [words: string, tool: string, input: object])[] = [
  ["read src/a.ts", "read", { path: "src/a.ts" }],
  ["Read README.md", "read", { path: "README.md" }],
  ["read src/a.ts:7", "read", { path: "src/a.ts", offset: 7, limit: 1 }],
  ["read src/a.ts:7-20", "read", { path: "src/a.ts", offset: 7, limit: 14 }],
  ["read @src/a.ts:7-20", "read", { path: "src/a.ts", offset: 7, limit: 14 }],
  ['read "my notes.txt"', "read", { path: "my notes.txt" }],
  ['read @"my notes.txt"', "read", { path: "my notes.txt" }],
  ["read '@types/a.d.ts'", "read", { path: "@types/a.d.ts" }],
  ["list", "list", { path: "." }],
  ["list src/app", "list", { path: "src/app" }],
  ["search TODO", "grep", { pattern: "TODO", path: ".", literal: true }],
  ['search "foo in bar" in src', "grep", { pattern: "foo in bar", path: "src", literal: true }],
  ["search don't in @src", "grep", { pattern: "don't", path: "src", literal: true }],
  ["search @deprecated", "grep", { pattern: "@deprecated", path: ".", literal: true }],
  ['create a.txt with "one, then read two"', "write", { path: "a.txt", content: "one, then read two\n" }],
  ['create a.txt with ""', "write", { path: "a.txt", content: "" }],
  [
    "create a.ts with\n```ts\nconst a = 1;\n\nread b\n```",
    "write",
    { path: "a.ts", content: "const a = 1;\n\nread b\n" },
  ],
  ["create a.ts with\n````\n```\n````", "write", { path: "a.ts", content: "```\n" }],
  ['replace "a b" with c in notes.txt', "read", { path: "notes.txt" }],
  ["delete old.txt", "delete", { path: "old.txt" }],
  ["move a.txt to @sub/a.txt", "move", { from: "a.txt", to: "sub/a.txt" }],
  ["run ls -l", "bash", { command: "ls -l" }],
  ['run echo "a b"; echo c', "bash", { command: 'echo "a b"; echo c' }],
  ["run `if true; then read x; fi`", "bash", { command: "if true; then read x; fi" }],
  ["run if true; then echo x; fi", "bash", { command: "if true; then echo x; fi" }],
  ["run\n```sh\ncd src\nls\n```", "bash", { command: "cd src\nls" }],
  ["fetch https://example.org/a", "fetch", { url: "https://example.org/a" }],
  ['@tool read {"path": "then read `x`"}', "read", { path: "then read `x`" }],
  ['@tool write\n```json\n{\n  "path": "a"\n}\n```', "write", { path: "a" }],
  ["@tool mcp/thing", "mcp/thing", {}],
];

for (const [words, tool, input] of requests) {
  test(`“${words.replaceAll("\n", " / ")}” calls ${tool}`, async () => {
    const { calls, text: said } = await answered(words);
    assert.deepEqual(calls, [[tool, input]]);
    assert.equal(said, "");
  });
}

test("arguments that are no JSON reach the tool as they are", async () => {
  assert.deepEqual((await answered("@tool read {oops")).calls, [["read", "{oops"]]);
});

test("scripted lines say, think and wait, in their order, and commands may stand between them", async () => {
  const lines = [
    "@think Let me see",
    "@say First, then more",
    "@wait 0.01",
    "@say Second",
    "list",
    "@say Third",
  ];
  const { text: said, thinking, calls } = await answered(lines.join("\n"));
  assert.equal(thinking, "Let me see");
  assert.equal(said, "First, then more\n\nSecond");
  assert.deepEqual(calls, [["list", { path: "." }]]);
});

test("a script that says nothing ends with one word", async () => {
  assert.equal((await answered("@think hm")).text, "Done.");
});

test("a wait ends with the turn", { timeout: 10_000 }, async () => {
  const controller = new AbortController();
  const waiting = answered("@wait 9000", { signal: controller.signal });
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
});

for (const words of [
  "hello",
  "look around",
  "read",
  "read a.txt and b.txt",
  "please read a.txt",
  "create a web page with a nice header",
  "read a.txt then fly to the moon",
  "list\nfly to the moon",
  "@wait for me",
  "@tool",
  "@nobody",
]) {
  test(`“${words.replaceAll("\n", " / ")}” gets two lines and does nothing`, async () => {
    const { text: said, calls } = await answered(words);
    assert.deepEqual(calls, []);
    const [first = "", second = "", ...more] = said.split("\n\n");
    assert.match(
      first,
      /^I did not understand “.*”, so I did nothing\. I understand `read FILE.*`fetch URL`/,
    );
    assert.match(second, /^For anything else, I need a model: set `ANTHROPIC_API_KEY`.*`parley agent login`/);
    assert.deepEqual(more, []);
  });
}

test("a model that is ready, such as one of a local server, is offered", async () => {
  const others = [{ id: "ollama/qwen3", name: "qwen3 (Ollama)" }];
  const { text: said } = await answered("write a poem", { others });
  assert.match(said, /\n\n.*: qwen3 \(Ollama\) is ready, and `\/model ollama\/qwen3` uses it\.$/);
  assert.doesNotMatch(said, /API_KEY/);
});

test("/test says how tests are run", async () => {
  assert.match((await answered(testRequest)).text, /To run tests, write `run` and their command\./);
});

test("a request of blanks is read at once", { timeout: 10_000 }, async () => {
  const { calls } = await answered(`read${" ".repeat(300_000)}a.txt`);
  assert.deepEqual(calls, [["read", { path: "a.txt" }]]);
});

test("a long request is quoted shortly", async () => {
  const { text: said } = await answered(`write ${"x".repeat(10_000)}`);
  assert.ok(said.length < 1_000, `${said.length}`);
});

test("in mode chat it says what it lacks, and scripted words still work", async () => {
  const tools = ["todo", "ask"];
  assert.match((await answered("read a.txt", { tools })).text, /^In mode chat I have no tools/);
  assert.equal((await answered("@say hi", { tools })).text, "hi");
  assert.equal(
    (await answered("@say hi\nlist", { tools })).text.split("\n\n")[1]?.slice(0, 12),
    "In mode chat",
  );
});

test("/plan shows the steps and calls nothing else", async () => {
  const { text: said, calls } = await answered(`${planRequest}\ndelete a.txt, then run npm test`);
  assert.equal(said, "The plan:\n1. delete a.txt\n2. run npm test");
  assert.deepEqual(calls, []);
});

const link = text(
  "[The user refers to file:///home/me/my%20notes.txt (my notes.txt); read it if you need it.]",
);
const embedded = text('<resource uri="file:///home/me/a.ts#L3-L5">\nx\n</resource>');

test("a file that the client attached in the place of its mention is meant", async () => {
  const read = await answered([text("read "), link]);
  assert.deepEqual(read.calls, [["read", { path: "/home/me/my notes.txt" }]]);
  const odd = text("[The user refers to file:///home/me/100%.txt (100%.txt); read it if you need it.]");
  assert.deepEqual((await answered([text("read "), odd])).calls, [["read", { path: "/home/me/100%.txt" }]]);
  const lines = await answered([text("read "), embedded, text(" then list")]);
  assert.deepEqual(lines.calls, [["read", { path: "/home/me/a.ts", offset: 3, limit: 3 }]]);
});

test("a file that the client attached besides its mention changes nothing", async () => {
  const read = await answered([text("read @a.ts:3-5"), embedded]);
  assert.deepEqual(read.calls, [["read", { path: "a.ts", offset: 3, limit: 3 }]]);
  const run = await answered([text("run npm test"), link]);
  assert.deepEqual(run.calls, [["bash", { command: "npm test" }]]);
  const piped = await answered([text("list"), text('<resource uri="attached:1">\nx\n</resource>')]);
  assert.deepEqual(piped.calls, [["list", { path: "." }]]);
});

test("a link that is no file of this machine is ignored", async () => {
  for (const uri of ["file://elsewhere/a", "https://example.org/a", "file:", "nonsense"]) {
    const { calls } = await answered([
      text("list"),
      text(`[The user refers to ${uri} (a); read it if you need it.]`),
    ]);
    assert.deepEqual(calls, [["list", { path: "." }]], uri);
  }
});

test("what the agent notes for a model is no part of the request", async () => {
  const noted = await answered([text("list"), text("<situation>\nread b\n</situation>")]);
  assert.deepEqual(noted.calls, [["list", { path: "." }]]);
  const left = await answered([text("list"), text("[image a.png left out: this model takes no images]")]);
  assert.deepEqual(left.calls, [["list", { path: "." }]]);
});
