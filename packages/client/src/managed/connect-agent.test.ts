// Mistakes in the arguments of connectAgent: it starts nothing then.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { History } from "../history.ts";
import { connectAgent } from "../index.ts";

const me = { name: "test", version: "1.0.0" };

test("an unknown name is told with the nearest known one and the list", async () => {
  await assert.rejects(connectAgent("cluade", me), {
    name: "LaunchError",
    kind: "unknown_agent",
    message: /^unknown agent "cluade"; did you mean claude\? Known agents: parley, claude, codex,/,
    hint: /give `agents`, or give a command as a list/,
  });
  await assert.rejects(connectAgent("mien", { ...me, agents: { mine: { command: "mine" } } }), {
    message: /did you mean mine\? Known agents: mine, parley,/,
  });
  await assert.rejects(connectAgent("", me), { message: /^unknown agent ""\. Known agents: parley,/ });
});

test("an edition that does not exist is told with those that do", async () => {
  // @ts-expect-error: callers may have no types
  await assert.rejects(connectAgent({ command: "mine", edition: "v3" }, me), {
    name: "TypeError",
    message: 'the agent: edition must be one of v2, v1, pharo, scoped, got "v3"',
  });
});

test("a command line is not split into words: the error says how to write it", async () => {
  await assert.rejects(connectAgent("node agent.js", me), {
    kind: "unknown_agent",
    hint: 'give a command as a list: ["node","agent.js"]',
  });
});

const wrongTargets: readonly (readonly [unknown, RegExp])[] = [
  [[], /must begin with a program, as \["node", "agent\.js"\]; got none/],
  [["", "x"], /must begin with a program/],
  [["node", 7], /must be a list of texts, got 7/],
  [undefined, /an agent must be an object with command or url, got nothing/],
  [{}, /the agent must have either a command or a url, got neither/],
  [{ name: "mine", command: "x", url: "ws://x" }, /the agent mine must have either .* got both/],
  [{ command: "" }, /command must be a text that is not empty, got ""/],
  [{ command: "x", args: "y" }, /args must be a list of texts, got "y"/],
];

for (const [target, message] of wrongTargets) {
  test(`${JSON.stringify(target) ?? "nothing"} is no agent`, async () => {
    // as: for authors who write JavaScript
    await assert.rejects(connectAgent(target as string, me), { name: "TypeError", message });
  });
}

const wrongOptions: readonly (readonly [string, object, RegExp])[] = [
  ["environment beside env", { environment: {} }, /there is no option environment; did you mean env\?/],
  ["a misspelt option", { onevent: () => undefined }, /there is no option onevent; did you mean onEvent\?/],
  ["a relative cwd", { cwd: "work" }, /cwd must be absolute, got "work"/],
  ["an empty cwd", { cwd: "" }, /cwd must be absolute, got ""/],
  ["a policy that decides nothing", { policy: {} }, /policy must have a method decide/],
  ["a history of another kind", { history: {} as History }, /expected what openHistory\(\)/],
  ["no name", { name: "" }, /name must be a string that is not empty/],
];

for (const [what, options, message] of wrongOptions) {
  test(`${what} is refused before anything is started`, async () => {
    await assert.rejects(connectAgent(["/nowhere/agent"], { ...me, ...options }), {
      name: "TypeError",
      message,
    });
  });
}

test("a start that is aborted before it begins starts nothing", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(connectAgent(["/nowhere/agent"], { ...me, signal }), {
    name: "LaunchError",
    kind: "aborted",
  });
});

test("a program that does not exist is told with what to do", async () => {
  await assert.rejects(connectAgent(["/nowhere/agent"], me), {
    name: "LaunchError",
    kind: "not_found",
    hint: "check the path, or install it",
  });
});
