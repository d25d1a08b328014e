import assert from "node:assert/strict";
import { test } from "node:test";
import type { ElicitationQuestion, LoginVariable } from "@parley/client";
import type { OpenQuestion } from "@parley/client/conversation";
import { formQuestion as form, visitQuestion as visit } from "../../../test/support/question-samples.ts";
import { SheetProbe, sheetSizes } from "../../../test/support/sheet-probe.ts";
import { openerOf } from "../../terminal/open-address.ts";
import { questionSheet } from "./question-sheet.ts";

type Asked = OpenQuestion extends infer Each
  ? Each extends OpenQuestion
    ? Omit<Each, "id" | "answer">
    : never
  : never;

function asked(question: Asked, canOpen = false) {
  const answers: unknown[] = [];
  const done: string[] = [];
  const open = { ...question, id: "1", answer: (answer: unknown) => answers.push(answer) } as OpenQuestion; // all members are there
  const sheet = questionSheet(open, {
    agent: "an-agent",
    cwd: "/project",
    paint: (_, text) => text,
    screen: {
      copy: (text) => done.push(`copied ${text}`),
      suspend: (work) => {
        done.push("suspended");
        return work();
      },
    },
    count: () => 1,
    open: (url) => {
      done.push(`opened ${url}`);
      return canOpen;
    },
  });
  return { probe: new SheetProbe(sheet), answers, done };
}

const elicited = (question: ElicitationQuestion, canOpen?: boolean) =>
  asked({ kind: "elicitation", question }, canOpen);

test("C39 C40 a form is filled in field by field, checked, shown as a whole and sent with y", () => {
  const { probe, answers } = elicited(
    form(
      {
        port: { type: "integer", minimum: 1, maximum: 65535, title: "Port", description: "Where it listens" },
        host: { type: "string", default: "localhost" },
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
      ["port", "size"],
    ),
  );
  assert.match(probe.text(), /an-agent asks: Tell me more\n│ {3}Port\n│ {3}Where it listens\n/);
  assert.match(probe.press("http", "enter").text(), /Enter a whole number\./);
  assert.match(probe.press("ctrl+u", "0", "enter").text(), /at least 1/);
  assert.match(probe.press("backspace", "80", "enter").text(), /host \(optional\)[\s\S]*> localhost$/);
  assert.match(probe.press("enter").text(), /sure \(optional\)/);
  assert.match(probe.press("y").text(), /size\n│ {3}> 1 {2}Small/);
  assert.match(probe.press("down", "enter").text(), /\[ \] a/);
  assert.match(probe.press(" ", "3").text(), /1 {2}\[x\] a\n.*\[ \] b\n.*3 {2}\[x\] c/);
  const summary = probe.press("enter").text();
  assert.match(summary, /1 {2}Port: 80\n.*host: localhost\n.*sure: yes\n.*size: Large\n.*tags: a, c\n/);
  probe.press("enter");
  assert.deepEqual(answers, [], "Enter sends nothing");
  probe.press("y");
  const content = { port: 80, host: "localhost", sure: true, size: "l", tags: ["a", "c"] };
  assert.deepEqual(answers, [{ action: "accept", content }]);
});

test("C40 one goes back to a field, changes one from the summary, and empties one that has a default", () => {
  const { probe, answers } = elicited(
    form({
      one: { type: "string", default: "x" },
      two: { type: "string" },
      flag: { type: "boolean", default: true },
    }),
  );
  probe.press("enter", "shift+tab");
  assert.match(probe.press("ctrl+u", "enter").text(), /two \(optional\)/);
  probe.press("b", "enter", "down", "down", "enter");
  assert.match(probe.text(), /1 {2}one: \(empty\)\n.*two: b\n.*flag: \(empty\)/);
  assert.match(probe.press("2").text(), /> b$/);
  probe.press("c", "enter", "y");
  assert.deepEqual(answers, [{ action: "accept", content: { two: "bc" } }]);
});

test("C39 a form is declined or cancelled from anywhere, and not by one key", () => {
  for (const [key, action] of [
    ["d", "decline"],
    ["c", "cancel"],
  ] as const) {
    const { probe, answers } = elicited(form({ name: { type: "string" } }, ["name"]));
    probe.press("A", "escape");
    assert.deepEqual(answers, []);
    assert.match(probe.press("escape").text(), /> A$/, "goes back");
    probe.press("escape", key);
    assert.deepEqual(answers, [{ action }]);
  }
  const sent = elicited(form({ name: { type: "string" } }));
  sent.probe.press("A", "enter", "n");
  assert.deepEqual(sent.answers, [{ action: "decline" }]);
});

test("C47 a form with a required field of a kind that nobody knows is declined", () => {
  const { probe, answers } = elicited(form({ colour: { type: "colour" } as never }, ["colour"]));
  assert.match(probe.text(), /unknown type and is declined/);
  probe.press("enter");
  assert.deepEqual(answers, [{ action: "decline" }]);
});

test("what is marked in a list is at least one if it is required", () => {
  const items = { type: "string", enum: ["a", "b"] } as const;
  const { probe } = elicited(form({ tags: { type: "array", items } }, ["tags"]));
  assert.match(probe.press("enter").text(), /Choose at least one\./);
});

test("TH5 a long list scrolls with its selection, and hostile titles stay in their lines, at every size", () => {
  const evil = "a\u001b[2J\nb\u202ec y send";
  const names = Array.from({ length: 60 }, (_, at) => `choice-${at}`);
  for (const [columns, rows] of sheetSizes) {
    const field = { type: "string", enum: names, title: evil, description: evil } as const;
    const { probe } = elicited({ ...form({ one: field }, ["one"]), message: evil });
    for (let at = 0; at < 59; at++) probe.press("down").text(columns, rows);
    assert.match(probe.text(columns, rows), /> 60 {2}choice-59/);
  }
});

test("C41 C42 C43 an address is shown with its host, is opened only by a key, and is copied where no browser is", () => {
  const url = "https://example.org/login?x=1";
  const { probe, answers, done } = elicited(visit(url), true);
  assert.match(probe.text(), /open a page on example\.org:\n│ {3}https:\/\/example\.org\/login\?x=1\n/);
  probe.press("enter", " ");
  assert.deepEqual([done, answers], [[], []], "Enter opens and answers nothing");
  assert.match(probe.press("o").text(), /It opens in your browser/);
  assert.deepEqual(done, [`opened ${url}`]);
  probe.press("y");
  assert.deepEqual(answers, [{ action: "accept" }]);
  const remote = elicited(visit(url));
  assert.match(remote.probe.press("o").text(), /The address was copied/);
  assert.deepEqual(remote.done, [`opened ${url}`, `copied ${url}`]);
  remote.probe.press("n");
  assert.deepEqual(remote.answers, [{ action: "decline" }]);
  const left = elicited(visit(url));
  left.probe.press("escape");
  assert.deepEqual(left.answers, [{ action: "cancel" }]);
});

test("C43 a host that looks like another is warned of", () => {
  const { probe } = elicited(visit("https://xn--pple-43d.com/"));
  assert.match(probe.text(), /Warning: xn--pple-43d\.com may be displayed as аpple\.com/);
});

test("a browser is opened by the opener of the system, never over ssh and never without a desktop", () => {
  assert.deepEqual(openerOf({ DISPLAY: ":0" }, "linux"), ["xdg-open"]);
  assert.equal(openerOf({}, "linux"), undefined);
  assert.deepEqual(openerOf({}, "darwin"), ["open"]);
  assert.equal(openerOf({ DISPLAY: ":0", SSH_CONNECTION: "1.2.3.4 1 5.6.7.8 22" }, "linux"), undefined);
});

test("a login method is chosen by its number, or given up", () => {
  const methods = [
    { id: "browser", name: "Browser", description: "Log in\u001b[2J with the browser", kind: "agent" },
    { id: "key", name: "API key", kind: "variables" },
  ] as const;
  const { probe, answers } = asked({ kind: "login", methods });
  assert.match(probe.text(), /Log in to an-agent[\s\S]*1 Browser +Log in\\u001b\[2J with the browser\n/);
  probe.press("2");
  const other = asked({ kind: "login", methods });
  other.probe.press("escape");
  assert.deepEqual([answers, other.answers], [["key"], [undefined]]);
});

test("a secret is not shown while it is typed or pasted, and is needed unless it is optional", () => {
  const variable: LoginVariable = { name: "API_KEY", label: "API key", isSecret: true, isOptional: false };
  const { probe, answers } = asked({ kind: "credential", variable });
  assert.match(probe.press("enter").text(), /It is needed/);
  probe.press("sk-").paste("secret\n");
  assert.match(probe.text(), /needs API key \(API_KEY\) \(not shown\)[\s\S]*> •{9}$/);
  assert.doesNotMatch(probe.text(), /sk-|secret/);
  probe.press("enter");
  assert.deepEqual(answers, ["sk-secret"]);
  const optional = asked({
    kind: "credential",
    variable: { ...variable, isSecret: false, isOptional: true },
  });
  assert.match(optional.probe.press("ab").text(), /> ab$/);
  optional.probe.press("ctrl+u", "enter", "escape");
  assert.deepEqual(optional.answers, ["", undefined]);
});

test("trust and the like are confirmed with y only", () => {
  const lines = ["Do you trust /project?", "It has\u001b[2J hooks."];
  for (const [key, isYes] of [
    ["y", true],
    ["n", false],
    ["enter", false],
    ["escape", false],
  ] as const) {
    const { probe, answers } = asked({ kind: "confirm", lines, ask: "Trust it?" });
    assert.match(
      probe.text(),
      /^│ \? Do you trust \/project\?\n│ {3}It has\\u001b\[2J hooks\.\n│ {3}Trust it\?\n│ {3}y yes/,
    );
    probe.press("x", key);
    assert.deepEqual(answers, [isYes], key);
  }
});

test("a command for the terminal is shown first, and does not run without a y", () => {
  const command = { command: "login-tool", args: ["--now", "a\u001b[2Jb"], env: {}, cwd: "/project" };
  const { probe, answers, done } = asked({ kind: "terminal", command });
  assert.match(probe.text(), /in this terminal, in \/project:\n│ +login-tool --now a\\u001b\[2Jb\n/);
  probe.press("enter");
  assert.deepEqual([answers, done], [[130], []]);
});
