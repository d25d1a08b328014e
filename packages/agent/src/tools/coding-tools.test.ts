import assert from "node:assert/strict";
import { test } from "node:test";
import { probe } from "../../test/support/tool-probe.ts";
import { codingTools } from "./coding-tools.ts";

test("every tool has a unique name, a description and a closed schema", () => {
  const names = codingTools.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, description, inputSchema } of codingTools) {
    assert.match(name, /^[a-z_]+$/);
    assert.ok(description.length > 20, name);
    assert.equal(inputSchema["type"], "object", name);
    assert.equal(inputSchema["additionalProperties"], false, name);
  }
});

test("every kind of the protocol is used", async (t) => {
  const { prepare, put } = await probe(t);
  put("a", "x");
  const inputs: Readonly<Record<string, object>> = {
    read: { path: "a" },
    list: {},
    find: { pattern: "*" },
    grep: { pattern: "x" },
    edit: { path: "a", edits: [{ oldText: "x", newText: "y" }] },
    write: { path: "b", content: "" },
    move: { from: "a", to: "c" },
    delete: { path: "a" },
    bash: { command: "true" },
    job: { id: "job-1" },
    fetch: { url: "https://example.org" },
    todo: { entries: [] },
    ask: { question: "?" },
    switch_mode: { plan: "p" },
    task: { description: "d", prompt: "p" },
  };
  const kinds = new Set<string>();
  for (const tool of codingTools) kinds.add((await prepare(tool, inputs[tool.name])).presentation.kind);
  assert.deepEqual([...kinds].sort(), [
    "delete",
    "edit",
    "execute",
    "fetch",
    "move",
    "other",
    "read",
    "search",
    "switch_mode",
    "think",
  ]);
});
