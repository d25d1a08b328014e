import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { modelModules } from "./model.ts";
import { modelDifferences as ours } from "./model-differences.ts";
import { basisFile } from "./output.ts";
import { type Definitions, loadSchemas, type Schema, type SchemaPair, schemaPair, tagOf } from "./schema.ts";
import { requireAccepted } from "./v2-basis.ts";

const v2 = loadSchemas("v2");
const accepted = JSON.parse(readFileSync(join(import.meta.dirname, "../..", basisFile), "utf8"));

/** v2 as it might be tomorrow, in both of its schemas. */
function changed(change: (definitions: Definitions) => void): SchemaPair {
  const [stable, unstable] = [structuredClone(v2.stable), structuredClone(v2.unstable)];
  change(stable);
  change(unstable);
  return schemaPair("v2", stable, unstable);
}

const variant = (type: string): Schema => ({
  properties: { type: { type: "string", const: type } },
  required: ["type"],
});

function refusal(pair: SchemaPair): string {
  try {
    requireAccepted(pair, accepted);
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
}

test("v2 as it is pinned is what the model was derived from", () => {
  assert.equal(refusal(v2), "accepted");
});

test("a changed draft of v2 stops the generator with every difference and what to do", () => {
  const tomorrow = changed(({ Diff, Notice, SessionUpdate, ToolCallUpdate, ToolKind }) => {
    Diff!.properties!.language = { type: ["string", "null"] };
    delete Notice!.properties!.description;
    ToolCallUpdate!.required!.push("title");
    ToolKind!.anyOf!.unshift({ type: "string", const: "dream" });
    SessionUpdate!.anyOf = SessionUpdate!.anyOf!.filter((each) => tagOf(each)?.value !== "plan_removed");
  });
  const message = refusal(tomorrow);
  const lines = message.split("\n").filter((line) => line.startsWith("  "));
  assert.deepEqual(
    lines.filter((line) => !line.includes("PlanRemoved.")),
    [
      "  added Diff.language: string | null, optional",
      `  removed Notice.description: ${accepted["Notice.description"]}`,
      `  removed PlanRemoved: ${accepted.PlanRemoved}`,
      "  removed SessionUpdate[sessionUpdate=plan_removed]: PlanRemoved, unstable",
      "  changed ToolCallUpdate.title: from string | null, optional to string | null",
      `  changed ToolKind: from ${accepted.ToolKind} to "dream" | ${accepted.ToolKind}`,
    ],
  );
  assert.match(message, /npm run generate -- --accept-v2/);
});

test("a kind of update that becomes stable is a difference", () => {
  const stable = structuredClone(v2.stable);
  const { anyOf: variants = [] } = v2.unstable.SessionUpdate!;
  stable.SessionUpdate!.anyOf!.push(variants.find((each) => tagOf(each)?.value === "subagent_update")!);
  assert.match(
    refusal({ ...v2, stable }),
    /changed SessionUpdate\[sessionUpdate=subagent_update\]: from SubagentUpdate, unstable to SubagentUpdate\n/,
  );
});

test("how v2 salvages values, and what the model does not take, are no differences", () => {
  const tomorrow = changed(({ Diff, ListSessionsRequest }) => {
    Diff!.properties!.changes!["x-deserialize-skip-invalid-items"] = false;
    ListSessionsRequest!.properties!.limit = { type: "integer" };
  });
  assert.equal(refusal(tomorrow), "accepted");
});

test("a listed difference that does not fit v2 stops the generator", () => {
  const wrong: [Partial<typeof ours>, RegExp][] = [
    [
      { taken: [...ours.taken, "Mood"] },
      /model-differences.ts does not fit .*\n {2}Mood: v2 does not have it/,
    ],
    [{ renamed: { Mood: "Temper" } }, /Mood: v2 does not have it/],
    [{ renamed: { SessionUpdate: "Notice" } }, /Notice: v2 has a definition of this name/],
    [{ removed: ["Diff.mood"] }, /Diff.mood: v2 does not have it, so it cannot be removed/],
    [{ removed: ["SessionUpdate[sessionUpdate=mood]"] }, /=mood\]: v2 does not have it, so it cannot/],
    [{ added: { Mood: {} } }, /Mood: v2 does not have it/],
    [{ added: { Diff: { properties: { patch: {} } } } }, /Diff.patch: v2 has it already/],
    [{ added: { McpServer: { anyOf: [variant("http")] } } }, /McpServer\[http\]: v2 has it already/],
    [{ checks: { "Diff.mood": "path" } }, /Diff.mood: .*the schema does not have it/],
    [{ unknownVariants: { Notice: "UnknownNotice" } }, /Notice: has no variant for unknown tags/],
  ];
  for (const [change, message] of wrong) {
    assert.throws(() => modelModules(v2, { ...ours, ...change }), message);
  }
});

test("the model has null only where it clears a value, and readonly fields and lists at every depth", () => {
  const { types } = modelModules(v2);
  const [, update = ""] = /interface ToolCallUpdate \{(.*?)\}/s.exec(types) ?? [];
  assert.match(update, /readonly title\?: string \| null;/);
  assert.match(update, /readonly content\?: readonly ToolCallContent\[\] \| null;/);
  const [, text = ""] = /interface TextContent \{(.*?)\}/s.exec(types) ?? [];
  assert.match(text, /readonly annotations\?: Annotations;/);
  assert.match(text, /readonly _meta\?: Meta;/);
  const lines = types.split("\n").filter((line) => /^ {2}\w+\??:|[^y] \w+\[\]/.test(line));
  assert.deepEqual(lines, []);
});

test("the model stays as it is when our list says no to what v2 changed", () => {
  const tomorrow = changed((definitions) => {
    const { Diff, Notice, SessionUpdate, ToolKind } = definitions;
    Diff!.properties!.language = { type: ["string", "null"] };
    delete Notice!.properties!.title;
    Notice!.required = Notice!.required!.filter((field) => field !== "title");
    ToolKind!.anyOf!.unshift({ type: "string", const: "dream" });
    const mood = {
      type: "object",
      properties: { sessionUpdate: { const: "mood" } },
      required: ["sessionUpdate"],
    };
    SessionUpdate!.anyOf!.unshift({ ...mood, $ref: "#/$defs/Notice" });
  });
  const kept = modelModules(tomorrow, {
    ...ours,
    removed: [...ours.removed, "Diff.language", "SessionUpdate[sessionUpdate=mood]"],
    added: { ...ours.added, Notice: { properties: { title: { type: "string" } }, required: ["title"] } },
    defined: { ...ours.defined, ToolKind: v2.unstable.ToolKind! },
  });
  const lines = (text: string): string[] => text.split("\n").toSorted();
  assert.deepEqual(lines(kept.types), lines(modelModules(v2).types));
  assert.notEqual(modelModules(tomorrow).types, modelModules(v2).types);
});
