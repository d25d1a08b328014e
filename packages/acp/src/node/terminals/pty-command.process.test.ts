import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { test } from "node:test";
import { gone } from "../../../test/support/channel-probe.ts";
import { probeTerminals } from "../../../test/support/terminal-probe.ts";
import type { PtyOptions, PtySpawn } from "./pty-command.ts";

const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 60_000 };

interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: PtyOptions;
}

/** Pipes that behave as a pseudo-terminal of node-pty does: one stream, the exit after the last byte. */
function fakePty(): { readonly pty: PtySpawn; readonly started: Started[]; readonly sizes: number[][] } {
  const started: Started[] = [];
  const sizes: number[][] = [];
  const pty: PtySpawn = (command, args, options) => {
    started.push({ command, args, options });
    const { cwd, env } = options;
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    return {
      pid: child.pid ?? assert.fail("it did not start"),
      onData: (listener) => child.stdout.on("data", listener),
      onExit: (listener) =>
        child.on("close", (code, signal) =>
          listener({ exitCode: code ?? 0, signal: signal === null ? 0 : constants.signals[signal] }),
        ),
      write: (data) => child.stdin.write(data),
      resize: (columns, rows) => sizes.push([columns, rows]),
      kill: () => child.kill("SIGHUP"),
    };
  };
  return { pty, started, sizes };
}

test("a command gets the pseudo-terminal that was passed in", posix, async (t) => {
  const { pty, started } = fakePty();
  const { terminals } = probeTerminals(t, { pty, cwd: "/", env: { TERM: undefined, A: "base" } });
  const terminal = await terminals.create({
    command: "sh",
    args: ["-c", "printf '%s€' $A; exit 3"],
    env: { A: "1" },
  });
  assert.deepEqual(await terminal.waitForExit(), { exitCode: 3 });
  assert.deepEqual(await terminal.output(), { output: "1€", truncated: false, exitStatus: { exitCode: 3 } });
  const { command, args, options } = started[0] ?? assert.fail("nothing was started");
  const { name, cols, rows, cwd, env, encoding } = options;
  assert.deepEqual([command, args], ["sh", ["-c", "printf '%s€' $A; exit 3"]]);
  assert.deepEqual(
    { name, cols, rows, cwd, encoding, a: env.A },
    { name: "xterm-256color", cols: 80, rows: 24, cwd: "/", encoding: null, a: "1" },
  );
});

test("what is typed reaches the command, and the screen can change its size", posix, async (t) => {
  const { pty, sizes } = fakePty();
  const { terminals, until } = probeTerminals(t, { pty });
  const terminal = await terminals.create({ command: "cat" });
  terminal.pty?.write("hello\n");
  await until(terminal, /hello\n/);
  terminal.pty?.resize(132, 50);
  assert.deepEqual(sizes, [[132, 50]]);
});

test("a command behind a pipe has no keyboard", posix, async (t) => {
  const { sh } = probeTerminals(t);
  assert.equal((await sh("exit 0")).pty, undefined);
});

test("text in place of bytes is taken too", posix, async (t) => {
  const { pty } = fakePty();
  const decoding: PtySpawn = (...given) => {
    const made = pty(...given);
    const onData = (listener: (data: string) => void): unknown =>
      made.onData((data) => listener(Buffer.from(data).toString("utf8")));
    return { ...made, onData };
  };
  const { sh } = probeTerminals(t, { pty: decoding });
  const terminal = await sh("printf 'a€b'");
  await terminal.waitForExit();
  assert.equal((await terminal.output()).output, "a€b");
});

test(
  "release ends the whole session behind the pseudo-terminal, and answers with the signal",
  posix,
  async (t) => {
    const { pty } = fakePty();
    const { sh, until } = probeTerminals(t, { pty, killMs: 200 });
    const terminal = await sh("(trap '' TERM; exec sleep 1000) & echo pid $!; wait");
    const child = Number((await until(terminal, /pid (\d+)\n/))[1]);
    const wait = terminal.waitForExit();
    await terminal.release();
    assert.deepEqual(await wait, { signal: "SIGTERM" });
    await gone(terminal.pid, child);
  },
);

test("a command that does not exist is an error, not an odd line of output", posix, async (t) => {
  const { terminals } = probeTerminals(t, { pty: () => assert.fail("it was started") });
  for (const [options, reason] of [
    [{ command: "parley-no-such-command" }, "command_not_found"],
    [{ command: "/nowhere/at/all" }, "command_not_found"],
    [{ command: "sh", cwd: "/nowhere" }, "cwd_not_found"],
  ] as const) {
    await assert.rejects(terminals.create(options), (error: unknown) => {
      assert.ok(error instanceof Error && "code" in error && "data" in error);
      assert.equal(error.code, -32002);
      assert.equal((error.data as { reason: string }).reason, reason);
      return true;
    });
  }
});
