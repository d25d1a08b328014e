// F11: fifty agents in one process, and nothing left of them afterwards.
// Needs a process of its own: it counts open handles and the heap.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crashingAgent } from "../../test/support/crashing-agent.ts";
import { patience, runs } from "../../test/support/managed-probe.ts";
import { connectAgent, type ManagedAgent } from "../index.ts";

const cwd = tmpdir();
const count = 50;

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void; // as: the flag makes it

/** What this process holds: descriptors, handles and timers, listeners, megabytes in use. */
function holdings() {
  collectGarbage();
  const resources = process.getActiveResourcesInfo().sort();
  const listeners = process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`);
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    resources,
    listeners: listeners.sort(),
    megabytes: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
  };
}

test(
  "F11 fifty agents work at once, a third of them is killed, and nothing is left when they are closed",
  patience,
  async (t) => {
    const warnings: string[] = [];
    const warned = (warning: Error) => void warnings.push(warning.message);
    process.on("warning", warned);
    t.after(() => process.off("warning", warned));
    const { entry, lives } = crashingAgent(t, "in a message");
    const start = () => connectAgent(entry, { name: "test", version: "1", backoffMs: 0, cwd });

    const everybody = async () => {
      const agents = await Promise.all(Array.from({ length: count }, start));
      const sessions = await Promise.all(agents.map((agent) => agent.loadSession("old", { cwd })));
      const said = await Promise.all(
        sessions.flatMap((session) => ["one", "two"].map((text) => session.prompt(text).result)),
      );
      assert.ok(said.every(({ stopReason }) => stopReason === "end_turn"));
      const dead = agents.filter((_, at) => at % 3 === 0).map((agent) => agent.pid ?? assert.fail());
      for (const pid of dead) process.kill(pid, "SIGKILL");
      const after = await Promise.allSettled(sessions.map((session) => session.prompt("three").result));
      // one that died had said nothing to it: it is started anew and asked again
      assert.deepEqual(
        after.map(({ status }) => status),
        sessions.map(() => "fulfilled"),
      );
      assert.equal(new Set(agents.map(({ pid }) => pid)).size, count);
      await Promise.all(agents.map((agent: ManagedAgent) => agent.close()));
      return dead.length;
    };

    // what is loaded once, and the watchdog, are there from now on
    await everybody();
    const before = holdings();
    let starts = lives().length;
    for (let round = 0; round < 3; round += 1) {
      const dead = await everybody();
      assert.equal(lives().length - starts, count + dead);
      starts = lives().length;
    }
    assert.deepEqual(lives().filter(runs), []);
    const after = holdings();
    assert.deepEqual({ ...after, megabytes: 0 }, { ...before, megabytes: 0 });
    assert.ok(after.megabytes - before.megabytes < 8, `${before.megabytes} MB, then ${after.megabytes} MB`);
    assert.deepEqual(warnings, []);
  },
);

test(
  "F11 when a client with fifty agents is killed, all of them go, however stubborn",
  patience,
  async (t) => {
    const { entry, lives } = crashingAgent(t, "in a message", "stays");
    const script = `
    import { connectAgent } from "@parley/client";
    const [entry, cwd] = JSON.parse(process.argv[1]);
    const open = async () => {
      const agent = await connectAgent(entry, { name: "test", version: "1" });
      await agent.loadSession("old", { cwd });
    };
    await Promise.all(Array.from({ length: ${count} }, open));
    console.log("open");
    setInterval(() => undefined, 2 ** 30);`;
    const args = ["--conditions=parley-source", "--input-type=module", "-e", script];
    // where the packages are found by their names
    const here = fileURLToPath(new URL(".", import.meta.url));
    const client = spawn(process.execPath, [...args, JSON.stringify([entry, cwd])], {
      cwd: here,
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => client.kill("SIGKILL"));
    await once(client.stdout, "data");
    assert.equal(lives().filter(runs).length, count);
    client.kill("SIGKILL");
    while (lives().some(runs)) await turnOfTheLoop(10);
  },
);
