// Tests which command is meant where none is named.

import assert from "node:assert/strict";
import { test } from "node:test";
import { commands } from "../commands.ts";
import { withCommand } from "./implied-command.ts";

/** The command line that is meant, at a terminal, with two agents. */
function meant(...argv: readonly string[]): Promise<readonly string[]> {
  return withCommand(argv, {
    commands,
    isAtTerminal: () => true,
    agentNames: async () => ["parley", "claude"],
  });
}

test("a word that is no command, no agent and no prompt means nothing else", async () => {
  for (const argv of [["zzzz"], ["zzzz", "-c"], ["fix", "the", "bug"], ["--json"]])
    assert.deepEqual(await meant(...argv), argv);
});

test("an option that chat does not have is refused with what was meant", async () => {
  await assert.rejects(meant("--contineu"), { message: "unknown option --contineu", hint: /--continue/ });
  await assert.rejects(meant("--resume"), { hint: "did you mean: parley resume" });
  await assert.rejects(meant("--format", "json", "hi there"), { hint: /after the command/ });
});

test("an option before the name of a command is refused, since it would open a conversation", async () => {
  const hint = /put options after the command: parley run \.\.\./;
  await assert.rejects(meant("--agent", "claude", "run", "fix it"), { hint });
  await assert.rejects(meant("-c", "doctor"), { message: "-c is before the command doctor" });
});

test("the options of chat, a prompt with a space and the name of an agent open a conversation", async () => {
  for (const argv of [
    ["-c"],
    ["--continue", "go on"],
    ["-c", "go"],
    ["--agent", "claude"],
    ["-aclaude"],
    ["--agent=claude", "run it"],
    ["--agent", "run"],
    ["-C", "..", "--plain"],
    ["fix the bug"],
    ["run the tests", "-c"],
    ["--", "node", "agent.js", "-p"],
  ])
    assert.deepEqual(await meant(...argv), ["chat", ...argv]);
  assert.deepEqual(await meant("claude"), ["chat", "--agent", "claude"]);
  assert.deepEqual(await meant("claude", "-c", "fix it"), ["chat", "--agent", "claude", "-c", "fix it"]);
});

test("-p and --print are run, wherever they are", async () => {
  for (const argv of [
    ["-p", "hi"],
    ["-p"],
    ["-p", "doctor"],
    ["--print", "hi", "--format", "json"],
    ["fix the bug", "-p"],
    ["hi", "-p"],
    ["-cp", "go on"],
    ["--format", "quiet", "-p", "hi"],
    ["--json", "-p", "hi"],
  ])
    assert.deepEqual(await meant(...argv), ["run", ...argv]);
  assert.deepEqual(await meant("claude", "-p", "hi"), ["run", "--agent", "claude", "-p", "hi"]);
});

test("a command that is named is not looked at, and parley alone is chat only at a terminal", async () => {
  for (const argv of [["run", "-c", "x"], ["sessions"], ["agents", "zzz"], ["help"], ["-v"], ["-h"]])
    assert.deepEqual(await meant(...argv), argv);
  assert.deepEqual(await meant(), ["chat"]);
  const alone = { commands, isAtTerminal: () => false, agentNames: async () => [] };
  assert.deepEqual(await withCommand([], alone), []);
});
