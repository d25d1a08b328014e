import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { gone, probe, runs, until } from "../../test/support/channel-probe.ts";
import { descendantsOf } from "./process-tree.ts";
import { type AgentProcess, spawnAgent } from "./spawn.ts";

const posix = {
  skip: process.platform === "win32" ? "there is no watchdog on Windows" : false,
  timeout: 120_000,
};
const linux = { ...posix, skip: process.platform === "linux" ? false : "needs /proc" };

/**
 * A client process that starts one agent from a shell script and passes on what the agent prints. Both close the wire of
 * their own: what they print is then delivered at once.
 * The agent and the watchdog lead groups of their own, so that nothing in this test ends them by accident.
 */
function client(script: string, code = ""): AgentProcess {
  const source = `
    import { closeSync } from "node:fs";
    import { spawnAgent } from ${JSON.stringify(import.meta.resolve("./spawn.ts"))};
    const agent = spawnAgent("/bin/sh", ["-c", ${JSON.stringify(`exec 3>&-; ${script}`)}]);
    closeSync(3);
    agent.open({ bytes: (chunk) => process.stdout.write(chunk), drained() {}, ended() {} });
    ${code}
  `;
  const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e"];
  return spawnAgent(process.execPath, [...flags, source], { graceMs: 0 });
}

async function pidsFrom(running: AgentProcess): Promise<number[]> {
  const match = await probe(running).until(/pids (\d+) (\d+)\n/);
  return match.slice(1).map(Number);
}

describe("the watchdog", { concurrency: true }, () => {
  for (const [shape, script] of Object.entries({
    "that behave": "sleep 1000 & echo pids $$ $!; cat; kill $!",
    "that ignore the end of stdin": "sleep 1000 & echo pids $$ $!; wait",
    "that ignore the end of stdin and SIGTERM":
      "trap '' TERM; sleep 1000 & echo pids $$ $!; while :; do wait; done",
    "whose wrapper leaves first": "(trap '' TERM; exec sleep 1000 >/dev/null 2>&1) & echo pids $$ $!; cat",
  })) {
    test(`agents ${shape} do not survive a client that is killed (G10)`, { ...posix }, async () => {
      const running = client(script);
      const pids = await pidsFrom(running);
      assert.ok(pids.every(runs));
      process.kill(running.pid ?? 0, "SIGKILL");
      await gone(...pids);
      await running.close();
    });
  }

  test("agents do not survive a client that exits without closing them (G10)", posix, async () => {
    const running = client(
      "sleep 1000 & echo pids $$ $!; wait",
      "process.stdin.on('data', () => process.exit(3));",
    );
    const pids = await pidsFrom(running);
    running.write("leave\n");
    assert.deepEqual(await running.exited, { exitCode: 3 });
    await gone(...pids);
    await running.close();
  });

  test(
    "Ctrl-C at the client's terminal ends the client and its agents, and reaches the watchdog last",
    linux,
    async () => {
      const running = client("sleep 1000 & echo pids $$ $!; wait");
      const pids = await pidsFrom(running);
      const family = descendantsOf(running.pid ?? 0).map(({ pid }) => pid);
      assert.equal(family.length, 3, "the agent, its child and the watchdog");
      process.kill(-(running.pid ?? 0), "SIGINT");
      assert.deepEqual(await running.exited, { signal: "SIGINT" });
      await gone(...pids, ...family);
      await running.close();
    },
  );

  test("the watchdog leaves with its client and does not keep it running", linux, async () => {
    const running = client(
      "echo pids $$ $$; cat",
      "process.stdin.on('data', () => { process.stdin.destroy(); agent.close(); });",
    );
    const pids = await pidsFrom(running);
    const family = descendantsOf(running.pid ?? 0).map(({ pid }) => pid);
    running.write("leave\n");
    assert.deepEqual(await running.exited, { exitCode: 0 });
    await gone(...pids, ...family);
    await running.close();
  });

  test("a group that has been forgotten is left alone when its client dies", linux, async () => {
    // The stranger stands for a process that got the number of a group that had ended long before.
    const stranger = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    const watching = `
      const { watchGroup } = await import(${JSON.stringify(import.meta.resolve("./watchdog.ts"))});
      watchGroup(${stranger.pid})();
    `;
    const running = client("echo pids $$ $$; cat", watching);
    await pidsFrom(running);
    const family = descendantsOf(running.pid ?? 0).map(({ pid }) => pid);
    process.kill(running.pid ?? 0, "SIGKILL");
    await gone(...family);
    assert.equal(runs(stranger.pid), true);
    stranger.kill("SIGKILL");
    await running.close();
  });

  test("a watchdog that was killed is replaced", linux, async () => {
    const running = client("sleep 1000 & echo pids $$ $!; wait");
    const pids = await pidsFrom(running);
    // a process that was forked and has not yet become the watchdog would not do its work
    const watchdog = (): number | undefined =>
      descendantsOf(running.pid ?? 0).find(({ pid }) => commandOf(pid).includes("parley-watchdog"))?.pid;
    const first = watchdog();
    process.kill(first ?? 0, "SIGKILL");
    await until(() => watchdog() !== undefined && watchdog() !== first);
    process.kill(running.pid ?? 0, "SIGKILL");
    await gone(...pids);
    await running.close();
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // it has gone
    return "";
  }
}
