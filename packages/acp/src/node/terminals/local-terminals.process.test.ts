// Needs a process of its own: it measures memory.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { gone, runs } from "../../../test/support/channel-probe.ts";
import { probeTerminals } from "../../../test/support/terminal-probe.ts";
import { localTerminals } from "./local-terminals.ts";

const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 120_000 };

/** For scripts that must not go on before the test says so. */
function milestones(t: TestContext): { waitFor(name: string): string; signal(name: string): void } {
  const folder = mkdtempSync(join(tmpdir(), "parley-terminal-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return {
    waitFor: (name) => `until [ -e ${join(folder, name)} ]; do sleep 0.01; done`,
    signal: (name) => writeFileSync(join(folder, name), ""),
  };
}

describe("a terminal's limits and signals", () => {
  test("a wait ends after its limit, and the command goes on", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const { waitFor, signal } = milestones(t);
    const terminal = await sh(`${waitFor("go")}; echo over; exit 4`);
    assert.deepEqual(await terminal.waitForExit({ timeoutMs: 1 }), { timedOut: true });
    signal("go");
    await until(terminal, /over/);
    assert.deepEqual(await terminal.waitForExit({ timeoutMs: 100_000 }), { exitCode: 4 });
  });

  test("a command is killed after the limit that it was started with", posix, async (t) => {
    const { terminals } = probeTerminals(t);
    const terminal = await terminals.create({ command: "sleep", args: ["1000"], timeoutMs: 20 });
    assert.deepEqual(await terminal.waitForExit(), { signal: "SIGTERM" });
  });

  test("a signal is sent as it is, and the command may go on", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const terminal = await sh("trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done");
    await until(terminal, /ready/);
    await terminal.kill({ signal: "SIGINT" });
    await until(terminal, /caught/);
    assert.equal((await terminal.output()).exitStatus, undefined);
    await terminal.kill({ signal: "SIGKILL" });
    assert.deepEqual(await terminal.waitForExit(), { signal: "SIGKILL" });
    await assert.rejects(terminal.kill({ signal: "SIGNAL" }), /signal must be one of this system/);
  });

  test("listeners get the output so far and all that comes, in whole characters", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const { waitFor, signal } = milestones(t);
    const terminal = await sh(`printf 'a\\342\\202'; ${waitFor("go")}; printf '\\254b'`);
    await until(terminal, /a../);
    const parts: string[] = [];
    const removed: string[] = [];
    terminal.onOutput(({ data }) => void parts.push(data));
    terminal.onOutput(({ data }) => void removed.push(data))();
    signal("go");
    await terminal.waitForExit();
    assert.equal(parts[0], "a");
    assert.deepEqual([parts.join(""), removed], ["a€b", ["a"]]);
  });
});

describe("a terminal's output", () => {
  test("is complete once the command has ended", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("head -c 300000 /dev/zero | tr '\\0' x; echo done >&2; exit 7");
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 7 });
    assert.deepEqual(await terminal.output(), {
      output: `${"x".repeat(300_000)}done\n`,
      truncated: false,
      exitStatus: { exitCode: 7 },
    });
  });

  test("can be read while the command runs, and has no exit status then (C32)", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const terminal = await sh("echo ready; exec sleep 1000");
    await until(terminal, /ready/);
    assert.deepEqual(await terminal.output(), { output: "ready\n", truncated: false });
  });

  test("has stdout and stderr in the order in which they were written", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done");
    await terminal.waitForExit();
    const expected = [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join("");
    assert.equal((await terminal.output()).output, expected);
  });

  test("may be opened by name, as scripts do", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("echo one > /dev/stderr; echo two > /dev/stdout");
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
    assert.equal((await terminal.output()).output, "one\ntwo\n");
  });

  test("a limit of 4 bytes on '€€' leaves '€', truncated (N192)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("printf '\\342\\202\\254\\342\\202\\254'", { outputByteLimit: 4 });
    await terminal.waitForExit();
    const exitStatus = { exitCode: 0 };
    assert.deepEqual(await terminal.output(), { output: "€", truncated: true, exitStatus });
  });

  test("a limit of 0 leaves nothing, truncated (N193)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("echo secret", { outputByteLimit: 0 });
    await terminal.waitForExit();
    assert.deepEqual(await terminal.output(), { output: "", truncated: true, exitStatus: { exitCode: 0 } });
  });

  test("a limit beyond ours is cut down to it", posix, async (t) => {
    const { sh } = probeTerminals(t, { maxOutputByteLimit: 3 });
    const terminal = await sh("printf 12345", { outputByteLimit: 1_000_000_000_000 });
    await terminal.waitForExit();
    assert.deepEqual(await terminal.output(), {
      output: "345",
      truncated: true,
      exitStatus: { exitCode: 0 },
    });
  });

  test("a character written in three pieces is one character (N194)", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const { waitFor, signal } = milestones(t);
    const terminal = await sh(
      `printf 'a\\342'; ${waitFor("one")}; printf '\\202'; ${waitFor("two")}; printf '\\254b'`,
    );
    await until(terminal, /\xe2/);
    assert.equal((await terminal.output()).output, "a");
    signal("one");
    await until(terminal, /\x82/);
    assert.equal((await terminal.output()).output, "a");
    signal("two");
    await terminal.waitForExit();
    assert.equal((await terminal.output()).output, "a€b");
  });

  test("invalid bytes become U+FFFD, and only they (N195)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("printf 'a\\377\\342\\202\\254b\\342'");
    await terminal.waitForExit();
    assert.equal((await terminal.output()).output, "a\ufffd€b\ufffd");
  });

  test(
    "a flood costs no more memory than twice the limit, and does not hold up the child (N196)",
    posix,
    async () => {
      const limit = 256 * 1024;
      const flood = 32 * 1024 * 1024;
      let bytes = 0;
      let most = 0;
      const before = process.memoryUsage().arrayBuffers;
      const terminals = localTerminals({
        cwd: "/",
        onOutput(_, chunk) {
          const isSample = bytes >> 20 !== (bytes + chunk.length) >> 20;
          bytes += chunk.length;
          // asking costs more than a chunk does
          if (isSample) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
        },
      });
      const args = ["-c", `head -c ${flood} /dev/zero; echo the end`];
      const terminal = await terminals.create({ command: "/bin/sh", args, outputByteLimit: limit });
      assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
      const { output, truncated } = await terminal.output();
      assert.equal(bytes, flood + 8);
      assert.ok(output.endsWith("\0the end\n"));
      assert.equal(output.length, limit);
      assert.equal(truncated, true);
      assert.ok(most <= 2 * limit, `${most} bytes of buffers`);
      await terminals.close();
    },
  );

  test("of a process left behind is still taken, and does not hold up the exit", posix, async (t) => {
    const { sh, until } = probeTerminals(t);
    const { waitFor, signal } = milestones(t);
    const terminal = await sh(`{ ${waitFor("go")}; echo late; exec sleep 1000; } & echo early`);
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
    assert.equal((await terminal.output()).output, "early\n");
    signal("go");
    await until(terminal, /late/);
    assert.equal((await terminal.output()).output, "early\nlate\n");
  });

  test("where no pipe can be made for both streams, comes from two, characters intact", posix, async (t) => {
    const { waitFor, signal } = milestones(t);
    const before = process.env.TMPDIR;
    process.env.TMPDIR = "/nowhere";
    t.after(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    const { sh, until } = probeTerminals(t);
    const script = `printf 'a\\342' >&2; ${waitFor("one")}; printf b; ${waitFor("two")}; printf '\\202\\254\\342' >&2; exit 3`;
    const terminal = await sh(script);
    await until(terminal, /a/);
    signal("one");
    await until(terminal, /b/);
    signal("two");
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 3 });
    assert.equal((await terminal.output()).output, "ab€\ufffd");
  });
});

describe("starting a terminal", () => {
  test("passes arguments as they are, without a shell", posix, async (t) => {
    const { terminals } = probeTerminals(t);
    const terminal = await terminals.create({
      command: "printf",
      args: ["%s|", "$HOME `id`", "; exit 9", "*"],
    });
    await terminal.waitForExit();
    assert.equal((await terminal.output()).output, "$HOME `id`|; exit 9|*|");
  });

  test("gives the command no input to wait for", posix, async (t) => {
    const { terminals } = probeTerminals(t);
    const terminal = await terminals.create({ command: "cat" });
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
  });

  test("happens in the given directory, else in the default one", posix, async (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-terminal-")));
    t.after(() => rmSync(folder, { recursive: true }));
    const { terminals } = probeTerminals(t, { cwd: folder });
    for (const [cwd, expected] of [[undefined, folder] as const, ["/", "/"] as const]) {
      const terminal = await terminals.create({ command: "pwd", ...(cwd === undefined ? {} : { cwd }) });
      await terminal.waitForExit();
      assert.equal((await terminal.output()).output, `${expected}\n`);
    }
  });

  test("adds to the environment, and never passes on what is meant for us alone", posix, async (t) => {
    const ours = {
      PARLEY_TEST_KEPT: "kept",
      PARLEY_TEST_DROPPED: "dropped",
      PARLEY_TEST_CHANGED: "ours",
      "PARLEY_TEST_odd.name": "odd",
      PARLEY_WIRE_FD: "3",
      PARLEY_CACHE_SET: "1",
      NODE_COMPILE_CACHE: "/somewhere",
    };
    const before = Object.keys(ours).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, ours);
    t.after(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    const base = { PARLEY_TEST_DROPPED: undefined, PARLEY_TEST_CHANGED: "base", PARLEY_TEST_BASE: "base" };
    const { terminals } = probeTerminals(t, { env: base });
    const terminal = await terminals.create({ command: "env", env: { PARLEY_TEST_CHANGED: "given" } });
    await terminal.waitForExit();
    const lines = (await terminal.output()).output
      .split("\n")
      .filter((line) => /^(PARLEY_(?!GROUP_|REQUIRE_)|NODE_COMP)/.test(line));
    assert.deepEqual(lines.sort(), [
      "PARLEY_TEST_BASE=base",
      "PARLEY_TEST_CHANGED=given",
      "PARLEY_TEST_KEPT=kept",
      "PARLEY_TEST_odd.name=odd",
    ]);
  });

  test("that fails says why, and what to do", posix, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-terminal-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const plain = join(folder, "plain");
    const script = join(folder, "script");
    writeFileSync(plain, "not a program", { mode: 0o644 });
    mkdirSync(join(folder, "folder"));
    writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
    const { terminals } = probeTerminals(t, { maxTerminals: 1 });
    for (const [options, code, reason, message] of [
      [
        { command: "parley-no-such-command" },
        -32002,
        "command_not_found",
        /no such command on PATH; install it/,
      ],
      [{ command: "folder", env: { PATH: folder } }, -32002, "command_not_found", /no such command on PATH/],
      [{ command: "ls -l" }, -32002, "command_not_found", /arguments belong in args, a shell line in sh -c/],
      [
        { command: join(folder, "nothing") },
        -32002,
        "command_not_found",
        /there is no such file; check the path/,
      ],
      [
        { command: "./script", cwd: folder },
        -32002,
        "command_not_found",
        /the interpreter named in its first line/,
      ],
      [{ command: plain }, -32602, "not_executable", /it is not executable; chmod \+x it/],
      [
        { command: "ls", cwd: join(folder, "gone") },
        -32002,
        "cwd_not_found",
        /its working directory .* does not exist/,
      ],
      [{ command: "ls", cwd: plain }, -32002, "cwd_not_found", /its working directory .* does not exist/],
      [{ command: "ls", args: ["x".repeat(4_000_000)] }, -32602, "too_long", /pass large input in a file/],
    ] as const) {
      await assert.rejects(terminals.create(options), (error: unknown) => {
        assert.ok(error instanceof Error && "code" in error && "data" in error);
        assert.match(error.message, message);
        assert.equal(error.code, code, error.message);
        assert.equal((error.data as { reason: string }).reason, reason);
        return true;
      });
    }
    // None of them took the place of a terminal.
    await terminals.create({ command: "true" });
  });

  test("stops at the limit until one is released", posix, async (t) => {
    const { terminals } = probeTerminals(t, { maxTerminals: 2 });
    const both = await Promise.all([1, 2].map(() => terminals.create({ command: "true" })));
    await both[0]?.waitForExit();
    await assert.rejects(terminals.create({ command: "true" }), { code: -32063 });
    await both[0]?.release();
    await terminals.create({ command: "true" });
  });

  test("that is cancelled meanwhile leaves nothing behind", posix, async (t) => {
    const { terminals } = probeTerminals(t, { maxTerminals: 1 });
    const cancel = new AbortController();
    const reason = new Error("changed my mind");
    const creating = terminals.create({ command: "sleep", args: ["1000"], signal: cancel.signal });
    cancel.abort(reason);
    await assert.rejects(creating, reason);
    await terminals.create({ command: "true" });
  });
});

describe("the end of a terminal", () => {
  test("kill after the exit is accepted, and changes nothing (N189)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("echo done; exit 3");
    await terminal.waitForExit();
    await terminal.kill();
    const exitStatus = { exitCode: 3 };
    assert.deepEqual(await terminal.output(), { output: "done\n", truncated: false, exitStatus });
  });

  test("two waits get the same answer, and so does one that comes late (N190)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("exit 5");
    const early = [terminal.waitForExit(), terminal.waitForExit()];
    assert.deepEqual(await Promise.all(early), [{ exitCode: 5 }, { exitCode: 5 }]);
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 5 });
  });

  test("a wait that is given up rejects, and the others go on", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("exec sleep 1000");
    const other = terminal.waitForExit();
    const giveUp = new AbortController();
    const wait = terminal.waitForExit({ signal: giveUp.signal });
    const reason = new Error("no time");
    giveUp.abort(reason);
    await assert.rejects(wait, reason);
    await assert.rejects(terminal.waitForExit({ signal: giveUp.signal }), reason);
    await terminal.kill();
    assert.deepEqual(await other, { signal: "SIGTERM" });
  });

  test("after kill the terminal can still be read (C34)", posix, async (t) => {
    const { sh, until, terminals } = probeTerminals(t);
    const terminal = await sh("echo ready; exec sleep 1000");
    await until(terminal, /ready/);
    await terminal.kill();
    assert.equal(runs(terminal.pid), false);
    const exitStatus = { signal: "SIGTERM" };
    const same = terminals.get(terminal.terminalId);
    assert.deepEqual(await same.output(), { output: "ready\n", truncated: false, exitStatus });
    assert.deepEqual(await same.waitForExit(), exitStatus);
  });

  test("release while a wait is open answers the wait with the signal (N191)", posix, async (t) => {
    const { sh } = probeTerminals(t);
    const terminal = await sh("exec sleep 1000");
    const wait = terminal.waitForExit();
    await terminal.release();
    assert.deepEqual(await wait, { signal: "SIGTERM" });
    await gone(terminal.pid);
  });

  test(
    "after release the id is invalid, at once and for everything but a second release (N188, C33)",
    posix,
    async (t) => {
      const { sh, terminals } = probeTerminals(t);
      const terminal = await sh("exec sleep 1000");
      const releasing = terminal.release();
      const expected = { code: -32002, data: { reason: "terminal_not_found" } };
      assert.throws(() => terminals.get(terminal.terminalId), expected);
      await assert.rejects(terminal.output(), expected);
      await assert.rejects(terminal.waitForExit(), expected);
      await assert.rejects(terminal.kill(), expected);
      assert.equal(terminal.release(), releasing);
      await releasing;
      assert.throws(() => terminals.get(terminal.terminalId), expected);
    },
  );

  test("a terminal of another session is unknown (N187)", posix, async (t) => {
    const one = probeTerminals(t);
    const other = probeTerminals(t);
    const [mine] = await Promise.all([one.sh("exit 0"), other.sh("exit 0")]);
    assert.equal(one.terminals.get(mine.terminalId), mine);
    assert.throws(() => other.terminals.get(mine.terminalId), { code: -32002 });
  });

  test("the exit is told once, whoever waits for it", posix, async (t) => {
    const told: unknown[] = [];
    const { sh, terminals } = probeTerminals(t, { onExit: (id, status) => told.push([id, status]) });
    const one = await sh("exit 1");
    await one.waitForExit();
    await one.kill();
    const two = await sh("exec sleep 1000");
    await terminals.close();
    assert.deepEqual(told, [
      [one.terminalId, { exitCode: 1 }],
      [two.terminalId, { signal: "SIGTERM" }],
    ]);
  });

  test("close also ends what is just being started", posix, async () => {
    const terminals = localTerminals({ cwd: "/" });
    const creating = terminals.create({ command: "sleep", args: ["1000"] });
    const refused = assert.rejects(creating, { code: -32067 });
    await terminals.close();
    await refused;
  });
});

test("terminals that are disposed of end their commands, one by one or all at once", posix, async () => {
  const pids: number[] = [];
  {
    await using terminals = localTerminals({ cwd: "/" });
    const sleeps = { command: "sleep", args: ["1000"] };
    {
      await using terminal = await terminals.create(sleeps);
      pids.push(terminal.pid);
      assert.ok(runs(terminal.pid));
    }
    await gone(pids[0] ?? 0);
    pids.push((await terminals.create(sleeps)).pid);
  }
  await gone(pids[1] ?? 0);
});
