import assert from "node:assert/strict";
import { test } from "node:test";
import { SheetProbe, sheetSizes } from "../../../test/support/sheet-probe.ts";
import { chatCommands, chatKeys } from "../keys/keys-and-commands.ts";
import { HelpSheet } from "./help-sheet.ts";

function help() {
  const events: string[] = [];
  const sheet = new HelpSheet({ paint: (_, text) => text, closed: () => events.push("closed") });
  return { probe: new SheetProbe(sheet), events };
}

test("the help has every key and every command, and all words of each, at 60 columns too", () => {
  for (const columns of [60, 100, 160]) {
    const words = new Set(help().probe.text(columns, 200).split(/\s+/));
    for (const { help: text } of [...chatKeys, ...chatCommands])
      for (const word of text.split(" ")) assert.ok(words.has(word), `${word} at ${columns} columns`);
    for (const { name } of chatCommands) assert.ok(words.has(`/${name}`), name);
  }
});

test("the help scrolls where it does not fit, and closes by the keys that open it", () => {
  for (const [columns, rows] of sheetSizes) help().probe.press("pageDown").lines(columns, rows);
  assert.match(help().probe.text(60, 10), /^│ Keys\n/);
  for (const key of ["escape", "q", "?", "enter"]) {
    const { probe, events } = help();
    probe.press(key);
    assert.deepEqual(events, ["closed"], key);
  }
});
