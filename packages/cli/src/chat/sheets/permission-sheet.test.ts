import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionQuestion, PermissionReply, RuleSubject } from "@parley/client/policy";
import {
  choice,
  commandSubject as command,
  editChoices,
  editSubject,
  usualChoices as usual,
} from "../../../test/support/question-samples.ts";
import { SheetProbe, sheetSizes } from "../../../test/support/sheet-probe.ts";
import { keyPress } from "../../screen/key-press.ts";
import { painter } from "../../terminal/paint.ts";
import { questionSheet } from "./question-sheet.ts";

const plain = painter(false, {});

interface Given {
  readonly question?: Partial<PermissionQuestion>;
  readonly from?: string;
  readonly count?: number;
  readonly paint?: typeof plain;
}

function sheetFor({ question, from, count = 1, paint = plain }: Given = {}) {
  const replies: PermissionReply[] = [];
  const sheet = questionSheet(
    {
      id: "1",
      ...(from === undefined ? {} : { from }),
      kind: "permission",
      question: {
        sessionId: "s",
        summary: "run npm test (in /project)",
        subjects: [command],
        reason: "no rule applies to it",
        isAlwaysAsked: false,
        choices: usual,
        signal: new AbortController().signal,
        ...question,
      },
      answer: (reply) => replies.push(reply),
    },
    {
      agent: "claude",
      cwd: "/project",
      paint,
      screen: { copy: () => undefined, suspend: (work) => work() },
      count: () => count,
    },
  );
  return { sheet, replies };
}

function asked(given?: Given) {
  const { sheet, replies } = sheetFor(given);
  return { probe: new SheetProbe(sheet), replies };
}

const longCommand = (text: string): Partial<PermissionQuestion> => ({
  subjects: [{ origin: "op", operation: "exec", shellLine: text, cwd: "/project" }],
});

test("a permission is asked for as run does it: what, why, the command, and what each answer covers", () => {
  assert.deepEqual(asked().probe.lines(), [
    "│ ? run a command, for claude",
    "│   no rule applies to it",
    "│     npm test",
    "│   y  yes, this once",
    "│   s  `npm test`, this session                     allow exec npm test",
    "│   a  `npm test`, always in this folder (30 days)  allow exec npm test",
    "│   n/Enter/Esc no  e no, say why  ? more",
  ]);
  // in a window without room for it, the answers take as few rows as possible
  assert.deepEqual(asked().probe.lines(100, 5).slice(-1), [
    "│   y once  s this session  a this folder, 30 days  n/Enter/Esc no  e no, say why  ? more",
  ]);
});

test("of an answer the key has a colour, and the rule is fainter than what the answer covers", () => {
  const paint = painter(true, { FORCE_COLOR: "1" });
  const lines = asked({ paint }).probe.lines();
  assert.equal(lines[3]?.includes(`  ${paint("accent", "y")}  yes, this once`), true, lines[3]);
  assert.equal(lines[4]?.includes(paint("dim", "allow exec npm test")), true, lines[4]);
  assert.equal(
    lines
      .slice(3)
      .join("\n")
      .includes(paint("strong", "x").split("x")[0] ?? ""),
    false,
  );
});

test("all edits of this session are one key, at 40 columns too", () => {
  const question = {
    summary: "write /project/src/a.ts",
    subjects: [editSubject],
    choices: editChoices,
  };
  const { probe, replies } = asked({ question });
  assert.match(
    probe.text(40, 20),
    /│ {3}s {2}this file, this session\n│ {3}w {2}all edits, this session\n│ {3}a {2}this folder, 30 days\n/,
  );
  probe.press("w");
  assert.deepEqual(replies, ["allow:edits"]);
});

test("one key answers", () => {
  for (const [key, reply] of [
    ["y", "allow:once"],
    ["Y", "allow:once"],
    ["s", "allow:session"],
    ["a", "allow:workspace"],
    ["n", "deny:once"],
    ["enter", "deny:once"],
    ["escape", "deny:once"],
  ] as const) {
    const { probe, replies } = asked();
    probe.press(key);
    assert.deepEqual(replies, [reply], key);
  }
});

test("a key that is no answer is said to be none, and a paste answers nothing", () => {
  const { probe, replies } = asked();
  assert.match(probe.press("x").text(), /"x" is not an answer/);
  probe.paste("y");
  assert.deepEqual(replies, []);
});

test("nothing is approved by what was typed when the question came: a key counts after 300 ms without one", () => {
  const { probe, replies } = asked();
  const type = (text: string, at: number) => probe.sheet.key(keyPress(text) ?? assert.fail(), at);
  // somebody who writes on
  for (const at of [0, 100, 250, 400, 650, 900]) type("y", at);
  type("\r", 1_100);
  assert.deepEqual(replies, []);
  const said = (now: number) =>
    /did not count/.test(probe.sheet.draw({ columns: 60, rows: 12 }, now).lines.join("\n"));
  assert.deepEqual([said(1_200), said(1_400)], [true, false]);
  type("y", 1_400);
  assert.deepEqual(replies, ["allow:once"]);
});

test("a question that nobody has seen takes no answer", () => {
  const { sheet, replies } = sheetFor();
  sheet.key(keyPress("y") ?? assert.fail(), 5_000);
  assert.deepEqual(replies, []);
});

test("a no can have a reason, and Escape goes back to the question", () => {
  const { probe, replies } = asked();
  assert.match(probe.press("e").text(), /Reason for the agent: $/);
  probe.press("yes", "escape");
  assert.deepEqual(replies, []);
  probe.press("e").paste("use pnpm\n").press("enter");
  assert.deepEqual(replies, [{ id: "deny:once", said: "use pnpm" }]);
  const silent = asked();
  silent.probe.press("e", "enter");
  assert.deepEqual(silent.replies, ["deny:once"]);
});

test("more shows the agent's words and the rare answers, which count only then", () => {
  const question = { claimed: { title: "Harmless\u001b[2J" }, allowedBy: ["exec npm test"] };
  const { probe, replies } = asked({ question });
  assert.match(probe.press("2").text(), /"2" is not an answer/);
  assert.match(probe.press("r").text(), /"r" is not an answer/);
  const shown = probe.press("?").text();
  assert.match(shown, /the agent's title: Harmless\\u001b\[2J/);
  assert.match(shown, /2 {2}No \(option of the agent: allows it for this session\)/);
  probe.press("2");
  assert.deepEqual(replies, ["option:0"]);
});

test("the rule that is remembered can be edited, and one that cannot be meant is explained", () => {
  const { probe, replies } = asked({ question: { allowedBy: ["exec npm test"] } });
  assert.match(probe.press("?", "r").text(), /Rule to allow here for 30 days: exec npm test$/);
  assert.match(probe.press("ctrl+u", "exec 'npm *'", "enter").text(), /"exec 'npm \*'": /);
  probe.press("ctrl+u", "exec npm **", "enter");
  assert.deepEqual(replies, [{ id: "allow:workspace", rule: "exec npm **" }]);
});

test("what is asked every time is answered with yes and no only", () => {
  const choices = [choice("allow:once"), choice("deny:once")];
  const { probe, replies } = asked({ question: { isAlwaysAsked: true, choices } });
  assert.match(probe.text(), /asked every time[\s\S]* {2}y {2}yes, this once\n.* {2}n\/Enter\/Esc no$/);
  probe.press("e", "?", "a", "1");
  assert.deepEqual(replies, []);
});

test("of many options one is chosen by a number of several digits", () => {
  const many = Array.from({ length: 12 }, (_, at) =>
    choice(`option:${at}`, { effect: "allow", name: `Option ${at}` }),
  );
  const { probe, replies } = asked({ question: { choices: many } });
  probe.press("12", "enter");
  assert.deepEqual(replies, ["option:11"]);
});

test("the subagent that asks and the number of questions are named", () => {
  const { probe } = asked({ from: "review\u001b]0;x\u0007er", count: 3 });
  assert.match(probe.text(), /^│ question 1 of 3 · from the subagent review\\u001b\]0;x\\u0007er\n/);
});

test("TH5 a long command never hides the answers, at any size, and all of it can be scrolled to", () => {
  const lines = Array.from({ length: 100 }, (_, at) => `echo line-${at} ${"x".repeat(at)}`);
  for (const [columns, rows] of sheetSizes) {
    const { probe } = asked({
      question: longCommand(`${lines.join("\n")}\nrm -rf evil`),
      from: "sub",
      count: 2,
    });
    const drawn = probe.lines(columns, rows);
    assert.match(drawn.slice(-4).join(""), /y (?:once| yes, this once).*n\/Enter\/Esc no.*\? more$/);
    assert.match(drawn.join("\n"), /of \d{3}/, "says that there is more");
    let seen = "";
    for (let page = 0; page < 500 && !seen.includes("rm -rf evil"); page++)
      seen += probe.press("pageDown").text(columns, rows);
    assert.match(seen, /rm -rf evil/, `${columns}x${rows}`);
    assert.match(probe.text(columns, rows), /y (?:once| yes, this once)/);
  }
});

test("the wheel and the arrows scroll, and answer nothing", () => {
  const text = Array.from({ length: 50 }, (_, at) => `echo line-${at}`).join("\n");
  const { probe, replies } = asked({ question: longCommand(text) });
  assert.match(probe.press("down", "wheelDown").text(100, 10), /lines 5-/);
  assert.match(probe.press("pageUp").text(100, 10), /lines 1-/);
  assert.deepEqual(replies, []);
});

test("TH5 N198-N208 escape sequences, bidi and look-alike letters are shown by their number", () => {
  const evil =
    "\u001b[2J\u001b[5A\u001b]52;c;aGk=\u0007\u001b]0;t\u0007\u009b6n\u001bP+q\u001b\\ \u202egnp.sh\u200b npm t\u0435st";
  const question = { ...longCommand(evil), reason: evil, claimed: { title: evil, description: evil } };
  for (const [columns, rows] of sheetSizes)
    asked({ question, from: evil }).probe.press("?").text(columns, rows);
  const shown = asked({ question }).probe.text();
  assert.match(shown, /\\u001b\[2J/);
  assert.match(shown, /\\u202egnp\.sh/);
  assert.match(shown, /t\\u\{435\}st/);
});

test("TH5 a heap of marks on one character is not drawn over other lines, and none is left out", () => {
  const reason = `a${"\u0301".repeat(500)}b`;
  const shown = asked({ question: { reason } }).probe.text(160, 50);
  assert.doesNotMatch(shown, /\p{M}{9}/u);
  assert.equal(shown.replaceAll(/\n│ +/g, "").split("\\u{301}").length - 1, 492);
});

test("TH5 a command that imitates the answers is indented below the question, and the last lines are ours", () => {
  const fake = "  y  yes, this once\n  n/Enter/Esc no  e no, say why  ? more\n│ ? harmless\n";
  const { probe } = asked({ question: longCommand(fake.repeat(10)) });
  const drawn = probe.lines(100, 12);
  const last = drawn.filter((line) => line.startsWith("│   n/Enter/Esc no"));
  assert.deepEqual([last.length, drawn.at(-1)], [1, last[0]]);
  assert.equal(drawn.filter((line) => line.startsWith("│   y  yes")).length, 1);
  assert.equal(drawn.filter((line) => line.startsWith("│ ?")).length, 1);
});

test("a change is shown whole, in colour, and each row keeps its colour", () => {
  const newText = Array.from({ length: 100 }, (_, at) => `line ${at} ${"y".repeat(120)}`).join("\n");
  const subjects: RuleSubject[] = [{ origin: "op", operation: "write", path: "/project/notes" }];
  const question = { summary: "write /project/notes", subjects, diff: { path: "/project/notes", newText } };
  const paint = painter(true, { FORCE_COLOR: "1" });
  const { probe } = asked({ question, paint });
  const drawn = probe.lines(60, 400);
  assert.match(drawn.join("\n"), /line 99/);
  const rest = drawn.filter((line) => line.includes("yyy") && !line.includes("line"));
  assert.ok(rest.length > 90, String(rest.length));
  const [ground = ""] = paint("addedLine", "x").split("x");
  for (const line of rest) assert.ok(line.includes(ground), JSON.stringify(line));
});
