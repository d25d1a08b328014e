// Tests the tables of the commands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArgs } from "node:util";
import { familyHelp, overview } from "./command/help.ts";
import { withCommand } from "./command/implied-command.ts";
import { commands } from "./commands.ts";

/** The words of a shell line from `parley` on, without redirections. */
function wordsOf(line: string): string[] {
  const [typed = ""] = line.slice(line.indexOf("parley ")).split(/ < |\)$/);
  return (typed.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
}

for (const command of commands.filter(({ internal }) => internal !== true)) {
  test(`the help of parley ${command.name} has examples, and they can be typed`, async () => {
    const { name, examples = [], options = {}, isDefault } = command;
    assert.ok(examples.length > 0);
    for (const line of examples) {
      const [, ...typed] = wordsOf(line);
      // `parley` alone is `parley chat`
      const words = await withCommand(typed, {
        commands,
        isAtTerminal: () => true,
        agentNames: async () => ["claude"],
      });
      const own = words.slice(0, name.split(" ").length).join(" ");
      const isShort = isDefault === true && words.join(" ") === name.split(" ")[0];
      assert.ok(isShort || own === name, line);
      // throws for an option that does not exist
      parseArgs({
        args: [...words],
        options: { ...options, ...(command.json && { json: { type: "boolean" } }) },
        allowPositionals: true,
      });
    }
  });
}

/** The lines below `examples:`. */
function examplesIn(help: string): string[] {
  const [, text = ""] = help.split("\nexamples:\n");
  return (text.split("\n\n")[0] ?? "").split("\n").map((line) => line.trim());
}

const listed = commands.filter(({ internal }) => internal !== true);
const known = listed.flatMap(({ examples = [] }) => examples);

test("parley --help has examples, and they are those of the commands", () => {
  const examples = examplesIn(overview(commands));
  assert.ok(examples.length > 3);
  for (const line of examples) assert.ok(known.includes(line), line);
});

for (const group of ["agents", "sessions", "config", "permissions", "trace"]) {
  test(`parley ${group} --help has an example for each of its commands`, () => {
    const family = listed.filter(({ name }) => name.startsWith(`${group} `));
    const examples = examplesIn(familyHelp(group, family));
    assert.deepEqual(
      examples,
      family.map((command) => command.examples?.[0]),
    );
  });
}
