import assert from "node:assert/strict";
import { test } from "node:test";
import { SheetProbe, sheetSizes } from "../../../test/support/sheet-probe.ts";
import { Picker, type PickerItem, type PickerOptions } from "./picker.ts";

const items: readonly PickerItem<string>[] = [
  ...["claude", "codex", "gemini"].map((name) => ({
    label: name,
    detail: `the agent ${name}`,
    group: "Installed",
    value: name,
  })),
  ...Array.from({ length: 20 }, (_, at) => ({
    label: `other-${at}`,
    group: "Not installed",
    value: `other-${at}`,
  })),
];

function picker(more: Partial<PickerOptions<string>> = {}) {
  const events: string[] = [];
  const sheet = new Picker<string>({
    title: "Agents",
    paint: (_, text) => text,
    items,
    chosen: (value) => events.push(`chosen ${value}`),
    closed: () => events.push("closed"),
    redraw: () => events.push("redraw"),
    ...more,
  });
  return { sheet, probe: new SheetProbe(sheet), events };
}

test("a list shows its groups, numbers, details and which is current", () => {
  const few = items.slice(0, 4).map((item, at) => ({ ...item, isCurrent: at === 1 }));
  const { probe } = picker({ items: few });
  assert.deepEqual(probe.lines(60, 10), [
    "│ Agents > type to filter                             2 of 4",
    "│ Installed",
    "│   1   claude   the agent claude",
    "│ > 2 ✓ codex    the agent codex",
    "│   3   gemini   the agent gemini",
    "│ Not installed",
    "│   4   other-0",
    "│ Enter chooses, Esc closes, 1-9 choose at once",
  ]);
});

test("Enter chooses what is selected, a digit chooses at once, Escape closes", () => {
  const down = picker();
  down.probe.press("down", "down", "enter");
  const digit = picker();
  digit.probe.press("2");
  const left = picker();
  left.probe.press("escape");
  assert.deepEqual(
    [down.events, digit.events, left.events],
    [["chosen gemini"], ["chosen codex"], ["closed"]],
  );
});

test("what is typed filters: by the label first, and digits belong to it then", () => {
  const { probe, events } = picker();
  assert.match(probe.press("cdx").text(), /^│ Agents > cdx +1 of 1\n│ > codex/);
  assert.match(probe.press("ctrl+u", "agent gem").text(), /> gemini/);
  assert.match(probe.press("ctrl+u", "o1").text(), /> other-1 /);
  assert.match(probe.press("ctrl+u", "zzz").text(), /nothing found/);
  probe.press("enter");
  assert.deepEqual(events, []);
});

test("the selected item is always seen, and no line is too long, at every size", () => {
  const long = items.map((item) => ({
    ...item,
    detail: "words ".repeat(60),
    label: `${item.label} ${"漢字".repeat(30)}`,
  }));
  for (const [columns, rows] of sheetSizes) {
    const { probe } = picker({ items: long });
    for (let at = 0; at < long.length; at++) {
      assert.match(
        probe.text(columns, rows),
        new RegExp(`^│ > .*${long[at]?.value}`, "m"),
        `${columns}x${rows}`,
      );
      probe.press("down");
    }
    assert.match(probe.press("pageUp", "pageUp", "pageUp").text(columns, 50), /^│ > /m);
  }
});

test("a list that changes keeps its selection, as when a waiting prompt is moved or deleted", () => {
  const order = ["a", "b", "c"];
  const list = () => order.map((value) => ({ label: value, value }));
  const moved = (value: string, by: number) => {
    const at = order.indexOf(value);
    order.splice(at, 1);
    order.splice(at + by, 0, value);
    sheet.replace(list());
  };
  const { sheet, probe } = picker({
    items: list(),
    keys: {
      "alt+up": (value) => moved(value, -1),
      "ctrl+x": (value) => {
        order.splice(order.indexOf(value), 1);
        sheet.replace(list());
      },
    },
  });
  assert.match(probe.press("down", "down", "alt+up").text(), /1 a\n│ > 2 c\n│ {3}3 b/);
  assert.match(probe.press("ctrl+x").text(), /1 a\n│ > 2 b/);
});

test("a search runs for what is typed, and an old answer never replaces a new one", async () => {
  const calls: {
    query: string;
    signal: AbortSignal;
    answer: (found: readonly PickerItem<string>[]) => void;
  }[] = [];
  const search: PickerOptions<string>["search"] = (query, signal) => {
    const { promise, resolve } = Promise.withResolvers<readonly PickerItem<string>[]>();
    calls.push({ query, signal, answer: resolve });
    return promise;
  };
  const { probe, events } = picker({ search, query: "fix" });
  assert.match(probe.text(), /Agents > fix.*\n│ searching …/);
  probe.press("e");
  assert.deepEqual(
    calls.map(({ query, signal }) => [query, signal.aborted]),
    [
      ["fix", true],
      ["fixe", false],
    ],
  );
  calls[1]?.answer([{ label: "new", value: "new" }]);
  calls[0]?.answer([{ label: "old", value: "old" }]);
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(events, ["redraw"]);
  assert.match(probe.text(), /> new/);
  assert.doesNotMatch(probe.text(), /old/);
});

test("the best of what a search finds is selected, whatever was selected before", async () => {
  const search = async (query: string) =>
    ["b", "a"].map((name) => ({ label: `${query}${name}`, value: name }));
  const { probe, events } = picker({ search });
  await new Promise(setImmediate);
  probe.press("down", "x");
  await new Promise(setImmediate);
  assert.match(probe.text(), /> xb/);
  probe.press("enter");
  assert.equal(events.at(-1), "chosen b");
});

test("a search that fails says why", async () => {
  const { probe } = picker({ search: () => Promise.reject(new Error("the history cannot be read")) });
  await new Promise(setImmediate);
  assert.match(probe.text(), /the history cannot be read/);
});

test("TH5 names of sessions and models cannot leave their line", () => {
  const evil = "a\u001b[2J\nb\u202ec\u001b]52;c;x\u0007";
  const { probe } = picker({ title: evil, items: [{ label: evil, detail: evil, group: evil, value: "x" }] });
  for (const [columns, rows] of sheetSizes) probe.lines(columns, rows);
});

test("a hint that does not fit on one line goes on in the next", () => {
  const { probe } = picker({ items: items.slice(0, 2), hint: "Enter continues, Alt-F forks, Ctrl-X ends" });
  assert.deepEqual(probe.lines(30, 10).slice(-2), ["│ Enter continues, Alt-F", "│ forks, Ctrl-X ends"]);
});
