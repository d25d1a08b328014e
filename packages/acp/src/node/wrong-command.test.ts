// A command that no system can start is the caller's mistake: it throws before anything is started.

import assert from "node:assert/strict";
import { test } from "node:test";
import { localTerminals } from "./terminals/local-terminals.ts";
import { spawnTransport } from "./transports.ts";

const cases: readonly (readonly [command: unknown, args: unknown, message: string])[] = [
  ["ls -l", undefined, 'the agent\'s command contains spaces, and no shell is used: pass "ls", ["-l"]'],
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

test("an option that does not exist is refused by name", () => {
  const options = "cwd, env, name, signal, graceMs, killMs, onStderr, stderrTailBytes, framing, limits";
  for (const [name, hint] of [
    ["environment", "did you mean env? "],
    ["kill", "did you mean killMs? "],
    ["timeout", ""],
  ] as const) {
    assert.throws(() => spawnTransport("ls", [], { [name]: {} } as never), {
      name: "TypeError",
      message: `spawnTransport: there is no option ${name}; ${hint}the options are ${options}`,
    });
  }
  // @ts-expect-error -- the signal is named signal
  assert.throws(() => spawnTransport("ls", [], { kill: AbortSignal.abort() }), TypeError);
  // @ts-expect-error -- the variables are named env
  assert.throws(() => localTerminals({ cwd: "/", environment: {} }), /there is no option environment; /);
});
