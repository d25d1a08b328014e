import assert from "node:assert/strict";
import { test } from "node:test";
import { tools } from "./coding-tools.ts";

test("every tool has a name of its own, words for the model, and a closed schema", () => {
  const names = tools.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, description, inputSchema } of tools) {
    assert.match(name, /^[a-z_]+$/);
    assert.ok(description.length > 20, name);
    assert.equal(inputSchema["type"], "object", name);
    assert.equal(inputSchema["additionalProperties"], false, name);
  }
});
