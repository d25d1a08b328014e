// A command that no system can start is the caller's mistake: it throws before anything is started.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spawnTransport } from "./transports.ts";

const cases: readonly (readonly [command: unknown, args: unknown, message: string])[] = [
  [
    "ls -l",
    undefined,
    'the agent\'s arguments must be a list of strings, got nothing; there is no shell: give "ls", ["-l"]',
  ],
  [
    "ls",
    "-l",
    'the agent\'s arguments must be a list of strings, got "-l"; there is no shell: give "ls", []',
  ],
  ["ls", [5], 'the agent\'s arguments must be a list of strings, got 5; there is no shell: give "ls", []'],
  [undefined, [], "the agent's command must be a program name or a path, got nothing"],
  ["", [], "the agent's command is empty; give a program name or a path"],
  ["ls", ["a\0b"], "argument 1 of the agent contains a NUL character"],
];

for (const [command, args, message] of cases) {
  test(`spawnTransport says what is wrong: ${message}`, () => {
    assert.throws(() => spawnTransport(command as never, args as never), { name: "TypeError", message });
  });
}
