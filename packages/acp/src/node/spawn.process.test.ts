import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gone, probe, runs } from "../../test/support/channel-probe.ts";
import { type SpawnTransportOptions, spawnAgent } from "./spawn.ts";

const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 60_000 };
const linux = { ...posix, skip: process.platform === "linux" ? false : "needs /proc" };

/** It gives up the wire of its own, so that what it prints is delivered at once: it answers nothing. */
function sh(script: string, options: SpawnTransportOptions = {}): ReturnType<typeof spawnAgent> {
  return spawnAgent("/bin/sh", ["-c", `exec 3>&-; ${script}`], options);
}

function pidIn(match: RegExpExecArray): number {
  return Number(match[1]);
}

test(
  "what is written comes back in order, also when the agent is slower than we are (T1, T6)",
  posix,
  async () => {
    const agent = sh("exec cat");
    const seen = probe(agent);
    const line = "é".repeat(5000);
    const sent: string[] = [];
    let refused = 0;
    for (let index = 0; index < 500; index += 1) {
      const text = `${index} ${line}\n`;
      sent.push(text);
      if (agent.write(text)) continue;
      refused += 1;
      assert.ok(agent.queuedBytes() > 0);
      await seen.drained();
    }
    await seen.until(/\n499 .*\n$/);
    assert.equal(seen.text() === sent.join(""), true);
    assert.ok(refused > 0, "there was back-pressure");
    await agent.close();
    assert.equal((await seen.ended).exitCode, 0);
  },
);

test("an agent that exits reports its exit code and the end of its stderr (T4)", posix, async () => {
  const agent = sh("echo starting >&2; echo no API key >&2; exit 7");
  const reason = await probe(agent).ended;
  assert.equal(reason.kind, "exited");
  assert.equal(reason.exitCode, 7);
  assert.equal(reason.signal, undefined);
  assert.equal(reason.stderr, "starting\nno API key\n");
  assert.equal(reason.message, "/bin/sh exited with code 7");
  assert.deepEqual(await agent.exited, { exitCode: 7 });
  await agent.close();
});

test("an agent that is killed reports the signal", posix, async () => {
  const agent = sh("kill -9 $$");
  const reason = await probe(agent).ended;
  assert.equal(reason.signal, "SIGKILL");
  assert.equal(reason.exitCode, undefined);
  assert.deepEqual(await agent.exited, { signal: "SIGKILL" });
  await agent.close();
});

test("only the last bytes of a talkative stderr are kept", posix, async () => {
  const agent = sh("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1", {
    stderrTailBytes: 20,
  });
  assert.equal((await probe(agent).ended).stderr, "line 1998\nline 1999\n");
});

test("a response written just before the exit is delivered before the end", posix, async () => {
  const agent = sh("head -c 150000 /dev/zero | tr '\\0' x; exit 0");
  const seen = probe(agent);
  await seen.ended;
  assert.equal(seen.text().length, 150_000);
});

test("an agent that has exited before the channel is opened is heard in full", posix, async () => {
  const agent = sh("echo last words; exit 2");
  await agent.exited;
  const seen = probe(agent);
  assert.equal((await seen.ended).exitCode, 2);
  assert.equal(seen.text(), "last words\n");
});

test("stderr is handed on without splitting a character (T4)", posix, async () => {
  const pieces: string[] = [];
  const agent = sh("printf 'a\\342' >&2; echo half; read go; printf '\\202\\254b' >&2", {
    onStderr: (text) => pieces.push(text),
  });
  const seen = probe(agent);
  await seen.until(/half/);
  agent.write("go\n");
  assert.equal((await seen.ended).stderr, "a€b");
  assert.equal(pieces.join(""), "a€b");
  assert.equal(pieces.join("").includes("\ufffd"), false);
});

test("a command that is not installed is reported with what to do", posix, async () => {
  const agent = spawnAgent("parley-no-such-agent", []);
  const reason = await probe(agent).ended;
  assert.equal(reason.kind, "spawn_failed");
  assert.equal(
    reason.message,
    'could not start "parley-no-such-agent": there is no such command on PATH; install it, or give the full path',
  );
  assert.equal(agent.pid, undefined);
  assert.deepEqual(await agent.exited, {});
  assert.equal(agent.write("into the void\n"), true);
  await agent.close();
});

test("a file that cannot be started is reported with the cause", posix, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-spawn-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const plain = join(folder, "plain");
  const script = join(folder, "script");
  writeFileSync(plain, "not a program", { mode: 0o644 });
  writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
  const messageOf = async (command: string, cwd?: string): Promise<string> => {
    const reason = await probe(spawnAgent(command, [], cwd === undefined ? {} : { cwd })).ended;
    assert.equal(reason.kind, "spawn_failed");
    return reason.message ?? "";
  };
  assert.match(await messageOf(plain), /it is not executable; chmod \+x it/);
  assert.match(await messageOf(script), /the interpreter named in its first line does not exist/);
  assert.match(await messageOf(join(folder, "nothing")), /there is no such file/);
  assert.match(await messageOf("cat", join(folder, "nowhere")), /its working directory .* does not exist/);
});

test("a missing command is not called unusable where the system reports EACCES", posix, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-spawn-"));
  t.after(() => rmSync(folder, { recursive: true }));
  // the system says the same about it as about a folder of PATH that cannot be entered
  mkdirSync(join(folder, "missing"));
  writeFileSync(join(folder, "plain"), "not a program", { mode: 0o644 });
  const messageOf = async (command: string): Promise<string | undefined> =>
    (await probe(spawnAgent(command, [], { env: { PATH: folder } })).ended).message;
  assert.match((await messageOf("missing")) ?? "", /there is no such command on PATH/);
  assert.match((await messageOf("plain")) ?? "", /it is not executable/);
});

test("arguments that are too long for the system are reported, not thrown", linux, async () => {
  const reason = await probe(spawnAgent("true", ["x".repeat(4_000_000)])).ended;
  assert.equal(reason.kind, "spawn_failed");
  assert.match(reason.message ?? "", /its arguments and environment are too long/);
});

test("a NUL in the command or an argument is refused at once", () => {
  assert.throws(() => spawnAgent("cat\0", []), /the agent's command contains a NUL/);
  assert.throws(() => spawnAgent("cat", ["fine", "b\0d"]), /argument 2 of the agent contains a NUL/);
  assert.throws(() => spawnAgent("", []), /command is empty/);
});

test("arguments reach the agent as they are, without a shell", posix, async () => {
  const agent = spawnAgent("printf", ["%s|", "$HOME `id`", "; exit 9", "*"]);
  const seen = probe(agent);
  await seen.ended;
  assert.equal(seen.text(), "$HOME `id`|; exit 9|*|");
});

test("the environment is ours with the given changes, and never has our own wire", posix, async (t) => {
  process.env.PARLEY_TEST_KEPT = "kept";
  process.env.PARLEY_TEST_DROPPED = "dropped";
  process.env.PARLEY_WIRE_FD = "3";
  t.after(() => {
    for (const name of ["PARLEY_TEST_KEPT", "PARLEY_TEST_DROPPED", "PARLEY_WIRE_FD"])
      delete process.env[name];
  });
  const env = { PARLEY_TEST_ADDED: "added", PARLEY_TEST_DROPPED: undefined };
  const agent = spawnAgent("/bin/sh", ["-c", "env | grep -E '^PARLEY_(TEST|WIRE)_' | sort"], { env });
  const seen = probe(agent);
  await seen.ended;
  // the descriptor that was made for it, and whose child may use it
  const own = `PARLEY_WIRE_FD=3:${process.pid}`;
  assert.equal(seen.text(), `PARLEY_TEST_ADDED=added\nPARLEY_TEST_KEPT=kept\n${own}\n`);
});

test("a daemon that has left its group and its parent does not survive the agent (TH6)", linux, async () => {
  const daemon = "setsid sh -c 'echo $$ >&3; exec 3>&-; exec nohup sleep 1000' 3>&1 >/dev/null 2>&1";
  const agent = sh(`(trap '' TERM HUP; ${daemon} &) | { read pid; echo daemon $pid; }; cat >/dev/null`);
  const pid = Number((await probe(agent).until(/daemon (\d+)\n/))[1]);
  assert.equal(runs(pid), true);
  await agent.close();
  assert.equal(runs(pid), false);
});

test("a daemon that is started while the agent exits does not survive it either", linux, async () => {
  // so that it can be found
  const name = `1000.${process.pid}`;
  const daemon = `(setsid sh -c 'sleep ${name} & exit' >/dev/null 2>&1 </dev/null &)`;
  for (let round = 0; round < 30; round += 1) {
    const agent = sh(`cat >/dev/null; ${daemon}; exit 0`);
    probe(agent);
    await agent.close();
  }
  const left = readdirSync("/proc").filter((pid) => commandOf(pid) === `sleep\0${name}\0`);
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  assert.equal(left.length, 0);
});

/** The words of a process, each with a zero behind it. Empty for one that has exited. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

test("closing lets an agent finish after the end of its stdin (G10)", posix, async () => {
  const agent = sh("echo ready; cat >/dev/null; echo tidy >&2; exit 4");
  const seen = probe(agent);
  await seen.until(/ready/);
  await agent.close();
  const reason = await seen.ended;
  assert.equal(reason.exitCode, 4);
  assert.equal(reason.stderr, "tidy\n");
});

test("an agent that ignores the end of its stdin and SIGTERM is killed (G10)", posix, async () => {
  const agent = sh("trap '' TERM; echo ready; while :; do sleep 1; done", { graceMs: 50, killMs: 50 });
  const seen = probe(agent);
  await seen.until(/ready/);
  await agent.close();
  assert.equal((await seen.ended).signal, "SIGKILL");
  assert.equal(runs(agent.pid), false);
});

test("an agent that has been stopped is killed", posix, async () => {
  const agent = spawnAgent("sleep", ["1000"], { graceMs: 50, killMs: 50 });
  const seen = probe(agent);
  process.kill(agent.pid ?? 0, "SIGSTOP");
  await agent.close();
  assert.equal((await seen.ended).signal, "SIGKILL");
});

test("closing twice is closing once", posix, async () => {
  const agent = spawnAgent("cat", []);
  probe(agent);
  assert.equal(agent.close(), agent.close(new Error("again")));
  await agent.close();
});

test("a grandchild that the agent waits for is gone after close (G10)", posix, async () => {
  const agent = sh("sleep 1000 & echo $! ready; wait", { graceMs: 50 });
  const seen = probe(agent);
  const grandchild = pidIn(await seen.until(/(\d+) ready/));
  await agent.close();
  await gone(agent.pid, grandchild);
});

test("a wrapper that exits first takes the child that it left behind with it", posix, async () => {
  // The child holds stdout and stderr open, so that waiting for their end alone would take forever.
  const agent = sh("(trap '' TERM; exec sleep 1000) & echo $! ready; exit 5", { killMs: 50 });
  const seen = probe(agent);
  const left = pidIn(await seen.until(/(\d+) ready/));
  assert.equal((await seen.ended).exitCode, 5);
  await agent.close();
  await gone(left);
});

test("a wrapper that dies takes the child that it left behind with it", posix, async () => {
  const agent = sh("sleep 1000 & echo $! ready; kill -9 $$");
  const seen = probe(agent);
  const left = pidIn(await seen.until(/(\d+) ready/));
  assert.equal((await seen.ended).signal, "SIGKILL");
  await gone(left);
  await agent.close();
});

test("a descendant in a session of its own is gone after close", linux, async () => {
  const inner = "require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })";
  const script = `require("fs").closeSync(3); const c = ${inner}; c.unref(); console.log(c.pid, 'ready'); process.stdin.resume();`;
  const agent = spawnAgent(process.execPath, ["-e", script]);
  const seen = probe(agent);
  const escaped = pidIn(await seen.until(/(\d+) ready/));
  await agent.close();
  assert.equal((await seen.ended).exitCode, 0);
  await gone(escaped);
});

test("output of a process outside the group does not keep the end from being reported", linux, async () => {
  const inner = "require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' })";
  const agent = spawnAgent(process.execPath, [
    "-e",
    `require("fs").closeSync(3); const c = ${inner}; console.log(c.pid, 'ready'); process.exit(6)`,
  ]);
  const seen = probe(agent);
  const escaped = pidIn(await seen.until(/(\d+) ready/));
  assert.equal((await seen.ended).exitCode, 6);
  process.kill(escaped, "SIGKILL");
  await agent.close();
});

test(
  "an agent that closes its stdout and lives on has reached the end of its input for us",
  posix,
  async () => {
    const agent = sh("exec >&-; exec sleep 1000", { graceMs: 0 });
    assert.deepEqual(await probe(agent).ended, { kind: "eof" });
    assert.equal(runs(agent.pid), true);
    await agent.close();
    assert.equal(runs(agent.pid), false);
  },
);

test(
  "writing to an agent that has closed its stdin ends the channel instead of throwing",
  posix,
  async () => {
    const agent = sh("exec <&-; echo ready; exec sleep 1000", { graceMs: 0 });
    const seen = probe(agent);
    await seen.until(/ready/);
    agent.write("hello\n");
    const reason = await seen.ended;
    assert.equal(reason.kind, "closed");
    assert.equal(reason.message, "the agent has closed its stdin");
    await agent.close();
  },
);

test("a write that races with the exit of the agent reports the exit", posix, async () => {
  const agent = sh("echo out of credit >&2; exit 3");
  const seen = probe(agent);
  const write = setInterval(() => agent.write("hello\n"), 1);
  const reason = await seen.ended;
  clearInterval(write);
  assert.equal(reason.kind, "exited");
  assert.equal(reason.stderr, "out of credit\n");
});

test("a paused channel delivers nothing until it is resumed", posix, async () => {
  const written = Promise.withResolvers<void>();
  const agent = sh("read go; head -c 50000 /dev/zero | tr '\\0' x; echo written >&2; cat", {
    onStderr: () => written.resolve(),
  });
  const seen = probe(agent);
  agent.pause();
  agent.write("go\n");
  await written.promise;
  assert.equal(seen.text(), "");
  agent.resume();
  await seen.until(/^x{50000}$/);
  await agent.close();
});

test(
  "an agent that has died is reported although a stranger goes on writing to its stdout (G4)",
  linux,
  async () => {
    // the grandchild has a session of its own, so it is not in the agent's group, and it never stops talking
    const agent = sh(
      "setsid sh -c 'echo $$ >&2; while :; do echo noise || exit; sleep 0.1; done' & read go; exit 7",
    );
    const seen = probe(agent);
    await seen.until(/noise/);
    agent.write("go\n");
    const reason = await seen.ended;
    assert.equal(reason.kind, "exited");
    assert.equal(reason.exitCode, 7);
    const stranger = Number.parseInt(reason.stderr ?? "", 10);
    if (runs(stranger)) process.kill(stranger, "SIGKILL");
  },
);

test("a listener of stderr that throws hurts nobody", posix, async () => {
  const agent = sh("echo oops >&2; echo hello; cat >/dev/null", {
    onStderr() {
      throw new Error("a mistake of the app");
    },
  });
  await probe(agent).until(/hello/);
  await agent.close();
  assert.equal(agent.stderrTail(), "oops\n");
});

test("an agent may have unlimited time to exit", posix, async () => {
  const agent = sh("cat >/dev/null; sleep 0.5; exit 0", { graceMs: Number.POSITIVE_INFINITY });
  probe(agent);
  await agent.close();
  assert.deepEqual(await agent.exited, { exitCode: 0 });
});

test(
  "a helper that left the group and goes on starting others is ended with all of them (G10)",
  linux,
  async () => {
    // it ignores SIGTERM, outlives its parent, and starts a worker in a session of its own every 50 ms
    const helper = "trap '' TERM; while :; do setsid sleep 3600 & echo $! ; sleep 0.05; done";
    const agent = sh(`setsid sh -c "${helper.replace("$!", "\\$!")}" & wait`, { graceMs: 100, killMs: 300 });
    const seen = probe(agent);
    await seen.until(/(\d+\n){5}/);
    await agent.close();
    for (const pid of seen.text().match(/\d+/g) ?? []) await gone(Number(pid));
  },
);
