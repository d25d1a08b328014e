import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionQuestion, RuleSubject } from "@parley/client/policy";
import {
  choice,
  commandSubject as command,
  editChoices,
  editSubject,
  usualChoices as usual,
} from "../../test/support/question-samples.ts";
import { askPermission } from "./permission-question.ts";

/** What is shown, and what comes of these answers; undefined is the end of the input. */
async function asked(given: Partial<PermissionQuestion>, answers: readonly (string | undefined)[]) {
  let shown = "";
  const left = [...answers];
  const question: PermissionQuestion = {
    sessionId: "s",
    summary: "run npm test (in /project)",
    subjects: [command],
    reason: "no rule applies to it",
    isAlwaysAsked: false,
    choices: usual,
    signal: new AbortController().signal,
    ...given,
  };
  const io = {
    ask: async (text: string) => {
      shown += text;
      return left.shift();
    },
    write: (text: string) => {
      shown += text;
    },
  };
  const reply = await askPermission(question, { agent: "claude", cwd: "/project" }, io, (_, text) => text);
  assert.deepEqual(left, [], `every answer was asked for: ${shown}`);
  return { reply, shown };
}

test("a question is what, why, the command once, and each answer with what it covers and the rule", async () => {
  const { shown } = await asked({}, ["y"]);
  assert.equal(
    shown,
    [
      "? run a command, for claude",
      "  no rule applies to it",
      "    npm test",
      "  y  yes, this once",
      "  s  `npm test`, this session                     allow exec npm test",
      "  a  `npm test`, always in this folder (30 days)  allow exec npm test",
      "  n/Enter no  e no, say why  ? more",
      "  Answer (y, s, a, n/Enter, e, ?): ",
    ].join("\n"),
  );
  const claim = await asked({ subjects: [{ ...command, origin: "claim" }] }, ["y"]);
  assert.match(claim.shown, /^\? claude wants to run a command\n/);
  const below = await asked({ subjects: [{ ...command, cwd: "/project/web" }] }, ["y"]);
  assert.match(below.shown, /^\? run a command in web, for claude\n/);
});

test("a change can be allowed with all edits of this session, and paths are relative to the folder", async () => {
  const given = {
    summary: "write /project/src/a.ts",
    subjects: [editSubject],
    reason: "/project/src/a.ts is new",
    choices: editChoices,
  };
  const { shown, reply } = await asked(given, ["w"]);
  assert.equal(reply, "allow:edits");
  assert.equal(
    shown,
    [
      "? claude wants to write src/a.ts",
      "  src/a.ts is new",
      "  y  yes, this once",
      "  s  this file, this session                     allow write src/a.ts",
      "  w  all edits, this session                     allow write",
      "  a  this file, always in this folder (30 days)  allow write src/a.ts",
      "  n/Enter no  e no, say why  ? more",
      "  Answer (y, s, w, a, n/Enter, e, ?): ",
    ].join("\n"),
  );
});

test("one letter answers: yes once, for the session, for this folder, no", async () => {
  for (const [letter, id] of [
    ["y", "allow:once"],
    ["YES", "allow:once"],
    ["s", "allow:session"],
    ["a", "allow:workspace"],
    ["n", "deny:once"],
    ["", "deny:once"],
  ] as const)
    assert.equal((await asked({}, [letter])).reply, id, letter);
  assert.equal((await asked({}, [undefined])).reply, undefined);
  const again = await asked({}, ["x", "n"]);
  assert.match(again.shown, /"x" is not an answer/);
});

test("a no can have a reason", async () => {
  assert.deepEqual((await asked({}, ["e", " use pnpm "])).reply, { id: "deny:once", said: "use pnpm" });
  assert.equal((await asked({}, ["e", ""])).reply, "deny:once");
});

test("more shows the agent's words, its own options with what they mean, and rare answers, by number", async () => {
  const claimed = { title: "Harmless\u001b[2J", description: "Just look" };
  const { reply, shown } = await asked({ claimed }, ["?", "2"]);
  assert.equal(reply, "option:0");
  assert.match(shown, /the agent's title: Harmless\\u001b\[2J\n {2}the agent says: Just look\n/);
  assert.match(shown, /1 {2}allow:always\n {2}2 {2}No \(option of the agent: allows it for this session\)\n/);
});

test("the answers behind more count only after they were shown", async () => {
  const early = await asked({ allowedBy: ["exec npm test"] }, ["2", "r", "n"]);
  assert.equal(early.reply, "deny:once");
  assert.equal(early.shown.split("is not an answer").length - 1, 2);
  // the options of a question that the agent itself asks are shown at once
  const own = await asked({ choices: [choice("option:0", { effect: "allow", name: "Blue" })] }, ["1"]);
  assert.equal(own.reply, "option:0");
});

test("what is asked every time can be answered with yes and no only, and the question says so", async () => {
  const choices = [choice("allow:once"), choice("deny:once")];
  const { reply, shown } = await asked({ isAlwaysAsked: true, choices }, ["e", "?", "y"]);
  assert.equal(reply, "allow:once");
  assert.match(shown, /no rule applies to it; this is asked every time\n/);
  assert.match(shown, / {2}y {2}yes, this once\n {2}n\/Enter no\n {2}Answer \(y, n\/Enter\): /);
  assert.doesNotMatch(shown, /say why|more/);
});

test("V7 variables come before the command, all of them and in full, with escape sequences by their code points", async () => {
  const filler = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`FILLER_${at}`, "x"]));
  const env = { ...filler, RM: "rm -f ; \u001b]0 ; touch PWN ; \u0007 #" };
  const { shown } = await asked({ env }, ["n"]);
  assert.match(shown, /with RM=rm -f ; \\u001b\]0 ; touch PWN ; \\u0007 #\n/);
  assert.equal(shown.split("  with ").length - 1, 41);
  assert.ok(shown.indexOf("with RM=") < shown.indexOf("    npm test"));
});

test("V7 a command is shown whole, line by line, and nothing in it is hidden", async () => {
  const shellLine = `echo ${"a".repeat(5_000)}  b\n\u202eevil\rx`;
  const { shown } = await asked({ subjects: [{ origin: "op", operation: "exec", shellLine }] }, ["n"]);
  assert.ok(shown.includes(`    echo ${"a".repeat(5_000)}  b\n    \\u202eevil\\u000dx\n`), shown.slice(-200));
});

test("V7 the variables of what an agent says are shown like those of what is done", async () => {
  const claim: RuleSubject = { ...command, origin: "claim", env: { RM: "evil \u001b[2J" } };
  const { shown } = await asked({ subjects: [claim] }, ["n"]);
  assert.match(shown, /\n {2}with RM=evil \\u001b\[2J\n {4}npm test\n/);
});

test("V7 of several commands each has its directory and its variables, and of many files none is left out", async () => {
  const other: RuleSubject = { ...command, argv: ["make"], cwd: "/elsewhere", env: { RM: "evil" } };
  const both = await asked({ subjects: [command, other] }, ["n"]);
  assert.match(both.shown, /^\? run 2 commands, for claude\n/);
  assert.match(
    both.shown,
    /\n {2}in this folder\n {4}npm test\n {2}in \/elsewhere\n {2}with RM=evil\n {4}make\n/,
  );
  const files = Array.from(
    { length: 40 },
    (_, at): RuleSubject => ({ origin: "claim", operation: "write", path: `/p/f${at}` }),
  );
  const { shown } = await asked({ subjects: [...files, other], summary: "cut" }, ["n"]);
  assert.match(shown, /^\? claude wants to do 41 things\n/);
  for (const at of files.keys()) assert.ok(shown.includes(`\n  write /p/f${at}\n`), `f${at}`);
});

test("V7 letters that look like others, and characters that nobody sees, are shown by their number", async () => {
  const shellLine = "npm t\u0435st; a\u3164b\u00ad\u{e0041}";
  const { shown } = await asked({ subjects: [{ origin: "op", operation: "exec", shellLine }] }, ["n"]);
  assert.ok(shown.includes("    npm t\\u{435}st; a\\u3164b\\u00ad\\u{e0041}\n"), shown);
});

test("of what is asked every time the whole change is shown, as no more can be asked for", async () => {
  const newText = `${"x".repeat(5_000)}evil${"x".repeat(5_000)}\n${"line\n".repeat(200)}last`;
  const subjects: RuleSubject[] = [{ origin: "op", operation: "write", path: "/project/.git/config" }];
  const given = { summary: "write .git/config", subjects, diff: { path: "/project/.git/config", newText } };
  const choices = [choice("allow:once"), choice("deny:once")];
  const { shown } = await asked({ ...given, choices, isAlwaysAsked: true }, ["n"]);
  assert.match(shown, /xevilx/);
  assert.match(shown, /202 \+ last\n/);
  assert.doesNotMatch(shown, /more lines|more characters/);
});

test("all changes of a call are shown, each with its file", async () => {
  const diff = { path: "/p/a.ts", newText: "harmless" };
  const moreDiffs = [{ path: "/p/b.ts", newText: "evil" }];
  const subjects = ["a", "b"].map(
    (name): RuleSubject => ({ origin: "claim", operation: "write", path: `/p/${name}.ts` }),
  );
  const { shown } = await asked({ subjects, diff, moreDiffs }, ["n"]);
  assert.match(
    shown,
    / {4}\/p\/a\.ts\n {4}new file\n {4}1 \+ harmless[\s\S]* {4}\/p\/b\.ts\n {4}new file\n {4}1 \+ evil/,
  );
});

test("a change is shown once, and the rest of a long one on request", async () => {
  const newText = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
  const subjects: RuleSubject[] = [{ origin: "op", operation: "write", path: "/project/a.ts" }];
  const given = { summary: "write /project/a.ts", subjects, diff: { path: "/project/a.ts", newText } };
  const short = await asked(given, ["y"]);
  assert.match(short.shown, /^\? write a\.ts, for claude\n {2}no rule applies to it\n/);
  assert.match(short.shown, /… \d+ more lines; type \? to see all/);
  assert.doesNotMatch(short.shown, /line 99/);
  assert.match((await asked(given, ["?", "y"])).shown, /line 99/);
});

test("where an agent asks which of its own options, they are shown at once", async () => {
  const choices = [
    choice("allow:once"),
    choice("deny:once"),
    choice("option:0", { effect: "allow", scope: "once", name: "Tabs", optionId: "t" }),
    choice("option:1", { effect: "allow", scope: "once", name: "Spaces", optionId: "s" }),
  ];
  const given: Partial<PermissionQuestion> = {
    summary: 'do what it calls "Which?"',
    subjects: [{ origin: "claim", operation: "other", labelOnly: true }],
    choices,
  };
  const { reply, shown } = await asked(given, ["2"]);
  assert.equal(reply, "option:1");
  assert.match(shown, /1 {2}Tabs .*\n {2}2 {2}Spaces .*\n {2}y {2}yes, this once/);
});

test("the rule that is remembered can be edited, and one that cannot be meant is explained", async () => {
  const given = { allowedBy: ["exec npm test"] };
  const { reply, shown } = await asked(given, ["?", "r", "exec 'npm *'", "exec npm **"]);
  assert.deepEqual(reply, { id: "allow:workspace", rule: "exec npm **" });
  assert.match(shown, /r {2}allow in this folder for 30 days, with a rule that you edit/);
  assert.match(shown, /Enter = exec npm test/);
  assert.match(shown, /"exec 'npm \*'": /);
  assert.deepEqual((await asked(given, ["?", "r", ""])).reply, {
    id: "allow:workspace",
    rule: "exec npm test",
  });
  assert.equal((await asked(given, ["?", "r", "-", "n"])).reply, "deny:once");
  assert.match((await asked({}, ["?", "r", "n"])).shown, /"r" is not an answer/);
});

test("a patch names files relative to the directory of the session, and changes nothing else", async () => {
  const file = (name: string, text: string) => ({ path: name, oldText: "a\n", newText: text });
  const two = { diff: file("/project/src/a.ts", "/project/x\n"), moreDiffs: [file("/other/b.ts", "b\n")] };
  const { shown } = await asked({ subjects: [command, command], ...two }, ["n"]);
  assert.match(shown, / {4}src\/a\.ts\n {4}1 - a\n {4}1 \+ \/project\/x\n {4}\/other\/b\.ts\n/);
  const patch = [
    "diff --git a/project/c.ts b/project/c.ts",
    "--- /project/c.ts",
    "+++ /project/c.ts",
    "@@ -1,1 +1,1 @@",
    "--- /project/kept",
    "+++ /project/kept",
  ].join("\n");
  const other = await asked({ subjects: [command, command], patch }, ["n"]);
  assert.match(other.shown, / {4}c\.ts\n {4}1 - -- \/project\/kept\n {4}1 \+ \+\+ \/project\/kept\n/);
});

test("the patch of one file does not repeat the name that the heading has, and shows every other name", async () => {
  const subjects = [{ operation: "write", path: "/project/c.ts", origin: "claim" }] as const;
  const patchOf = (name: string) =>
    `diff --git ${name} ${name}\n--- ${name}\n+++ ${name}\n@@ -1,1 +1,1 @@\n-a\n+b\n`;
  const shownFor = async (patch: string) =>
    (await asked({ summary: "write /project/c.ts", subjects, patch }, ["n"])).shown;
  const own = await shownFor(patchOf("/project/c.ts"));
  assert.match(own, /write c\.ts\n.*\n {4}1 - a\n {4}1 \+ b\n/);
  assert.match(await shownFor(patchOf("/project/d.ts")), /\n {4}d\.ts\n {4}1 - a\n/);
  const two = patchOf("/project/c.ts") + patchOf("/project/d.ts");
  assert.match(await shownFor(two), /\n {4}c\.ts\n {4}1 - a\n {4}1 \+ b\n {4}d\.ts\n/);
  // a patch can do more than change lines
  const more = "diff --git a/c.ts b/c.ts\nold mode 100644\nnew mode 100755\n";
  assert.match(await shownFor(more), /c\.ts\n {4}old mode 100644\n {4}new mode 100755\n/);
  const moved = "--- /project/secret.ts\n+++ /project/c.ts\n@@ -1,1 +1,1 @@\n-a\n+b\n";
  assert.match(await shownFor(moved), /\n {4}secret\.ts → c\.ts\n/);
});

test("a file that is deleted is named once, whatever else is said of it", async () => {
  const path = "/project/a.txt";
  const file = (fields: object): RuleSubject => ({ origin: "claim", operation: "write", path, ...fields });
  const patch = `diff --git ${path} ${path}\ndeleted file mode 100644\n--- ${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`;
  const { shown } = await asked({ subjects: [file({ deletes: true }), file({})], patch }, ["y"]);
  assert.match(
    shown,
    /^\? claude wants to delete a\.txt\n {2}no rule applies to it\n {4}1 - x\n {2}y .*\n {2}s {2}this file, this session/,
  );
  const moved = [file({ path: "/project/b.txt" }), file({ deletes: true }), file({})];
  const move = await asked({ subjects: moved }, ["y"]);
  assert.match(
    move.shown,
    /wants to do 2 things\n.*\n {2}write b\.txt\n {2}delete a\.txt\n {2}y .*\n {2}s {2}these 2 files, this session/,
  );
});
