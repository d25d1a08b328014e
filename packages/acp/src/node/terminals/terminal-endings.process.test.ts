import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gone, probe, runs } from "../../../test/support/channel-probe.ts";
import { probeTerminals } from "../../../test/support/terminal-probe.ts";
import { spawnAgent } from "../spawn.ts";
import type { LocalTerminals } from "./local-terminals.ts";
import type { LocalTerminal } from "./terminal.ts";

const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 120_000 };
const linux = { ...posix, skip: process.platform === "linux" ? false : "needs /proc" };

/** Commands that do not go away by themselves. Each prints the processes that must not survive. */
const inOneGroup = {
  "a plain command": "echo pids $$ $$; exec sleep 1000",
  "a command that ignores SIGTERM": "trap '' TERM; echo pids $$ $$; while :; do sleep 1; done",
  "a command that has been stopped": "echo pids $$ $$; kill -STOP $$",
  "a grandchild that ignores SIGTERM": "(trap '' TERM; exec sleep 1000) & echo pids $$ $!; wait",
  "a grandchild under nohup whose parent has left":
    "(nohup sleep 1000 >/dev/null 2>&1 & echo pids $$ $!); exec sleep 1000",
  "a command without an environment that ignores SIGTERM":
    "exec env -i /bin/sh -c 'trap \"\" TERM; echo pids $$ $$; while :; do sleep 1; done'",
  "a child that outlives the command": "(trap '' HUP TERM; exec sleep 1000) & echo pids $$ $!",
};
const inOtherGroups = {
  "a child in a session of its own": "setsid sleep 1000 & echo pids $$ $!; wait",
  "a child in a session of its own that ignores SIGTERM":
    "(trap '' TERM; exec setsid sleep 1000 >/dev/null 2>&1) & echo pids $$ $!; wait",
  "a daemon that has left its group and its parent (TH6)":
    "(setsid sh -c 'echo $$ >&3; exec sleep 1000' 3>&1 >/dev/null 2>&1 &) | { read pid; echo pids $$ $pid; }; exec sleep 1000",
  "a daemon of a command that has ended, which ignores SIGTERM (TH6)":
    "(trap '' TERM HUP; setsid sh -c 'echo $$ >&3; exec 3>&-; exec sleep 1000' 3>&1 >/dev/null 2>&1 &) | { read pid; echo pids $$ $pid; }",
};
/** Found by who descends from the command, and by nothing else: when we are killed, nobody is left to look. */
const byDescent = {
  "a child in a session of its own that has emptied its environment":
    "setsid env -i /bin/sleep 1000 & echo pids $$ $!; wait",
};
const waysOut: Record<string, (terminal: LocalTerminal, all: LocalTerminals) => Promise<void>> = {
  kill: (terminal) => terminal.kill(),
  release: (terminal) => terminal.release(),
  close: (_, all) => all.close(),
};

describe("what does not survive the end of its terminal (F10)", { concurrency: 8 }, () => {
  for (const [shapes, where] of [
    [inOneGroup, posix],
    [inOtherGroups, linux],
    [byDescent, linux],
  ] as const) {
    for (const [shape, script] of Object.entries(shapes)) {
      for (const [way, end] of Object.entries(waysOut)) {
        test(`${shape}, on ${way}`, where, async (t) => {
          const { sh, until, terminals } = probeTerminals(t, { killMs: 200 });
          const terminal = await sh(script);
          const pids = (await until(terminal, /pids (\d+) (\d+)\n/)).slice(1).map(Number);
          const wait = terminal.waitForExit();
          await end(terminal, terminals);
          assert.deepEqual(pids.filter(runs), []);
          const status = await wait;
          assert.ok("signal" in status || /outlives|has ended/.test(shape), JSON.stringify(status));
        });
      }
    }
  }
});

describe("what does not survive us when we are killed (F10)", { concurrency: 8 }, () => {
  for (const [shape, script] of Object.entries({ ...inOneGroup, ...inOtherGroups })) {
    test(shape, shape in inOneGroup ? posix : linux, async () => {
      const source = `
        import { closeSync } from "node:fs";
        import { localTerminals } from ${JSON.stringify(import.meta.resolve("./local-terminals.ts"))};
        // what it prints is then the wire
        closeSync(3);
        const terminals = localTerminals({ cwd: "/", onOutput: (_, bytes) => process.stdout.write(bytes) });
        await terminals.create({ command: "/bin/sh", args: ["-c", ${JSON.stringify(script)}] });
        process.stdin.resume();
      `;
      const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e"];
      const running = spawnAgent(process.execPath, [...flags, source], { graceMs: 0 });
      const pids = (await probe(running).until(/pids (\d+) (\d+)\n/)).slice(1).map(Number);
      process.kill(running.pid ?? 0, "SIGKILL");
      await gone(...pids);
      await running.close();
    });
  }
});

describe("patience", () => {
  test("a command that tidies up after SIGTERM is left the time, and its own exit code", posix, async (t) => {
    const { sh, until } = probeTerminals(t, { killMs: 60_000 });
    const terminal = await sh("trap 'echo tidy; exit 4' TERM; echo ready; while :; do sleep 0.05; done");
    await until(terminal, /ready/);
    await terminal.kill();
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 4 });
    // Before that, some shells have a word to say about their `sleep`.
    assert.match((await terminal.output()).output, /^ready\n(?:.*\n)?tidy\n$/);
  });

  test(
    "a daemon that has emptied its environment too does not hold up kill, release or the exit",
    linux,
    async (t) => {
      const { sh, until } = probeTerminals(t);
      const terminal = await sh("(setsid env -i /bin/sh -c 'echo started; exec sleep 1000' & echo pid $!)");
      const daemon = Number((await until(terminal, /pid (\d+)\n/))[1]);
      t.after(() => process.kill(daemon, "SIGKILL"));
      await until(terminal, /started/);
      assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
      await terminal.kill();
      await terminal.release();
      assert.equal(runs(daemon), true);
    },
  );

  test("two kills and a release at once are one end", posix, async (t) => {
    const { sh, until } = probeTerminals(t, { killMs: 200 });
    const terminal = await sh("trap '' TERM; echo ready; while :; do sleep 1; done");
    await until(terminal, /ready/);
    await Promise.all([terminal.kill(), terminal.kill(), terminal.release()]);
    assert.equal(runs(terminal.pid), false);
  });
});
