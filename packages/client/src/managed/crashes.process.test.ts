// Agents that are killed, stopped or closed during their work.

import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import type { AgentScenario } from "@parley/conformance/testing";
import { managed, patience, runs, say, scripted } from "../../test/support/managed-probe.ts";
import { connectAgent } from "../index.ts";

const cwd = tmpdir();
const sessions = [{ sessionId: "old", cwd }];
const healthy: Partial<AgentScenario> = { sessions, otherwise: say("alive") };
test(
  "an agent that is killed while a question is open is back for the next prompt, and the question is withdrawn (F1)",
  patience,
  async (t) => {
    const { entry } = scripted(
      t,
      { play: { sessions, otherwise: [{ tool: { title: "rm", kind: "execute" }, steps: [{ ask: true }] }] } },
      { play: healthy },
    );
    const asked = Promise.withResolvers<AbortSignal>();
    const { agent } = await managed(t, entry, {
      requestPermission: (_ask, { signal }) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    const session = await agent.loadSession("old", { cwd });
    const prompt = session.prompt("one");
    const signal = await asked.promise;
    process.kill(agent.pid ?? assert.fail(), "SIGKILL");
    await assert.rejects(prompt.result, { kind: "exited" });
    assert.ok(signal.aborted);
    assert.equal((await session.prompt("two").result).stopReason, "end_turn");
  },
);

test("an agent that is stopped is ended with its cancel (F4)", patience, async (t) => {
  const { entry } = scripted(
    t,
    { play: { sessions, otherwise: [{ say: "working" }, { wait: "cancelled" }] } },
    { play: healthy },
  );
  const { agent } = await managed(t, { ...entry, traits: { graceMs: 1 } }, { cancelTimeoutMs: 50 });
  const session = await agent.loadSession("old", { cwd });
  const began = Promise.withResolvers<void>();
  session.onUpdate(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && began.resolve());
  const prompt = session.prompt("one");
  await began.promise;
  const pid = agent.pid ?? assert.fail();
  process.kill(pid, "SIGSTOP");
  prompt.cancel();
  assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
  assert.equal((await session.prompt("two").result).stopReason, "end_turn");
  while (runs(pid)) await turnOfTheLoop(10);
});

test("an agent behind a wrapper script leaves nothing behind when it is closed", patience, async (t) => {
  const { entry, folder, starts } = scripted(t, { play: healthy });
  const wrapper = join(folder, "wrapper");
  const line = [entry.command, ...entry.args].map((word) => `'${word}'`).join(" ");
  // as npx does it: the agent is a child of what was started, and so is something else
  writeFileSync(wrapper, `#!/bin/sh\nsleep 100000 &\necho $! > '${folder}/helper'\n${line}\n`);
  chmodSync(wrapper, 0o755);
  const { agent } = await managed(t, { ...entry, command: wrapper, args: [] });
  await agent.loadSession("old", { cwd });
  const pids = [agent.pid ?? 0, starts()[0]?.pid ?? 0, Number(readFileSync(join(folder, "helper"), "utf8"))];
  assert.deepEqual(pids.map(runs), [true, true, true]);
  await agent.close();
  while (pids.some(runs)) await turnOfTheLoop(10);
});

test("closing while the agent starts ends it", patience, async (t) => {
  const { entry, starts } = scripted(t, { play: healthy });
  const stop = new AbortController();
  const starting = connectAgent(entry, {
    name: "test",
    version: "1",
    signal: stop.signal,
    onEvent: ({ kind }) => kind === "starting" && stop.abort(),
  });
  await assert.rejects(starting, { kind: "aborted" });
  while (starts().some(({ pid }) => runs(pid))) await turnOfTheLoop(10);
});
