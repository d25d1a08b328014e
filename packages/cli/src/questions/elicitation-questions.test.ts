import assert from "node:assert/strict";
import { test } from "node:test";
import type { ElicitationQuestion } from "@parley/client";
import {
  formQuestion as form,
  type FormProperties as Properties,
  visitQuestion as visit,
} from "../../test/support/question-samples.ts";
import { askElicitation } from "./elicitation-questions.ts";

/** What is shown, and what comes of these answers; undefined is the end of the input. */
async function asked(question: ElicitationQuestion, answers: readonly (string | undefined)[]) {
  let shown = "";
  const left = [...answers];
  const answer = await askElicitation(
    question,
    "an-agent",
    {
      ask: async (text) => {
        shown += text;
        return left.shift();
      },
      write: (text) => {
        shown += text;
      },
    },
    (_, text) => text,
  );
  assert.deepEqual(left, [], `every answer was asked for: ${shown}`);
  return { answer, shown };
}

test("C39 the asking agent is named, and its question can be declined or cancelled", async () => {
  const question = form({ name: { type: "string" } });
  assert.match((await asked(question, ["Ann", "y"])).shown, /an-agent asks: Tell me more/);
  assert.deepEqual((await asked(question, ["Ann", "n"])).answer, { action: "decline" });
  assert.deepEqual((await asked(question, [undefined])).answer, { action: "cancel" });
  assert.deepEqual((await asked(question, ["Ann", undefined])).answer, { action: "cancel" });
});

test("C40 a form is seen as a whole before it is sent, and can be changed then", async () => {
  const properties: Properties = {
    name: { type: "string", title: "Your name" },
    age: { type: "integer" },
    sure: { type: "boolean" },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
  };
  const { answer, shown } = await asked(form(properties, ["name"]), [
    "Ann",
    "42",
    "y",
    "2",
    "1, 3",
    "1",
    "Bob",
    "y",
  ]);
  assert.match(shown, /1 {2}Your name: Ann\n {2}2 {2}age: 42\n.*Send this to an-agent\?/s);
  assert.deepEqual(answer, {
    action: "accept",
    content: { name: "Bob", age: 42, sure: true, size: "l", tags: ["a", "c"] },
  });
});

test("C40 values are checked, and defaults filled in", async () => {
  const properties: Properties = {
    port: { type: "integer", minimum: 1, maximum: 65535 },
    host: { type: "string", default: "localhost", minLength: 2 },
    note: { type: "string" },
  };
  const { answer, shown } = await asked(form(properties, ["port"]), ["http", "0", "", "80", "", "", "y"]);
  assert.match(shown, /Enter a whole number.*at least 1\n/s);
  assert.deepEqual(answer, { action: "accept", content: { port: 80, host: "localhost" } });
});

test("C41 C42 C43 an address is shown with its host and in full, and is left to the person's own browser", async () => {
  const { answer, shown } = await asked(visit("https://example.org/login?x=1"), ["n"]);
  assert.match(shown, /open a page on example\.org:\n {2}https:\/\/example\.org\/login\?x=1\n/);
  assert.deepEqual(answer, { action: "decline" });
  assert.deepEqual((await asked(visit("https://example.org/"), ["y"])).answer, { action: "accept" });
  assert.deepEqual((await asked(visit("https://example.org/"), [undefined])).answer, { action: "cancel" });
});

test("C48 an address can be seen again and given up, for as long as nobody says that it is done", async () => {
  const address = "https://example.org/login";
  const again = await asked(visit(address), ["r", "", "what?", "y"]);
  assert.equal(again.shown.split(address).length - 1, 4);
  assert.deepEqual(again.answer, { action: "accept" });
  assert.match(again.shown, /If the agent does not continue, press Ctrl-C/);
  assert.deepEqual((await asked(visit(address), ["r", "c"])).answer, { action: "cancel" });
  assert.deepEqual((await asked(visit(address), ["r", "n"])).answer, { action: "decline" });
});

test("C43 a host that looks like another is warned of", async () => {
  const { shown } = await asked(visit("https://xn--pple-43d.com/"), ["n"]);
  assert.match(shown, /Warning: xn--pple-43d\.com may be displayed as аpple\.com/);
});

test("C46 a pattern that never ends holds nobody up, and an unknown format is no reason to refuse", async () => {
  const properties: Properties = {
    slow: { type: "string", pattern: "^(a+)+$" },
    odd: { type: "string", format: "_nobody-knows" },
  };
  const slow = `${"a".repeat(40)}!`;
  const { answer } = await asked(form(properties), [slow, "x", "y"]);
  assert.deepEqual(answer, { action: "accept", content: { slow, odd: "x" } });
});

test("C47 a field of a kind that nobody knows is not asked for as if it were a text", async () => {
  const properties: Properties = { name: { type: "string" }, colour: { type: "colour" } as never };
  const { answer } = await asked(form(properties), ["Ann", "y"]);
  assert.deepEqual(answer, { action: "accept", content: { name: "Ann" } });
  assert.deepEqual((await asked(form(properties, ["colour"]), [])).answer, { action: "decline" });
});

test("C43 what an agent writes cannot leave its line, and becomes no link", async () => {
  const { shown } = await asked({ ...form({}), message: "a\u001b[2Jb\nc" }, ["n"]);
  assert.match(shown, /asks: ab c\n/);
  const link = "\u001b]8;;https://evil.example/\u0007here\u001b]8;;\u0007";
  const linked = await asked({ ...visit("https://example.org/"), message: `click ${link}` }, ["n"]);
  assert.match(linked.shown, /asks: click here\n/);
});
