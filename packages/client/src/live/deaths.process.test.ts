// Agents that are killed at every point of their lives: whoever waits is told, nothing is left, and the next prompt works.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AgentScenario } from "@parley/acp/testing";
import { type LiveGate, liveAgent } from "../index.ts";
import { live, patience, say, scripted } from "../live-probe.ts";

const cwd = tmpdir();
const killed = { crash: { signal: "SIGKILL" } };
const sessions = [{ sessionId: "old", cwd }];
const healthy: Partial<AgentScenario> = { sessions, otherwise: say("alive") };
type Steps = NonNullable<AgentScenario["otherwise"]>;

/** What an agent does until it is killed in its turn; `hasSpoken` says that the prompt must not be sent again. */
const points: Readonly<Record<string, { readonly steps: Steps; readonly hasSpoken: boolean }>> = {
  "before it says anything": { steps: [killed], hasSpoken: false },
  "in a thought": { steps: [{ think: "hm" }, killed], hasSpoken: true },
  "in a message": { steps: [{ say: "I will" }, killed], hasSpoken: true },
  "in a half-written line": {
    steps: [{ crash: { signal: "SIGKILL", half: '{"jsonrpc":"2.0","met' } }],
    hasSpoken: false,
  },
  "with a plan": {
    steps: [{ plan: [{ content: "a", priority: "high", status: "pending" }] }, killed],
    hasSpoken: true,
  },
  "in a tool call": { steps: [{ tool: { title: "rm", kind: "execute" }, steps: [killed] }], hasSpoken: true },
  "after a tool call": { steps: [{ tool: { title: "ls", kind: "read" } }, killed], hasSpoken: true },
  "while a terminal of its own runs": {
    steps: [{ display: { command: "sleep" }, output: "zzz", exit: false }, killed],
    hasSpoken: true,
  },
  "after a permission": {
    steps: [{ tool: { title: "rm", kind: "execute" }, steps: [{ ask: true }, killed] }],
    hasSpoken: true,
  },
};

const gate: LiveGate = { permission: ({ options }) => options[0]?.optionId };

for (const [point, { steps, hasSpoken }] of Object.entries(points)) {
  test(`an agent that is killed ${point} is back for the next prompt (F1)`, patience, async (t) => {
    const { entry, starts } = scripted(t, { play: { sessions, otherwise: steps } }, { play: healthy });
    const { agent, kinds } = await live(t, entry, { gate });
    const session = await agent.reopen("old", { cwd });
    const open = new Set<string>();
    session.onUpdate((update) => {
      if (update.sessionUpdate !== "tool_call_update") return;
      if (update.status === "pending" || update.status === "in_progress") open.add(update.toolCallId);
      else if (update.status != null) open.delete(update.toolCallId);
    });
    if (hasSpoken) await assert.rejects(session.prompt("one").outcome, { kind: "exited", signal: "SIGKILL" });
    else assert.equal((await session.prompt("one").outcome).stopReason, "end_turn");
    assert.equal(session.state, "idle");
    assert.equal((await session.prompt("two").outcome).stopReason, "end_turn");
    assert.equal(starts().length, 2);
    assert.ok(kinds().includes("crashed"));
  });
}

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
    const { agent } = await live(t, entry, {
      gate: {
        permission: (_ask, { signal }) => {
          asked.resolve(signal);
          return new Promise(() => undefined);
        },
      },
    });
    const session = await agent.reopen("old", { cwd });
    const prompt = session.prompt("one");
    const signal = await asked.promise;
    process.kill(agent.pid ?? assert.fail(), "SIGKILL");
    await assert.rejects(prompt.outcome, { kind: "exited" });
    assert.ok(signal.aborted);
    assert.equal((await session.prompt("two").outcome).stopReason, "end_turn");
  },
);

test("an agent that is killed between two prompts is back for the next one (F1)", patience, async (t) => {
  const { entry } = scripted(t, { play: healthy });
  const crashed = Promise.withResolvers<void>();
  const { agent } = await live(t, entry, { onEvent: ({ kind }) => kind === "crashed" && crashed.resolve() });
  const session = await agent.reopen("old", { cwd });
  await session.prompt("one").outcome;
  const before = agent.pid ?? assert.fail();
  process.kill(before, "SIGKILL");
  await crashed.promise;
  assert.equal((await session.prompt("two").outcome).stopReason, "end_turn");
  assert.notEqual(agent.pid, before);
});

test(
  "an agent that is killed while it is cancelled ends the prompt as cancelled (F1)",
  patience,
  async (t) => {
    const steps: Steps = [{ say: "working" }, { wait: "cancelled" }, killed];
    const { entry } = scripted(t, { play: { sessions, otherwise: steps } }, { play: healthy });
    const { agent } = await live(t, entry);
    const session = await agent.reopen("old", { cwd });
    const began = Promise.withResolvers<void>();
    session.onUpdate(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && began.resolve());
    const prompt = session.prompt("one");
    await began.promise;
    prompt.cancel();
    assert.deepEqual(await prompt.outcome, { stopReason: "cancelled" });
    assert.equal((await session.prompt("two").outcome).stopReason, "end_turn");
  },
);

test("an agent that is stopped is ended with its cancel (F4)", patience, async (t) => {
  const { entry } = scripted(
    t,
    { play: { sessions, otherwise: [{ say: "working" }, { wait: "cancelled" }] } },
    { play: healthy },
  );
  const { agent } = await live(t, { ...entry, quirks: { graceMs: 1 } }, { cancelTimeoutMs: 50 });
  const session = await agent.reopen("old", { cwd });
  const began = Promise.withResolvers<void>();
  session.onUpdate(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && began.resolve());
  const prompt = session.prompt("one");
  await began.promise;
  const pid = agent.pid ?? assert.fail();
  process.kill(pid, "SIGSTOP");
  prompt.cancel();
  assert.deepEqual(await prompt.outcome, { stopReason: "cancelled" });
  assert.equal((await session.prompt("two").outcome).stopReason, "end_turn");
  while (runs(pid)) await turnOfTheLoop(10);
});

test("an agent behind a wrapper script leaves nothing behind when it is closed", patience, async (t) => {
  const { entry, folder, starts } = scripted(t, { play: healthy });
  const wrapper = join(folder, "wrapper");
  const line = [entry.command, ...entry.args].map((word) => `'${word}'`).join(" ");
  // as npx does it: the agent is a child of what was started, and so is something else
  writeFileSync(wrapper, `#!/bin/sh\nsleep 100000 &\necho $! > '${folder}/helper'\n${line}\n`);
  chmodSync(wrapper, 0o755);
  const { agent } = await live(t, { ...entry, command: wrapper, args: [] });
  await agent.reopen("old", { cwd });
  const pids = [agent.pid ?? 0, starts()[0]?.pid ?? 0, Number(readFileSync(join(folder, "helper"), "utf8"))];
  assert.deepEqual(pids.map(runs), [true, true, true]);
  await agent.close();
  while (pids.some(runs)) await turnOfTheLoop(10);
});

test("when the client is killed, its agents go too (F11)", patience, async (t) => {
  const { entry, starts } = scripted(t, { play: healthy });
  const script = `
    import { liveAgent } from "@parley/client";
    const entry = JSON.parse(process.argv[1]);
    await Promise.all(Array.from({ length: 3 }, async () => {
      const agent = await liveAgent(entry, { client: { name: "test", version: "1" } });
      await agent.open({ cwd: ${JSON.stringify(cwd)} });
    }));
    console.log("open");
    setInterval(() => undefined, 2 ** 30);`;
  const args = ["--conditions=parley-source", "--input-type=module", "-e", script, JSON.stringify(entry)];
  // where the packages are found by their names
  const here = fileURLToPath(new URL(".", import.meta.url));
  const client = spawn(process.execPath, args, { cwd: here, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => client.kill("SIGKILL"));
  await once(client.stdout, "data");
  const pids = starts().map(({ pid }) => pid);
  assert.equal(pids.length, 3);
  client.kill("SIGKILL");
  while (pids.some(runs)) await turnOfTheLoop(10);
});

test("closing while the agent starts ends it", patience, async (t) => {
  const { entry, starts } = scripted(t, { play: healthy });
  const stop = new AbortController();
  const starting = liveAgent(entry, {
    client: { name: "test", version: "1" },
    signal: stop.signal,
    onEvent: ({ kind }) => kind === "starting" && stop.abort(),
  });
  await assert.rejects(starting, { kind: "aborted" });
  while (starts().some(({ pid }) => runs(pid))) await turnOfTheLoop(10);
});

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // a process that has ended and waits for its parent does not run
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
