import assert from "node:assert/strict";
import { test } from "node:test";
import { checkedArguments } from "./define-tool.ts";
import { ToolError } from "./tool.ts";

const schema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    limit: { type: "integer", minimum: 1, maximum: 10 },
    deep: { type: "boolean" },
    mode: { type: "string", enum: ["a", "b"] },
    edits: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: { old: { type: "string" } },
        required: ["old"],
        additionalProperties: false,
      },
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

function message(input: unknown): string {
  try {
    checkedArguments("tool", schema, input);
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
  return "accepted";
}

test("valid arguments are passed on", () => {
  const input = { path: "a", limit: 3, deep: true, mode: "b", edits: [{ old: "x" }] };
  assert.deepEqual(checkedArguments("tool", schema, input), input);
});

test("numbers, booleans and lists that came as strings are understood, null leaves an argument out", () => {
  const given = { path: "a", limit: "3", deep: "false", edits: '[{"old":"x"}]', mode: null };
  const wanted = { path: "a", limit: 3, deep: false, edits: [{ old: "x" }] };
  assert.deepEqual(checkedArguments("tool", schema, given), wanted);
});

test("an error names the argument, what is expected and what was given", () => {
  assert.equal(message({}), "tool needs path; it takes path, limit, deep, mode, edits");
  assert.equal(message(undefined), "tool needs path; it takes path, limit, deep, mode, edits");
  assert.equal(
    message([1]),
    "the arguments of tool must be an object with path, limit, deep, mode, edits, got [1]",
  );
  assert.equal(message({ path: 3 }), "tool: path must be a string that is not empty, got 3");
  assert.equal(message({ path: "" }), 'tool: path must be a string that is not empty, got ""');
  assert.equal(
    message({ path: "a", limit: 1.5 }),
    "tool: limit must be a whole number from 1 to 10, got 1.5",
  );
  assert.equal(message({ path: "a", limit: 11 }), "tool: limit must be a whole number from 1 to 10, got 11");
  assert.equal(message({ path: "a", deep: "maybe" }), 'tool: deep must be true or false, got "maybe"');
  assert.equal(message({ path: "a", mode: "c" }), 'tool: mode must be one of "a", "b", got "c"');
  assert.equal(message({ path: "a", edits: [] }), "tool: edits must be a list of at least 1, got []");
  assert.equal(message({ path: "a", edits: [{ old: 1 }] }), "tool: edits[0].old must be a string, got 1");
  assert.equal(
    message({ path: "a", edits: [{ new: "" }] }),
    'tool has no argument "edits[0].new"; it takes old',
  );
  assert.equal(
    message({ file_path: "a" }),
    'tool has no argument "file_path"; it takes path, limit, deep, mode, edits',
  );
  assert.equal(message({ path: "a", constructor: 1 }).startsWith("tool has no argument"), true);
});
