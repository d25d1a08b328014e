// The agent with the real servers from npm, over every transport.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ProtocolVersion } from "@parley/acp/internal";
import {
  calls,
  says,
  scriptedModel,
  temporaryFolder,
  toolStories,
  toolUpdates,
} from "../../test/support/agent-probe.ts";
import {
  outcomesOf,
  realServer,
  remoteServer,
  servedEverything,
  shownBy,
  talkUntilEnd,
} from "../../test/support/mcp-probe.ts";
import type { ModelRequest } from "../model/model.ts";

const patient = { timeout: 60_000 };
const both: readonly ProtocolVersion[] = [1, 2];

for (const version of both) {
  test(`A19 a tool of a server runs when the user allows it (v${version})`, patient, async (context) => {
    const cwd = temporaryFolder(context, {});
    const model = scriptedModel([calls(["everything/echo", { message: "hello" }]), says("done")]);
    const mcpServers = [realServer("everything")];
    const link = await talkUntilEnd(context, {
      version,
      cwd,
      models: [model],
      answers: ["allow_once"],
      mcpServers,
    });
    assert.equal((await link.session.prompt("go").result).stopReason, "end_turn");
    assert.deepEqual(toolStories(link.updates), ["everything/echo: pending > in_progress > completed"]);
    assert.equal(link.asks.length, 1);
    assert.equal(link.asks[0]?.title, "everything/echo");
    // what is asked about can be seen
    assert.match(JSON.stringify(link.asks[0]?.subject), /hello/);
    assert.deepEqual(outcomesOf(model), ["Echo: hello"]);
  });
}

test(
  "the user is asked about each call, in mode code too, unless the answer was remembered",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const sum = (a: number, b: number) => calls(["everything/get-sum", { a, b }]);
    const model = scriptedModel([
      sum(1, 2),
      sum(3, 4),
      sum(5, 6),
      calls(["everything/echo", { message: "x" }]),
      says("done"),
    ]);
    const link = await talkUntilEnd(context, {
      version: 2,
      cwd,
      mode: "code",
      models: [model],
      answers: ["allow_once", "allow_always", "reject_once"],
      mcpServers: [realServer("everything")],
    });
    await link.session.prompt("go").result;
    assert.deepEqual(
      link.asks.map(({ title }) => title),
      ["everything/get-sum", "everything/get-sum", "everything/echo"],
    );
    assert.match(outcomesOf(model).join("\n"), /3.*\n.*7.*\n.*11.*\nThe user rejected/);
  },
);

test("B3 modes without changes do not run MCP tools", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const model = scriptedModel([calls(["everything/echo", { message: "hello" }]), says("done")]);
  const link = await talkUntilEnd(context, {
    version: 2,
    cwd,
    mode: "architect",
    models: [model],
    mcpServers: [realServer("everything")],
  });
  await link.session.prompt("go").result;
  assert.match(
    JSON.stringify(model.requests[1]?.messages.at(-1)),
    /Mode architect does not allow everything\/echo/,
  );
  assert.deepEqual(toolStories(link.updates), ["everything/echo: pending > failed"]);
});

for (const [type, transport, version] of [
  ["http", "streamableHttp", 1],
  ["http", "streamableHttp", 2],
  ["sse", "sse", 1],
] as const) {
  test(`A20 a server is used over ${type} (v${version})`, patient, async (context) => {
    const { url } = await servedEverything(context, transport);
    const cwd = temporaryFolder(context, {});
    const model = scriptedModel([calls(["remote/echo", { message: "hello" }]), says("done")]);
    const link = await talkUntilEnd(context, {
      version,
      cwd,
      models: [model],
      answers: ["allow_once"],
      mcpServers: [remoteServer(type, url)],
    });
    await link.session.prompt("go").result;
    assert.deepEqual(outcomesOf(model), ["Echo: hello"]);
  });
}

test(
  "images, links, embedded resources and structured content reach the model and the user",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const wanted = [
      ["everything/get-tiny-image", {}],
      ["everything/get-resource-links", { count: 2 }],
      ["everything/get-resource-reference", { resourceType: "Text", resourceId: 1 }],
      ["everything/get-structured-content", { location: "New York" }],
      ["everything/get-annotated-message", { messageType: "success", includeImage: true }],
    ] as const;
    const model = scriptedModel([calls(...wanted), says("done")], { takesImages: true });
    const link = await talkUntilEnd(context, {
      version: 2,
      cwd,
      models: [model],
      answers: wanted.map(() => "allow_once"),
      mcpServers: [realServer("everything")],
    });
    await link.session.prompt("go").result;
    const [image = "", links = "", resource = "", structured = "", annotated = ""] = outcomesOf(model);
    assert.match(image, /\[image\]/);
    assert.match(links, /\[resource demo:\/\/resource\/.*\n.*\[resource demo:\/\/resource\//);
    assert.match(resource, /<resource uri="demo:\/\/resource\/dynamic\/text\/1">/);
    assert.match(structured, /temperature/);
    // its image is for the user alone
    assert.doesNotMatch(annotated, /\[image\]/);
    assert.deepEqual(shownBy(link.updates, "everything/get-tiny-image"), ["text", "image", "text"]);
    assert.ok(shownBy(link.updates, "everything/get-resource-links").includes("resource_link"));
    assert.ok(shownBy(link.updates, "everything/get-resource-reference").includes("resource"));
    assert.ok(shownBy(link.updates, "everything/get-annotated-message").includes("image"));
    const raw = toolUpdates(link.updates).find(({ rawOutput }) =>
      JSON.stringify(rawOutput)?.includes("structuredContent"),
    );
    assert.ok(raw, "structured content is part of the raw output");
  },
);

test("a server is told the session's roots, and its resources can be read", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  writeFileSync(join(cwd, "note.txt"), "in the workspace");
  const allowed = calls(["filesystem/list_allowed_directories", {}]);
  // the server asks for roots by itself, and answers calls meanwhile: it is asked until it knows them
  const untilKnown = async function* ({ messages }: ModelRequest) {
    const last = JSON.stringify(messages.at(-1));
    if (/demo:/.test(last)) return yield* says("done");
    if (!last.includes(cwd)) return yield* allowed;
    yield* calls(
      ["filesystem/read_text_file", { path: join(cwd, "note.txt") }],
      ["everything/read_resource", { uri: "demo://resource/dynamic/text/3" }],
      ["everything/list_resources", {}],
    );
  };
  const model = scriptedModel(Array.from({ length: 150 }, () => untilKnown));
  const other = temporaryFolder(context, {});
  const link = await talkUntilEnd(context, {
    version: 2,
    cwd,
    models: [model],
    answers: ["allow_always", "allow_once", "allow_once", "allow_once"],
    // started for another folder: the roots of the session replace it
    mcpServers: [realServer("filesystem", { args: [other] }), realServer("everything")],
  });
  await link.session.prompt("go").result;
  const [file = "", resource = "", list = ""] = outcomesOf(model).slice(-3);
  assert.match(file, /in the workspace/);
  assert.match(resource, /<resource uri="demo:\/\/resource\/dynamic\/text\/3">/);
  assert.match(list, /demo:\/\/resource\//);
});

test("a server keeps what it was told from turn to turn", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const entity = { name: "Ada", entityType: "person", observations: ["wrote programs"] };
  const model = scriptedModel([
    calls(["memory/create_entities", { entities: [entity] }]),
    says("kept"),
    calls(["memory/search_nodes", { query: "Ada" }]),
    says("done"),
  ]);
  const link = await talkUntilEnd(context, {
    version: 1,
    cwd,
    models: [model],
    answers: ["allow_once", "allow_once"],
    mcpServers: [realServer("memory", { env: { MEMORY_FILE_PATH: join(cwd, "memory.json") } })],
  });
  await link.session.prompt("remember").result;
  await link.session.prompt("recall").result;
  assert.match(outcomesOf(model).at(-1) ?? "", /wrote programs/);
});
