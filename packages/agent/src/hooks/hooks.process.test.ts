// Hooks: functions of an embedder, and commands of the user's config.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  toolStories,
} from "../../test/support/agent-probe.ts";
import { commandHooks } from "./command-hooks.ts";
import type { Hooks } from "./hooks.ts";

const write = calls(["write", { path: "a.txt", content: "hello\n" }]);

inEveryVersion("a hook refuses a call before the user is asked", {}, async (setup) => {
  const model = scriptedModel([write, says("done")]);
  const hooks: Hooks = { beforeTool: ({ name }) => (name === "write" ? "not on a Friday" : undefined) };
  const { session, asks, updates, end } = await talk({ ...setup, models: [model], hooks });
  await session.prompt("go").result;
  assert.deepEqual(asks, []);
  assert.ok(!existsSync(join(setup.cwd, "a.txt")));
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /a hook refused it \(not on a Friday\)/);
  assert.match(toolStories(updates).join(), /failed$/);
  await end();
});

inEveryVersion(
  "a hook sees the arguments under our names, whatever the model calls them",
  {},
  async (setup) => {
    const named = calls(
      ["write", { file_path: "secret.txt", contents: "x" }],
      ["bash", { cmd: "touch secret.txt" }],
      ["write", JSON.stringify({ path: "secret.txt", content: "x" })],
    );
    const model = scriptedModel([named, says("done")]);
    const hooks: Hooks = {
      beforeTool({ input }) {
        const { path, command } = input as { path?: string; command?: string }; // those of write and bash
        return (path ?? command)?.includes("secret") ? "no secrets" : undefined;
      },
    };
    const { session, end } = await talk({ ...setup, mode: "code", models: [model], hooks });
    await session.prompt("go").result;
    const told = JSON.stringify(model.requests[1]?.messages.at(-1));
    assert.equal(told.match(/a hook refused it \(no secrets\)/g)?.length, 3);
    assert.ok(!existsSync(join(setup.cwd, "secret.txt")));
    await end();
  },
);

inEveryVersion("a hook that says nothing does not spare the user the question", {}, async (setup) => {
  const model = scriptedModel([write, says("done")]);
  const { session, asks, end } = await talk({
    ...setup,
    models: [model],
    hooks: { beforeTool: () => undefined },
  });
  await session.prompt("go").result;
  assert.equal(asks.length, 1);
  await end();
});

inEveryVersion("a hook that fails refuses, and the turn goes on", {}, async (setup) => {
  const model = scriptedModel([write, says("done")]);
  const hooks: Hooks = {
    beforeTool() {
      throw new Error("no disk");
    },
  };
  const { session, end } = await talk({ ...setup, mode: "code", models: [model], hooks });
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  assert.ok(!existsSync(join(setup.cwd, "a.txt")));
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /a hook failed \(no disk\)/);
  await end();
});

inEveryVersion("what a hook says after a call is told to the model with the result", {}, async (setup) => {
  const model = scriptedModel([write, says("done")]);
  const hooks: Hooks = {
    afterTool: ({ title }, { isError }) => `${title} ${isError ? "failed" : "went well"}`,
  };
  const { session, end } = await talk({ ...setup, mode: "code", models: [model], hooks });
  await session.prompt("go").result;
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  assert.match(told, /\[A hook says: Create a\.txt went well\]/);
  await end();
});

test("commands of the config get the call as JSON, refuse by their exit code and see no key", async (t) => {
  const cwd = temporaryFolder(t, {});
  process.env["OPENAI_API_KEY"] = "sk-hook-test-key";
  t.after(() => {
    delete process.env["OPENAI_API_KEY"];
  });
  const model = scriptedModel([
    calls(["bash", { command: "echo hello" }], ["write", { path: "a.txt", content: "hello\n" }]),
    says("done"),
  ]);
  const hooks = commandHooks({
    beforeTool: [
      { tools: "ba*|edit", command: 'cat > before.json; echo "no commands here"; exit 3' },
      { tools: "job", command: "touch never" },
    ],
    afterTool: [{ tools: "write", command: 'cat > after.json; echo "key: $OPENAI_API_KEY."' }],
  });
  const made = await talk({ version: 2, cwd, mode: "code", models: [model], hooks });
  await made.session.prompt("go").result;
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  assert.match(told, /a hook refused it \(no commands here\)/);
  assert.match(told, /\[A hook says: key: \.\]/);
  const before = JSON.parse(readFileSync(join(cwd, "before.json"), "utf8"));
  assert.deepEqual(
    [before.event, before.tool, before.input],
    ["before_tool", "bash", { command: "echo hello" }],
  );
  const after = JSON.parse(readFileSync(join(cwd, "after.json"), "utf8"));
  assert.deepEqual([after.event, after.title, after.result.isError], ["after_tool", "Create a.txt", false]);
  assert.ok(!existsSync(join(cwd, "never")));
  await made.end();
});

test("a command that takes too long is ended, and refuses", async (t) => {
  const cwd = temporaryFolder(t, {});
  const hooks = commandHooks({ beforeTool: [{ command: "exec sleep 1000", timeout: 0.05 }] });
  const call = {
    name: "bash",
    input: {},
    title: "",
    sessionId: "s",
    cwd,
    signal: new AbortController().signal,
  };
  await assert.rejects(
    async () => hooks.beforeTool?.(call),
    /exec sleep 1000 took more than 0\.05 s and was ended/,
  );
});
