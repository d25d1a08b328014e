import assert from "node:assert/strict";
import { test } from "node:test";
import { fillForm } from "./form-questions.ts";

type Form = Parameters<typeof fillForm>[0];

async function filled(properties: Form["properties"], required: string[], answers: (string | undefined)[]) {
  const shown: string[] = [];
  const left = [...answers];
  const answer = await fillForm(
    { type: "object", properties, required },
    async (question) => {
      shown.push(question);
      return left.shift();
    },
    (text) => shown.push(text),
  );
  assert.deepEqual(left, [], "every answer was asked for");
  return { answer, shown: shown.join("") };
}

test("fields of every kind are asked for one after the other", async () => {
  const { answer, shown } = await filled(
    {
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
    },
    ["name"],
    ["Ann", "42", "y", "2", "1, 3"],
  );
  assert.deepEqual(answer, {
    action: "accept",
    content: { name: "Ann", age: 42, sure: true, size: "l", tags: ["a", "c"] },
  });
  assert.match(shown, /Your name: .*1 {2}Small\n {4}2 {2}Large\n/s);
});

test("a wrong answer is asked again, with what is wanted", async () => {
  const { answer, shown } = await filled({ age: { type: "integer" } }, ["age"], ["old", "", "1.5", "7"]);
  assert.deepEqual(answer, { action: "accept", content: { age: 7 } });
  assert.match(shown, /give a whole number/);
});

test("Enter takes the usual value, or leaves out what is not needed", async () => {
  const { answer } = await filled(
    { host: { type: "string", default: "localhost" }, port: { type: "number" } },
    [],
    ["", ""],
  );
  assert.deepEqual(answer, { action: "accept", content: { host: "localhost" } });
});

test("the end of the input gives up", async () => {
  const { answer } = await filled({ name: { type: "string" } }, ["name"], [undefined]);
  assert.deepEqual(answer, { action: "cancel" });
});
