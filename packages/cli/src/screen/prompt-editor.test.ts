import assert from "node:assert/strict";
import { test } from "node:test";
import { keyPress } from "./key-press.ts";
import { PromptEditor } from "./prompt-editor.ts";

const plainMenu = {
  selectedPrefix: (text: string) => text,
  selectedText: (text: string) => `* ${text}`,
  description: (text: string) => text,
  scrollInfo: (text: string) => text,
  noMatch: (text: string) => text,
};

function editor() {
  const redrawn = Promise.withResolvers<void>();
  const made = new PromptEditor({ rows: () => 40, redraw: () => redrawn.resolve(), menu: plainMenu });
  const press = (...sequences: string[]) => {
    for (const sequence of sequences) made.handle(keyPress(sequence) ?? assert.fail(`no key: ${sequence}`));
  };
  const type = (text: string) => press(...text);
  return { made, press, type, redrawn: redrawn.promise };
}

const enter = "\r";
const shiftEnter = "\u001b[13;2u";
const up = "\u001b[A";

test("text is written in several lines, and Enter submits it", () => {
  const { made, press, type } = editor();
  const sent: string[] = [];
  made.onSubmit = (text) => sent.push(text);
  type("one");
  press(shiftEnter);
  type("two");
  assert.deepEqual(made.draw(40), {
    lines: ["one", "two"],
    cursor: { row: 1, column: 3 },
    menu: [],
    hidden: { above: 0, below: 0 },
  });
  press(enter);
  assert.deepEqual(sent, ["one\ntwo"]);
  assert.equal(made.text, "");
});

test("undo brings back what a key took away", () => {
  const { made, press, type } = editor();
  type("one two");
  press("\u0017"); // ctrl+w
  assert.equal(made.text, "one ");
  press("\u001f"); // ctrl+-
  assert.equal(made.text, "one two");
});

test("the up key brings back earlier prompts, and down the draft", () => {
  const { made, press, type } = editor();
  made.remember("first");
  made.remember("second");
  type("draft");
  press("\u0001", up); // to the start of the line first
  assert.equal(made.text, "second");
  press(up);
  assert.equal(made.text, "first");
  press("\u001b[B", "\u001b[B");
  assert.equal(made.text, "draft");
});

test("a long paste is folded where it is shown, and whole where it is sent", () => {
  const { made, press } = editor();
  const long = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
  press(`\u001b[200~${long}\u001b[201~`);
  const { lines } = made.draw(60);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /paste.*50 lines/);
  assert.equal(made.text, long);
});

test("a line that is too long is wrapped, and the cursor is where the next character goes", () => {
  const { made, type } = editor();
  type("one two three four");
  const { lines, cursor } = made.draw(10);
  assert.deepEqual(lines, ["one two", "three", "four"]);
  assert.deepEqual(cursor, { row: 2, column: 4 });
});

test("the menu shows completions, and Tab takes one", async () => {
  const { made, press, type, redrawn } = editor();
  made.complete({
    triggerCharacters: ["@"],
    getSuggestions: async (lines) => ({
      prefix: lines[0] ?? "",
      items: [{ value: "@src/main.ts", label: "main.ts", description: "src" }],
    }),
    applyCompletion: (_lines, cursorLine, _column, item) => ({
      lines: [`${item.value} `],
      cursorLine,
      cursorCol: item.value.length + 1,
    }),
  });
  type("@ma");
  await redrawn;
  assert.equal(made.hasMenu, true);
  assert.match(made.draw(40).menu.join("\n"), /main\.ts/);
  press("\t");
  assert.equal(made.text, "@src/main.ts ");
  type(":10-12");
  assert.equal(made.text, "@src/main.ts:10-12", "lines follow a completed name");
  type(" is: this");
  assert.equal(made.text, "@src/main.ts:10-12 is: this");
});
