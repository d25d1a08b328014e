import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "@parley/acp";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import fc from "fast-check";
import { anyEntries } from "../../../../acp/test/support/arbitrary-entries.ts";
import { propertyRuns } from "../../../../acp/test/support/soak.ts";
import { unicodeMarks } from "../../draw/marks.ts";
import { widthOf } from "../../draw/text-lines.ts";
import { painter } from "../../terminal/paint.ts";
import { withoutColours } from "./find-text.ts";
import { FullTranscript } from "./full-transcript.ts";

const text = (value: string) => ({ type: "text", text: value }) as const;

/** A transcript on a screen. */
class Opened {
  readonly view: SessionView;
  readonly done: unknown[] = [];
  columns = 40;
  rows = 6;
  readonly sheet: FullTranscript;
  #seq = 0;

  constructor(isColoured = false, timelineBytes?: number) {
    this.view = createView({ timelineBytes });
    this.sheet = new FullTranscript({
      view: () => this.view,
      paint: painter(isColoured, {}),
      cwd: "/project",
      marks: unicodeMarks,
      clock: () => 1_000,
      closed: () => this.done.push("closed"),
      open: (path, line) => this.done.push({ path, line }),
      openAttachment: async ({ what, number }) => {
        this.done.push(`${what} ${number}`);
        return "opened it";
      },
      copy: (copied) => this.done.push({ copied }),
      redraw: () => undefined,
    });
  }

  add(...bodies: readonly object[]): this {
    for (const body of bodies) {
      this.#seq += 1;
      // the bodies of tests are those of entries
      applyEntry(this.view, { format: 1, seq: this.#seq, time: 1_000, ...body } as unknown as Entry);
    }
    return this;
  }

  update(...updates: readonly object[]): this {
    return this.add(...updates.map((update) => ({ kind: "update", update })));
  }

  notices(from: number, to: number): this {
    for (let at = from; at <= to; at += 1)
      this.update({ sessionUpdate: "notice", severity: "info", title: `n${at}` });
    return this;
  }

  prompt(value: string): this {
    return this.add({ kind: "prompt", messageId: value, prompt: [text(value)] });
  }

  say(value: string, messageId = value.slice(0, 20)): this {
    return this.update({ sessionUpdate: "agent_message_chunk", messageId, content: text(value) });
  }

  call(toolCallId: string, fields: object): this {
    return this.update({
      sessionUpdate: "tool_call_update",
      toolCallId,
      title: toolCallId,
      status: "completed",
      ...fields,
    });
  }

  /** Keys by their names; a single character is typed. */
  press(...keys: readonly string[]): this {
    for (const key of keys)
      this.sheet.key(key.length === 1 ? { data: key, id: key, text: key } : { data: "", id: key });
    return this;
  }

  /** Without the footer. */
  get body(): string[] {
    const { columns, rows } = this;
    return this.sheet.draw({ columns, rows }).lines.slice(0, -1);
  }

  get footer(): string {
    const { columns, rows } = this;
    return this.sheet.draw({ columns, rows }).lines.at(-1) ?? "";
  }

  /** The line of the cursor. */
  get here(): string {
    return (this.body.find((line) => line.startsWith("▶")) ?? "").slice(2);
  }
}

test("it opens at the end and goes on following, until the user moves up", () => {
  const opened = new Opened().notices(1, 20);
  assert.equal(opened.footer, "20 of 20 · follows        ? help  q back");
  assert.deepEqual(opened.body, ["  ! n16", "  ! n17", "  ! n18", "  ! n19", "▶ ! n20"]);
  opened.notices(21, 21);
  assert.equal(opened.here, "! n21");
  opened.press("up").notices(22, 30);
  assert.equal(opened.here, "! n20");
  opened.press("G");
  assert.equal(opened.here, "! n30");
  assert.equal(opened.footer, "30 of 30 · follows        ? help  q back");
});

test("an empty transcript shows nothing, whatever is pressed", () => {
  const opened = new Opened();
  opened.press("up", "down", "g", "G", "[", "]", "enter", "E", "o", "y", "/", "a", "enter", "n", "N");
  assert.deepEqual(opened.body, ["", "", "", "", ""]);
  assert.deepEqual(opened.done, []);
});

test("lines, half pages, start and end", () => {
  const opened = new Opened().notices(1, 20);
  assert.equal(opened.press("g").here, "! n1");
  assert.equal(opened.press("j", "j").here, "! n3");
  assert.equal(opened.press("k").here, "! n2");
  assert.equal(opened.press("pageDown").here, "! n4");
  assert.deepEqual(opened.body[0], "  ! n3");
  assert.equal(opened.press("ctrl+u").here, "! n2");
  assert.equal(opened.press("wheelDown").here, "! n5");
  assert.equal(opened.press("end").here, "! n20");
  assert.equal(opened.press("home", "up").here, "! n1");
});

test("jumps between prompts", () => {
  const opened = new Opened();
  for (const name of ["one", "two", "three"]) opened.prompt(name).notices(1, 10);
  assert.equal(opened.press("[").here, "› three");
  assert.equal(opened.press("ctrl+up").here, "› two");
  assert.equal(opened.press("[", "[").here, "› one");
  assert.match(opened.footer, /no prompt above/);
  assert.equal(opened.press("]").here, "› two");
  assert.equal(opened.press("down", "down", "[").here, "› two");
});

test("Enter unfolds the item under the cursor and folds it again; E all", () => {
  const opened = new Opened();
  opened.rows = 30;
  const output = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`).join("\n");
  const content = [{ type: "content", content: text(output) }];
  opened.call("build", { kind: "execute", content }).call("test", { kind: "execute", content });
  const count = () => opened.body.filter((line) => /line \d+$/.test(line)).length;
  assert.equal(count(), 16);
  opened.press("enter");
  assert.equal(count(), 20);
  assert.match(opened.here, /test/);
  opened.press("tab");
  assert.equal(count(), 16);
  opened.press("E");
  assert.equal(count(), 24);
  opened.press("E");
  assert.equal(count(), 16);
});

test("search goes to the next line with the text, around the end, and back", () => {
  const opened = new Opened().notices(1, 30);
  opened.press("g", "/", "N", "2", "enter");
  assert.match(opened.footer, /not found/);
  opened.press("/", "n", "2", "enter");
  assert.equal(opened.here, "! n2");
  assert.equal(opened.press("n").here, "! n20");
  assert.equal(opened.press("N", "N").here, "! n29");
  assert.match(opened.footer, /from the end/);
  assert.equal(opened.press("n").here, "! n2");
  assert.deepEqual(opened.press("escape").done, []);
  assert.deepEqual(opened.press("escape").done, ["closed"]);
});

test("search finds folded output and unfolds it", () => {
  const opened = new Opened();
  const output = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join("\n");
  opened
    .call("build", { kind: "execute", content: [{ type: "content", content: text(output) }] })
    .notices(1, 5);
  opened.press("/", ..."line 42", "enter");
  assert.equal(opened.here.trim(), "line 42");
  opened.press("g", "/", ..."no such", "enter");
  assert.match(opened.footer, /not found/);
});

test("what was found is marked, with and without colours", () => {
  const coloured = new Opened(true).say("some `code` here");
  coloured.press("/", ..."de he", "enter");
  const line = coloured.body.find((each) => withoutColours(each).includes("some code here"));
  assert.ok(line?.includes("\u001b[7mde\u001b[0m\u001b[7m he\u001b[27m"), JSON.stringify(line));
  const plain = new Opened().notices(1, 3);
  plain.press("/", "n", "2", "enter", "g");
  assert.deepEqual(plain.body.slice(0, 3), ["▶ ! n1", "* ! n2", "  ! n3"]);
});

test("the search line has the cursor, and takes a paste", () => {
  const opened = new Opened().notices(1, 3).press("/", "n");
  opened.sheet.key({ data: "", id: "", paste: "2\u001b[2J\n" });
  const { lines, cursor } = opened.sheet.draw({ columns: 40, rows: 6 });
  assert.deepEqual([lines.at(-1), cursor], ["/n2", { row: 5, column: 3 }]);
  opened.press("backspace", "3", "enter");
  assert.equal(opened.here, "! n3");
});

test("o opens the file of the item at its line", () => {
  const opened = new Opened();
  opened.call("read", { kind: "read", locations: [{ path: "src/a.ts", line: 7 }] });
  assert.deepEqual(opened.press("o").done.splice(0), [{ path: "/project/src/a.ts", line: 7 }]);
  const oldText = "1\n2\n3\n4\n5\n6\n";
  const diff = { type: "diff", path: "/project/b.ts", oldText, newText: oldText.replace("5", "five") };
  opened.call("edit", { kind: "edit", content: [diff] });
  opened.press("G");
  opened.body;
  const [place] = opened.press("o").done.splice(0);
  assert.deepEqual(place, { path: "/project/b.ts", line: 5 });
  const resource = { uri: "file:///project/c.txt", text: "c" };
  opened.update({
    sessionUpdate: "agent_message",
    messageId: "r",
    content: [{ type: "resource", resource }],
  });
  assert.deepEqual(opened.press("G", "o").done.splice(0), [{ path: "/project/c.txt", line: undefined }]);
  opened.say("no file");
  opened.body;
  assert.deepEqual(opened.press("o").done, []);
  assert.match(opened.footer, /names no file/);
});

test("o opens an image, and says so", async () => {
  const opened = new Opened();
  const content = [
    { type: "text", text: "Look" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
  ];
  opened.update({ sessionUpdate: "agent_message", messageId: "r", content });
  opened.body;
  assert.deepEqual(opened.press("o").done, ["image 1"]);
  await Promise.resolve();
  assert.match(opened.footer, /opened it/);
});

test("y copies the text of the item as the agent sent it", () => {
  const opened = new Opened().say("Some **bold** text");
  opened.body;
  assert.deepEqual(opened.press("y").done, [{ copied: "Some **bold** text" }]);
  assert.match(opened.footer, /copied/);
});

test("? shows the keys, Esc hides them, q goes back", () => {
  const opened = new Opened().notices(1, 20);
  opened.columns = 80;
  opened.rows = 12;
  const before = opened.body.length;
  assert.ok(opened.press("?").body.some((line) => line.includes("n N: next, previous")));
  assert.equal(opened.body.length, before);
  assert.ok(!opened.press("escape").body.some((line) => line.includes("n N: next, previous")));
  assert.deepEqual(opened.done, []);
  assert.deepEqual(opened.press("q").done, ["closed"]);
});

test("a long message is drawn in parts, and nothing of it is lost", () => {
  const code = Array.from({ length: 1_000 }, (_, at) => `code${at};`).join("\n");
  const paragraphs = Array.from({ length: 500 }, (_, at) => `Word${at} and **more** of it.`).join("\n\n");
  const opened = new Opened().say(
    `${paragraphs}\n\n\`\`\`js\n${code}\n\`\`\`\n\nThe end ${"very ".repeat(5_000)}long.`,
    "m",
  );
  opened.rows = 5_000;
  const all = opened.body.join("\n");
  assert.deepEqual(
    all.match(/Word\d+/g),
    Array.from({ length: 500 }, (_, at) => `Word${at}`),
  );
  assert.deepEqual(
    all.match(/code\d+/g),
    Array.from({ length: 1_000 }, (_, at) => `code${at}`),
  );
  assert.equal(all.match(/very/g)?.length, 5_000);
  assert.doesNotMatch(all, /```/);
  opened.rows = 10;
  assert.match(opened.press("/", ..."code777;", "enter").here, /code777;/);
});

test("keys in any order, on any screen, show as many lines as there are rows (TH5)", () => {
  const keys = [
    "up",
    "down",
    "pageUp",
    "pageDown",
    "g",
    "G",
    "[",
    "]",
    "enter",
    "E",
    "/",
    "a",
    "n",
    "N",
    "?",
    "y",
    "o",
    "escape",
  ];
  const size = fc.record({
    columns: fc.integer({ min: 22, max: 100 }),
    rows: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(
      anyEntries,
      fc.array(fc.tuple(fc.constantFrom(...keys), size), { maxLength: 30 }),
      (entries, presses) => {
        const opened = new Opened();
        for (const [at, { seq, ...entry }] of entries.entries()) {
          opened.add(entry);
          const [key, { columns, rows }] = presses[at] ?? ["down", { columns: 40, rows: 10 }];
          opened.press(key);
          const { lines } = opened.sheet.draw({ columns, rows });
          assert.equal(lines.length, rows);
          for (const line of lines) {
            // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
            assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
            assert.ok(widthOf(line) <= columns, `${widthOf(line)} of ${columns} columns: ${line}`);
          }
        }
      },
    ),
    propertyRuns(150, 5_000),
  );
});

test("a transcript whose view has dropped its oldest items says so, and stays where the user reads", () => {
  const opened = new Opened(false, 100_000);
  opened.notices(1, 1_000);
  assert.equal(opened.here, "! n1000");
  opened.press("up", "up");
  const { dropped } = opened.view;
  assert.equal(opened.here, "! n998");
  // fewer than it keeps
  for (let at = 1_001; opened.view.dropped === dropped; at += 1) opened.notices(at, at);
  assert.equal(opened.here, "! n998");
  assert.match(opened.footer, /^998 of 1,\d+ /);
  opened.press("g");
  assert.match(opened.body.join("\n"), /… [\d,]+ items more above: \/export/);
});

test("a message of megabytes has all its parts, also code over the end of a block", () => {
  const opened = new Opened();
  opened.columns = 60;
  opened.say("```ts\n", "m");
  for (let at = 0; at < 12_000; at += 1) opened.say(`line ${at} of code, which goes on for a while\n`, "m");
  opened.say("```\n\nThe end.\n", "m");
  const [item] = opened.view.timeline;
  assert.ok(item?.kind === "agent_message" && item.content.length > 1);
  assert.match(opened.body.join("\n"), /The end/);
  opened.press("/", "l", "i", "n", "e", " ", "9", "0", "0", "0", " ", "enter");
  assert.match(opened.body.join("\n"), /line 9000 of code/);
  opened.rows = 13_000;
  const all = opened.press("g").body;
  assert.equal(all.filter((line) => /line \d+ of code/.test(line)).length, 12_000);
  assert.equal(all.filter((line) => /```/.test(line)).length, 0);
});
