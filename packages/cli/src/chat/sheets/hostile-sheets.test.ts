import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenQuestion } from "@parley/client/conversation";
import type { PermissionChoice } from "@parley/client/policy";
import { Random } from "../../../../acp/test/support/random.ts";
import { SheetProbe } from "../../../test/support/sheet-probe.ts";
import { painter } from "../../terminal/paint.ts";
import { Picker } from "./picker.ts";
import { questionSheet } from "./question-sheet.ts";
import { ReviewSheet } from "./review-sheet.ts";
import type { Sheet } from "./sheet.ts";

const pieces = [
  ...["a", "word ", "    ", "\t", "\n", "\r", "x".repeat(70), "│ y once  n/Enter/Esc no"],
  ...[
    "\u001b[2J",
    "\u001b[5A",
    "\u001b]52;c;aGk=\u0007",
    "\u001b]8;;https://evil.example\u0007",
    "\u001b]0;t\u0007",
    "\u009b6n",
  ],
  ...[
    "\u001bP+q\u001b\\",
    "\u202e",
    "\u200b",
    "\u3164",
    "漢字",
    "👩‍👩‍👧",
    "🇩🇪",
    "e\u0301",
    `z${"\u0301".repeat(20)}`,
    "t\u0435st",
  ],
];
const keys = [
  ..."?er1xyauciz] ",
  "enter",
  "down",
  "up",
  "pageUp",
  "pageDown",
  "shift+tab",
  "backspace",
  "wheelDown",
];
const paint = painter(true, { FORCE_COLOR: "1" }, "dark");
const nothing = () => undefined;

type Made = (text: () => string, random: Random) => Sheet;

const asked =
  (
    make: (text: () => string, random: Random) => Omit<OpenQuestion, "id" | "answer" | "from"> & object,
  ): Made =>
  (text, random) => {
    // every member of its kind is there
    const question = {
      id: "1",
      from: text(),
      answer: nothing,
      ...make(text, random),
    } as unknown as OpenQuestion;
    const screen = { copy: nothing, suspend: <T>(work: () => Promise<T>) => work() };
    return questionSheet(question, {
      agent: text(),
      cwd: "/p",
      paint,
      screen,
      count: () => 3,
      open: () => false,
    });
  };

const sheets: Readonly<Record<string, Made>> = {
  permission: asked((text, random) => {
    const option = (at: number): PermissionChoice => ({
      id: `option:${at}`,
      name: text(),
      effect: "allow",
      scope: "once",
      isExtra: random.chance(0.5),
    });
    const question = {
      sessionId: "s",
      summary: text(),
      reason: text(),
      always: random.chance(0.3),
      allowedBy: ["exec x"],
      claimed: { title: text(), description: text() },
      choices: Array.from({ length: random.below(14) }, (_, at) => option(at)),
      subjects: [{ origin: "op", operation: "exec", shellLine: text(), cwd: text() }],
      env: { NAME: text() },
      diff: { path: "/p/a.ts", oldText: text(), newText: text() },
      signal: new AbortController().signal,
    };
    return { kind: "permission", question };
  }),
  form: asked((text) => {
    const properties = {
      a: { type: "string", title: text(), description: text(), default: text() },
      b: { type: "boolean", title: text() },
      c: { type: "string", enum: [text(), text(), "z"] },
      d: { type: "array", items: { type: "string", enum: [text(), text()] } },
    };
    const requestedSchema = { type: "object", properties, required: ["a"] };
    return { kind: "elicitation", question: { mode: "form", message: text(), requestedSchema } };
  }),
  address: asked((text) => {
    const { signal: completed } = new AbortController();
    const question = { mode: "url", message: text(), url: text(), host: "xn--pple-43d.com", completed };
    return { kind: "elicitation", question };
  }),
  login: asked((text) => ({ kind: "login", methods: [{ id: "1", name: text(), description: text() }] })),
  credential: asked((text, random) => ({
    kind: "credential",
    variable: { name: text(), label: text(), isSecret: random.chance(0.5), isOptional: true },
  })),
  confirm: asked((text) => ({ kind: "confirm", lines: [text(), text()], ask: text() })),
  picker: (text, random) =>
    new Picker({
      title: text(),
      paint,
      items: Array.from({ length: random.below(30) }, (_, value) => ({
        label: text(),
        detail: text(),
        group: text(),
        isCurrent: random.chance(0.1),
        value,
      })),
      chosen: nothing,
      closed: nothing,
      redraw: nothing,
    }),
  review: (text, random) => {
    const lines = () =>
      Array.from({ length: random.below(8) }, () => ({
        kind: random.pick(["context", "added", "removed"] as const),
        text: text(),
        ending: random.pick(["\n", "\r\n", ""] as const),
      }));
    const hunk = (at: number) => ({
      ...({
        id: String(at),
        kind: "lines",
        about: text(),
        turns: [1],
        oldStart: 1,
        newStart: 1,
        added: 1,
        removed: 1,
      } as const),
      state: random.pick(["open", "kept", "undone", "changed-since"] as const),
      lines: lines(),
    });
    const file = {
      path: `/p/${text()}`,
      kind: "changed",
      renamedFrom: text(),
      added: 1,
      removed: 1,
    } as const;
    const result = {
      id: 1,
      files: [{ path: text(), outcome: "refused", reason: text() } as const],
      notes: [text()],
    };
    const changes = { added: 1, removed: 1, files: [{ ...file, hunks: [hunk(1), hunk(2), hunk(3)] }] };
    const review = {
      notCovered: [text()],
      changes: async () => changes,
      keep: async () => 1,
      undo: async () => result,
      redo: async () => result,
    };
    return new ReviewSheet({ paint, review, cwd: "/p", closed: nothing, redraw: nothing, said: nothing });
  },
};

for (const [name, make] of Object.entries(sheets))
  test(`TH5 N198-N208 whatever an agent sends, the sheet "${name}" keeps to its lines at every size`, async () => {
    const random = new Random(19);
    const text = () => Array.from({ length: random.below(25) }, () => random.pick(pieces)).join("");
    for (let round = 0; round < 15; round++) {
      const probe = new SheetProbe(make(text, random));
      for (let step = 0; step < 8; step++) {
        await new Promise(setImmediate);
        const drawn = probe.lines(random.pick([5, 20, 60, 80, 100, 160]), 1 + random.below(30));
        assert.doesNotMatch(drawn.join("\n"), /\p{M}{9}/u, "a heap of marks");
        if (random.chance(0.1)) probe.paste(text());
        else probe.press(random.pick(keys));
      }
    }
  });
