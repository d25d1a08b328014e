import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair } from "@parley/acp/transport";
import type { Conversation } from "@parley/client/conversation";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import fc from "fast-check";
import { anyEntries } from "../../../../acp/test/support/arbitrary-entries.ts";
import { propertyRuns } from "../../../../acp/test/support/soak.ts";
import { chunk, Shown, text } from "../../../test/support/shown-feed.ts";
import { widthOf } from "../../draw/text-lines.ts";

test("a message is printed block by block, and its last block is in the tail", () => {
  const shown = new Shown();
  shown.add({ kind: "prompt", messageId: "p", prompt: [text("Do it")] });
  shown.is(["› Do it"], []);
  shown.say("First para");
  shown.is(["› Do it"], ["", "  First para"]);
  shown.say("graph.\n\nSecond");
  shown.is(["› Do it", "", "  First paragraph."], ["", "  Second"]);
  shown.end("end_turn", { files: 3, added: 92, removed: 46 });
  shown.is(["› Do it", "", "  First paragraph.", "", "  Second", "", "3 files +92 -46 · 12.3 s"], []);
});

test("a running tool call is in the tail with its time, and what follows waits for its end", () => {
  const shown = new Shown();
  shown.say("I look.");
  shown.call("1", { title: "Run tests", kind: "execute", status: "in_progress" });
  shown.now = 3_200;
  shown.draw();
  shown.is(["  I look."], ["", "◐ $ Run tests  3.2 s"]);
  shown.say("Meanwhile", "n");
  shown.is(["  I look."], ["", "◐ $ Run tests  3.2 s", "", "  Meanwhile"]);
  shown.call("1", { status: "completed" });
  shown.is(["  I look.", "", "✓ $ Run tests"], ["", "  Meanwhile"]);
});

test("the task of a subagent stays above its calls; the call of a plan, which is shown itself, does not", () => {
  const shown = new Shown();
  shown.call("plan", { title: "Plan: 0 of 1 done", kind: "think", status: "completed" });
  shown.call("task", { title: "Task: find it", kind: "think", status: "in_progress" });
  const _meta = { claudeCode: { parentToolUseId: "task" } };
  shown.call("inner", { title: "Read a.ts", kind: "read", status: "completed", _meta });
  shown.call("task", { status: "completed" });
  assert.deepEqual(
    shown.printed.map((line) => line.trim()),
    ["✓ ∴ Task: find it", "└ ✓ ≡ Read a.ts"],
  );
});

test("the mark of a running tool call turns only if animations are on", () => {
  for (const isAnimated of [true, false]) {
    const shown = new Shown(isAnimated);
    shown.call("1", { title: "Run", status: "in_progress" });
    const marks = [0, 250, 500, 750].map((now) => {
      shown.now = now;
      return shown.draw().tail[0]?.charAt(0);
    });
    assert.deepEqual(marks, isAnimated ? ["◐", "◓", "◑", "◒"] : ["◐", "◐", "◐", "◐"]);
  }
});

test("the last lines of a running command are live", () => {
  const shown = new Shown();
  const data = (value: string) => Buffer.from(value).toString("base64");
  shown.call("1", {
    title: "build",
    kind: "execute",
    status: "in_progress",
    content: [{ type: "terminal", terminalId: "t" }],
  });
  shown.update({ sessionUpdate: "terminal_output_chunk", terminalId: "t", data: data("one\ntwo\n") });
  assert.deepEqual(shown.tail, ["◐ $ build", "    one", "    two"]);
  shown.update({ sessionUpdate: "terminal_output_chunk", terminalId: "t", data: data("three\n") });
  assert.deepEqual(shown.tail.at(-1), "    three");
});

test("if much waits for a tool call, its card is printed as it is and once more at its end", () => {
  const shown = new Shown();
  shown.rows = 8;
  shown.call("1", { title: "Long work", kind: "execute", status: "in_progress" });
  shown.call("2", { title: "A", kind: "read", status: "completed" });
  shown.call("3", { title: "B", kind: "read", status: "completed" });
  shown.is([], ["◐ $ Long work", "✓ ≡ A", "✓ ≡ B"]);
  shown.call("4", { title: "C", kind: "read", status: "completed" });
  shown.call("5", { title: "D", kind: "read", status: "in_progress" });
  const before = ["◐ $ Long work", "    … goes on", "✓ ≡ A", "✓ ≡ B", "✓ ≡ C"];
  shown.is(before, ["◐ ≡ D"]);
  shown.call("1", { status: "failed", content: [{ type: "content", content: text("exit code 1") }] });
  shown.is([...before, "✗ $ Long work", "    exit code 1"], ["◐ ≡ D"]);
});

test("a single card that is too long for the tail shows its title and its last lines", () => {
  const shown = new Shown();
  shown.rows = 4;
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join("\n");
  shown.call("1", {
    title: "build",
    kind: "execute",
    status: "in_progress",
    content: [{ type: "content", content: text(lines) }],
  });
  assert.equal(shown.tail.length, 4);
  assert.match(shown.tail[0] ?? "", /^◐ \$ build/);
  assert.deepEqual(shown.tail.slice(1), ["    line 28", "    line 29", "    line 30"]);
});

test("a change that waits for permission is printed once, however little room the question leaves", () => {
  const shown = new Shown();
  shown.rows = 3;
  const newText = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
  const content = [{ type: "diff", path: "/project/a.txt", oldText: null, newText }];
  const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" }];
  const toolCall = { toolCallId: "1", title: "Edit a.txt", kind: "edit", status: "pending", content };
  shown.add({
    kind: "ask",
    askId: "a",
    permission: { title: "Edit?", options, subject: { type: "tool_call", toolCall } },
  });
  assert.deepEqual([shown.printed.length, shown.tail.length], [0, 1]);
  shown.add({ kind: "answer", askId: "a", permission: { outcome: "selected", optionId: "yes" } });
  assert.equal(shown.printed.length, 0);
  shown.call("1", { status: "completed" });
  assert.equal(shown.printed.filter((line) => line.includes("Edit a.txt")).length, 1);
  assert.equal(shown.printed.at(-1), "? Edit?: allowed (Allow)");
});

test("an open call is printed at the end of its turn, and its end when it comes", () => {
  const shown = new Shown();
  shown.call("1", { title: "Server", kind: "execute", status: "in_progress" });
  shown.end();
  shown.is(["◐ $ Server", "    … goes on", "", "12.3 s"], []);
  shown.call("1", { status: "completed" });
  assert.deepEqual(shown.printed.slice(4), ["", "✓ $ Server"]);
});

test("a message that comes as a whole is printed again only if its text has changed", () => {
  const shown = new Shown();
  const whole = (value: string) => ({
    sessionUpdate: "agent_message",
    messageId: "m",
    content: [text(value)],
  });
  shown.say("One.\n\nTwo");
  shown.update(whole("One.\n\nTwo and three"));
  shown.is(["  One."], ["", "  Two and three"]);
  shown.end();
  shown.update(whole("One.\n\nTwo and three\n"));
  const before = ["  One.", "", "  Two and three", "", "12.3 s"];
  shown.is(before, []);
  shown.update(whole("Other."));
  shown.is([...before, "", "  ↻ the agent changed this message:"], ["  Other."]);
});

test("text that was only in the tail is replaced without a trace", () => {
  const shown = new Shown();
  shown.say("A draft");
  shown.update({ sessionUpdate: "agent_message", messageId: "m", content: [text("The answer")] });
  shown.is([], ["  The answer"]);
});

test("text that comes after the end of a turn is shown too", () => {
  const shown = new Shown();
  shown.say("Done.");
  shown.end();
  shown.say(" Not quite");
  shown.is(["  Done.", "", "12.3 s"], ["", "  Not quite"]);
  shown.add({ kind: "prompt", messageId: "p", prompt: [text("Go on")] });
  shown.is(["  Done.", "", "12.3 s", "", "  Not quite", "", "› Go on"], []);
});

test("a prompt that the agent repeats is shown once, as it was sent", () => {
  const shown = new Shown();
  shown.add({ kind: "prompt", messageId: "p", prompt: [text("Do it")] });
  shown.update({
    sessionUpdate: "user_message_chunk",
    messageId: "p",
    content: text("<wrapped>Do it</wrapped>"),
  });
  shown.say("Yes");
  shown.is(["› Do it"], ["", "  Yes"]);
});

test("thoughts are folded", () => {
  const shown = new Shown();
  shown.update({
    sessionUpdate: "agent_thought_chunk",
    messageId: "t",
    content: text("I think of it.\n\nA lot."),
  });
  shown.say("Yes");
  shown.is(["∴ I think of it. A lot. (6 words)"], ["", "  Yes"]);
});

test("a question is in the transcript with its answer; before, it has a sheet of its own", () => {
  const shown = new Shown();
  const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" }];
  shown.add({ kind: "ask", askId: "a", permission: { title: "Write a.txt", options } });
  shown.is([], []);
  shown.add({ kind: "answer", askId: "a", permission: { outcome: "selected", optionId: "yes" } });
  shown.is(["? Write a.txt: allowed (Allow)"], []);
});

test("a change that waits for permission is shown once, by the question; other content stays", () => {
  const shown = new Shown();
  const diff = { type: "diff", path: "/project/a.txt", oldText: "one\n", newText: "two\n" };
  shown.call("1", { title: "Edit a.txt", kind: "edit", status: "pending", content: [diff] });
  const card = shown.tail;
  assert.match(card.join("\n"), /Edit a\.txt[\s\S]*one[\s\S]*two/);
  shown.add({ kind: "ask", askId: "a", permission: { title: "Edit a.txt", options: [] } });
  assert.deepEqual(shown.tail, card.slice(0, 1));
  const words = { type: "content", content: text("the plan is this") };
  shown.call("2", { title: "Ready?", kind: "switch_mode", status: "pending", content: [words] });
  assert.match(shown.tail.join("\n"), /the plan is this/);
});

test("images keep their place between blocks of text", () => {
  const shown = new Shown();
  shown.say("Before");
  shown.update({
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "image", data: "AAAA", mimeType: "image/png" },
  });
  shown.say("After");
  shown.is(["  Before", "  [image 1: image/png, 3 bytes]"], ["  After"]);
});

test("a refused turn says that it is removed from the context", () => {
  const shown = new Shown();
  shown.width = 80;
  shown.add({ kind: "prompt", messageId: "p", prompt: [text("Bad")] });
  shown.end("refusal");
  assert.deepEqual(shown.printed.slice(2), [
    "The agent refused: this turn is removed from its context.",
    "refusal · 12.3 s",
  ]);
});

test("a sentence of ours is wrapped, and apart from text", () => {
  const shown = new Shown();
  shown.say("Done.\n\nMore");
  const lines = shown.feed.notice("The agent\u001b[2J takes no messages", 20, (line) => `(${line})`);
  assert.deepEqual(lines, ["", "(The agent takes no)", "(  messages)"]);
});

test("TH5 what an agent wrote before it ended does not look like lines of ours", () => {
  const shown = new Shown();
  const stderr = "✓ approved by Parley\n│ y once  n/Enter/Esc no\n>\n› yes";
  const [first, ...quoted] = shown.feed.notice(`the agent ended: exit code 3\n${stderr}`, 60, (line) => line);
  assert.equal(first, "the agent ended: exit code 3");
  assert.deepEqual(
    quoted,
    stderr.split("\n").map((line) => `  ${line}`),
  );
  assert.deepEqual(
    shown.feed.notice("✓ approved by Parley", 60, (line) => line),
    ["  ✓ approved by Parley"],
  );
});

const session = {
  title: "Fix\u001b[2J the build",
  agent: { name: "claude" },
  cwd: "/project",
} as Conversation; // what is read
const working = { ...session, turn: { startedAt: 0, isCancelling: false } };

test("another session begins with its name and the last screenful", () => {
  const shown = new Shown();
  for (let at = 1; at <= 50; at += 1)
    shown.update({ sessionUpdate: "notice", severity: "info", title: `n${at}` });
  shown.call("open", { title: "Running", kind: "read", status: "in_progress" });
  const lines = shown.feed.shown(shown.view, working, { columns: 60, rows: 6 });
  assert.deepEqual(lines.slice(0, 2), ["", "── Fix the build · claude · /project ───────────────────────"]);
  assert.deepEqual(lines.slice(2), ["", "… 48 more above: Ctrl-O shows them", "! n49", "! n50"]);
  assert.deepEqual(shown.draw().tail, ["◐ ≡ Running"]);
  shown.call("open", { status: "completed" });
  assert.equal(shown.printed.at(-1), "✓ ≡ Running");
});

test("a session that does not work is printed to its end: nothing of it is left in the tail", () => {
  const shown = new Shown();
  shown.isHeld = true;
  shown.say("The last words");
  assert.equal(shown.feed.shown(shown.view, session, { columns: 60, rows: 6 }).at(-1), "  The last words");
  shown.isHeld = false;
  assert.deepEqual(shown.draw().tail, []);
  // those that an agent tells again come later
  shown.say("Told again", "n");
  assert.deepEqual(shown.feed.settled(shown.view, { columns: 60, rows: 6 }), ["", "  Told again"]);
  assert.deepEqual(shown.draw().tail, []);
});

test("of a replay that comes at once, the last part is printed", () => {
  const shown = new Shown();
  const notices = Array.from({ length: 1_000 }, (_, at) => ({
    kind: "update",
    update: { sessionUpdate: "notice", severity: "info", title: `n${at + 1}` },
  }));
  shown.add(...notices);
  assert.deepEqual(shown.printed.slice(0, 2), ["… 900 more above: Ctrl-O shows them", "! n901"]);
  assert.equal(shown.printed.length, 101);
});

test("a flood of text is printed whole, also if it is too much to be drawn as Markdown", () => {
  const shown = new Shown();
  const words = Array.from({ length: 30_000 }, (_, at) => `w${at}`);
  shown.say(words.join(" ")).say("\n\nThe **end**").end();
  const all = shown.printed.join(" ").split(/\s+/);
  // not deepEqual, whose report of so many words takes a minute
  assert.ok(all.filter((word) => /^w\d+$/.test(word)).join(" ") === words.join(" "));
  assert.ok(shown.printed.includes("  The end") || shown.printed.includes("  The **end**"));
});

type Step =
  | { readonly kind: "say"; readonly to: "new" | "last" | "older"; readonly end: string }
  | { readonly kind: "start" | "finish" | "turn" | "hold" }
  | { readonly kind: "size"; readonly width: number; readonly rows: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("say" as const),
        to: fc.constantFrom("new" as const, "last" as const, "last" as const, "older" as const),
        end: fc.constantFrom(" ", "\n", "\n\n", "\n\n- "),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom("start" as const, "finish" as const, "turn" as const, "hold" as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("size" as const),
        width: fc.integer({ min: 12, max: 120 }),
        rows: fc.integer({ min: 1, max: 30 }),
      }),
    },
  ),
  { maxLength: 80 },
);

test("whatever comes in, every word is shown once, the words of a message in order, and no card more than twice", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const shown = new Shown();
      const said: string[][] = [];
      const open: string[] = [];
      let words = 0;
      let calls = 0;
      for (const step of list) {
        if (step.kind === "say") {
          if (step.to === "new" || said.length === 0) said.push([]);
          const at = step.to === "older" ? Math.floor(said.length / 2) : said.length - 1;
          const word = `w${words++}x`;
          said[at]?.push(word);
          shown.update(chunk(`${word}${step.end}`, `m${at}`));
        } else if (step.kind === "start") {
          const id = `c${calls++}x`;
          open.push(id);
          shown.update({
            sessionUpdate: "tool_call_update",
            toolCallId: id,
            title: id,
            status: "in_progress",
          });
        } else if (step.kind === "finish") {
          const id = open.shift();
          if (id !== undefined)
            shown.update({ sessionUpdate: "tool_call_update", toolCallId: id, status: "completed" });
        } else if (step.kind === "turn") shown.end();
        else if (step.kind === "size") Object.assign(shown, step).draw();
        else shown.isHeld = !shown.isHeld;
      }
      shown.isHeld = false;
      shown.end();
      const lines = [...shown.printed, ...shown.tail];
      const seen = lines.join(" ").split(/\s+/);
      const found = seen.filter((word) => /^w\d+x$/.test(word));
      assert.deepEqual(found.toSorted(), said.flat().toSorted());
      for (const message of said)
        assert.deepEqual(
          found.filter((word) => message.includes(word)),
          message,
        );
      for (let at = 0; at < calls; at += 1) {
        const count = seen.filter((word) => word === `c${at}x`).length;
        assert.ok(count === 1 || count === 2, `c${at}x is shown ${count} times`);
      }
    }),
    propertyRuns(200, 5_000),
  );
});

for (const edition of ["v1", "v2"] as const) {
  test(`a session with every feature is shown whole and in order, whatever the moments and sizes (${edition})`, async () => {
    const [near, far] = memoryPair();
    const served = scriptedAgent({ ...everyFeature.agent, editions: [edition] }).connect(far);
    const record = await scriptedClient({ ...everyFeature.client, editions: [edition] }).run(near);
    await served.closed;
    const sessions = Object.values(record.sessions).map(({ entries }) => entries);
    const sizes = fc.record({
      width: fc.integer({ min: 20, max: 120 }),
      rows: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...sessions),
        fc.array(sizes, { minLength: 1 }),
        fc.infiniteStream(fc.boolean()),
        (entries, looks, holds) => {
          const shown = new Shown();
          for (const [at, { seq, ...entry }] of entries.entries()) {
            Object.assign(shown, looks[at % looks.length], { isHeld: holds.next().value });
            shown.add(entry);
          }
          shown.isHeld = false;
          shown.end();
          const all = packed([...shown.printed, ...shown.tail].join(""));
          for (const item of shown.view.timeline) {
            if (item.kind !== "agent_message") continue;
            // a message that goes on after another has begun is shown in either order
            let from = 0;
            for (const block of item.content) {
              if (block.type !== "text" || packed(block.text) === "") continue;
              const found = all.indexOf(packed(block.text), from);
              assert.ok(found >= from, `"${block.text}" is not shown, or not in its place`);
              from = found + packed(block.text).length;
            }
          }
        },
      ),
      propertyRuns(40, 1_000),
    );
  });
}

/** Without blanks. */
function packed(value: string): string {
  return value.replaceAll(/\s+/g, "");
}

const hostile = [
  "\u001b[2J\u001b[1;1Hgone",
  "\u001b[5A> yes",
  "\u001b]52;c;ZXZpbA==\u0007",
  "\u001b]8;;https://evil.example\u001b\\good\u001b]8;;\u001b\\",
  "\u001b]0;title\u0007",
  "\u001b[6n",
  "\u001bP+q544e\u001b\\\u001b_app\u001b\\",
  "\u009b2J",
  "a\u202eb\u200bc",
  "\r> yes\rno",
  "tab\there\u000bvt\u000cff",
  "\ud800 half",
  "e\u0301".repeat(50) + "\u0301".repeat(500),
  "漢字".repeat(100),
];

/** Only text and colours of ours, and no line is too wide. */
function assertSafe(lines: readonly string[], width: number): void {
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u200b]/);
    assert.ok(widthOf(line) <= width, `${widthOf(line)} columns: ${line}`);
  }
}

test("nothing that an agent sends reaches the terminal as a control sequence (N198-N208, TH5)", () => {
  for (const bad of hostile) {
    const shown = new Shown();
    shown.width = 30;
    shown
      .say(`${bad.slice(0, 3)}`)
      .say(bad.slice(3))
      .say(`\n\n${bad}\n\n\`\`\`\n${bad}\n`);
    shown.update({ sessionUpdate: "agent_thought_chunk", messageId: "t", content: text(bad) });
    shown.update({ sessionUpdate: "notice", severity: "info", title: bad, description: bad });
    shown.call(bad, {
      title: bad,
      kind: "execute",
      status: "in_progress",
      content: [{ type: "content", content: text(bad) }],
    });
    assertSafe(shown.tail, 30);
    shown.update({ sessionUpdate: "subagent_update", sessionId: "s", title: bad, description: bad });
    shown.add({ kind: "prompt", messageId: bad, prompt: [text(bad)] });
    shown.end(bad);
    shown.printed.push(...shown.feed.notice(bad, 30, (line) => line));
    shown.printed.push(
      ...shown.feed.shown(shown.view, { ...session, title: bad, cwd: bad }, { columns: 30, rows: 40 }),
    );
    assertSafe([...shown.printed, ...shown.tail], 30);
  }
});

test("entries of all kinds, in any order, are drawn within the width", () => {
  fc.assert(
    fc.property(
      anyEntries,
      fc.integer({ min: 20, max: 100 }),
      fc.integer({ min: 1, max: 40 }),
      (entries, width, rows) => {
        const shown = new Shown();
        Object.assign(shown, { width, rows });
        for (const { seq, ...entry } of entries) {
          shown.add(entry);
          assert.ok(shown.tail.length <= Math.max(1, rows));
        }
        shown.end();
        assertSafe([...shown.printed, ...shown.tail], width);
      },
    ),
    propertyRuns(150, 5_000),
  );
});
