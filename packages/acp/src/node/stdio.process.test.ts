import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { probe } from "../../test/support/channel-probe.ts";
import { type AgentProcess, type SpawnTransportOptions, spawnAgent } from "./spawn.ts";

const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 60_000 };

const nodeFlags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e"];
const prelude = `
  import { stdioChannel } from ${JSON.stringify(import.meta.resolve("./stdio.ts"))};
  import * as childProcess from "node:child_process";
  import { writeSync } from "node:fs";
  const ended = Promise.withResolvers();
  const lines = [];
  let partial = "";
  function start(options, onLine = () => {}) {
    const channel = stdioChannel(options);
    channel.open({
      bytes(chunk) {
        const parts = (partial + Buffer.from(chunk).toString()).split("\\n");
        partial = parts.pop();
        for (const line of parts) { lines.push(line); onLine(line); }
      },
      drained() {},
      ended: ended.resolve,
    });
    return channel;
  }
`;

/** An agent that runs the given lines, with `start`, `lines` and `ended` at hand. */
function agent(code: string, options: SpawnTransportOptions = {}): AgentProcess {
  return spawnAgent(process.execPath, [...nodeFlags, prelude + code], options);
}

/** The same behind a POSIX shell, which sees the agent's command as "$@". */
function agentBehind(shell: string, code: string): AgentProcess {
  return spawnAgent("/bin/sh", ["-c", shell, "sh", process.execPath, ...nodeFlags, prelude + code]);
}

const echo = `
  const channel = start({}, (line) => channel.write("echo " + line + "\\n"));
  const reason = await ended.promise;
  await channel.close();
  console.error("reason", reason.kind);
`;

test("an agent echoes, sees the end of its stdin, and exits by itself with code 0 (T1, G10)", async () => {
  const running = agent(echo);
  const seen = probe(running);
  running.write("one\ntwo\n");
  await seen.until(/echo two\n/);
  await running.close();
  const reason = await seen.ended;
  assert.equal(seen.text(), "echo one\necho two\n");
  assert.equal(reason.exitCode, 0);
  assert.equal(reason.stderr, "reason eof\n");
});

test("an agent between pipes of a shell works as one between sockets", posix, async () => {
  const running = agentBehind('exec 3>&-; cat | "$@" | cat', echo);
  const seen = probe(running);
  running.write("one\n");
  await seen.until(/echo one\n/);
  await running.close();
  assert.equal((await seen.ended).exitCode, 0);
  assert.equal(seen.text(), "echo one\n");
});

test("an agent reads and writes plain files", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "out");
  writeFileSync(join(folder, "in"), "one\ntwo\n");
  const input = openSync(join(folder, "in"), "r");
  const output = openSync(path, "w");
  const code = `${echo} console.log("ordinary stdout after close");`;
  const ran = spawnSync(process.execPath, [...nodeFlags, prelude + code], {
    stdio: [input, output, "pipe"],
    timeout: 60_000,
  });
  closeSync(input);
  closeSync(output);
  assert.equal(ran.status, 0, String(ran.stderr));
  assert.equal(readFileSync(path, "utf8"), "echo one\necho two\nordinary stdout after close\n");
});

test("what an agent and its libraries print goes to stderr, not to the wire (T3, G9, Q12)", async () => {
  const running = agent(`
    const early = process.stdout;
    const channel = start();
    channel.write("wire 1\\n");
    console.log("printed 1");
    console.info("printed 2");
    process.stdout.write("printed 3\\n");
    early.write(Buffer.from("printed 4\\n"));
    new console.Console(process.stdout).log("printed 5");
    early.end("printed 6\\n");
    channel.write("wire 2\\n");
    await ended.promise;
    await channel.close();
  `);
  const seen = probe(running);
  await seen.until(/wire 2\n/);
  await running.close();
  const reason = await seen.ended;
  assert.equal(reason.exitCode, 0);
  assert.equal(seen.text(), "wire 1\nwire 2\n");
  assert.equal(reason.stderr, Array.from({ length: 6 }, (_, index) => `printed ${index + 1}\n`).join(""));
});

test(
  "children of an agent that inherit its stdio print to stderr and do not read the wire (T3, G9)",
  posix,
  async () => {
    const running = agent(`
    const channel = start();
    if (process.stdin.isTTY) throw new Error("no library may fail for having looked at stdin");
    const done = (child) => new Promise((resolve) => child.on("exit", resolve));
    const sh = (text) => ["-c", "cat; echo " + text];
    await done(childProcess.spawn("sh", sh("spawn"), { stdio: "inherit" }));
    await done(childProcess.spawn("sh", sh("array"), { stdio: ["inherit", "inherit", "inherit"] }));
    await done(childProcess.spawn("sh", sh("number"), { stdio: [0, 1, 2] }));
    await done(childProcess.spawn("sh", sh("stream"), { stdio: [process.stdin, process.stdout, "pipe"] }));
    childProcess.spawnSync("sh", sh("spawnSync"), { stdio: "inherit" });
    childProcess.execFileSync("sh", sh("execFileSync"), { stdio: "inherit" });
    childProcess.execSync("cat; echo execSync", { stdio: "inherit" });
    channel.write(childProcess.execSync("echo captured"). toString());
    await ended.promise;
    await channel.close();
    console.error(lines.join());
  `);
    const seen = probe(running);
    running.write("for the agent\n");
    await seen.until(/captured\n/);
    await running.close();
    const reason = await seen.ended;
    assert.equal(seen.text(), "captured\n");
    assert.equal(
      reason.stderr,
      "spawn\narray\nnumber\nstream\nspawnSync\nexecFileSync\nexecSync\nfor the agent\n",
    );
  },
);

test("after close, stdout is an ordinary stdout again and stdio can be opened anew", posix, async () => {
  const code = `
    const channel = start();
    await channel.close();
    console.log("ordinary");
    childProcess.execSync("echo inherited", { stdio: "inherit" });
    const again = stdioChannel();
    console.log("guarded");
    await again.close();
  `;
  const running = agentBehind('exec 3>&-; exec "$@"', code);
  const seen = probe(running);
  await seen.until(/inherited\n/);
  await running.close();
  const reason = await seen.ended;
  assert.equal(seen.text(), "ordinary\ninherited\n");
  assert.equal(reason.stderr, "guarded\n");
  assert.equal(reason.exitCode, 0);
});

test(
  "a launcher that moves the wire to a descriptor of its own keeps even native code off it (T3, G9)",
  posix,
  async () => {
    const code = `
    const channel = start();
    writeSync(1, "writeSync\\n");
    childProcess.execSync("echo child; echo env=$PARLEY_WIRE_FD; (echo leak >&3) 2>/dev/null || echo closed", {
      stdio: "inherit",
    });
    channel.write("wire\\n");
    await ended.promise;
    await channel.close();
  `;
    const running = agentBehind('exec 3>&1 1>&2; export PARLEY_WIRE_FD=3; exec "$@"', code);
    const seen = probe(running);
    await seen.until(/wire\n/);
    await running.close();
    const reason = await seen.ended;
    assert.equal(seen.text(), "wire\n");
    assert.equal(reason.stderr, "writeSync\nchild\nenv=\nclosed\n");
    assert.equal(reason.exitCode, 0);
  },
);

test("what an agent prints before it opens the wire never stands before a message (G9)", posix, async () => {
  const code = `
    process.stdout.write("no line feed");
    writeSync(1, ", native code");
    childProcess.execSync("printf ', a child'", { stdio: "inherit" });
    const channel = start();
    channel.write("wire\\n");
    writeSync(1, ", and later");
    await ended.promise;
    await channel.close();
  `;
  const running = agent(code);
  const seen = probe(running);
  await seen.until(/wire\n/);
  await running.close();
  const reason = await seen.ended;
  assert.equal(seen.text(), "wire\n");
  assert.equal(reason.stderr, "no line feed, native code, a child, and later");
  assert.equal(reason.exitCode, 0);
});

test(
  "lines that an agent prints before it opens the wire are no messages, however many (U7, F28)",
  posix,
  async () => {
    const code = `
    for (let line = 0; line < 1_000; line += 1) console.log("line", line);
    console.log('{"level":"info"}\\n[1]\\n{}');
    const channel = start({}, (line) => channel.write("echo " + line + "\\n"));
    await ended.promise;
    await channel.close();
  `;
    const running = agent(code, { stderrTailBytes: 1_000_000 });
    const seen = probe(running);
    running.write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    await seen.until(/echo .*\n/);
    await running.close();
    const reason = await seen.ended;
    assert.equal(seen.text(), 'echo {"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    assert.match(reason.stderr ?? "", /^line 0\n.*line 999\n.*"info"/s);
  },
);

test(
  "an agent that answers on stdout is heard at once, with what it printed before (G9)",
  posix,
  async () => {
    const request = '{"jsonrpc":"2.0","id":7,"method":"initialize"}\n';
    for (const answer of [
      '{"jsonrpc":"2.0","id":7,"result":{}}',
      '{"jsonrpc":"2.0","id":"7","error":{"code":-32603,"message":"no"}}',
      '[{"jsonrpc":"2.0","id":7,"result":{}}]',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}',
      "Content-Length: 36",
    ]) {
      const printed = answer.startsWith("Content") ? "" : "welcome\n";
      // it stays, so that nothing but the answer can decide
      const script = 'read request; printf "%s%s\n" "$1" "$2"; cat >/dev/null';
      const running = spawnAgent("/bin/sh", ["-c", script, "sh", printed, answer]);
      const seen = probe(running);
      running.write(request);
      await seen.until(/\n$/);
      assert.equal(seen.text(), `${printed}${answer}\n`);
      await running.close();
    }
  },
);

test(
  "once an agent speaks on stdout, what its tools write to the descriptor is not heard (G9)",
  posix,
  async () => {
    const answer = '{"jsonrpc":"2.0","id":7,"result":{}}';
    // the tool inherits the descriptor; the agent answers again when it has run
    const script = `read request; echo '${answer}'; read go; (echo '{"forged":1}' >&3) 2>/dev/null; echo after; cat >/dev/null`;
    const running = spawnAgent("/bin/sh", ["-c", script]);
    const seen = probe(running);
    running.write('{"jsonrpc":"2.0","id":7,"method":"initialize"}\n');
    await seen.until(/\n$/);
    running.write("go\n");
    await seen.until(/after\n$/);
    assert.equal(seen.text(), `${answer}\nafter\n`);
    await running.close();
  },
);

test("a program that only prints is not held for ever (N002)", posix, async () => {
  const running = spawnAgent("/bin/sh", ["-c", "yes"], { graceMs: 0 });
  await probe(running).until(/^y\n/);
  await running.close();
});

test("an agent behind a program that does not pass descriptors on uses stdout (G9)", posix, async () => {
  // the variable arrives, the descriptor does not, and its number may mean another file
  const code = 'const channel = start(); channel.write("wire\\n"); await channel.close();';
  for (const shell of ['"$@" 3>&-; exit $?', 'exec "$@" 3</dev/null']) {
    const running = agentBehind(shell, code);
    const seen = probe(running);
    assert.equal((await seen.ended).exitCode, 0);
    assert.equal(seen.text(), "wire\n");
  }
});

test("a wire descriptor that is only a copy of stdout is guarded like stdout (G9)", posix, async () => {
  const running = agentBehind(
    'exec 4>&1; exec "$@"',
    'const channel = start({ wireFd: 4 }); console.log("printed"); channel.write("wire\\n"); await channel.close();',
  );
  const seen = probe(running);
  const reason = await seen.ended;
  assert.equal(seen.text(), "wire\n");
  assert.equal(reason.stderr, "printed\n");
  assert.equal(reason.exitCode, 0);
});

test("a wire descriptor that is not open is refused with what to do", async () => {
  for (const [wire, expected] of [
    ["77", /the wire's descriptor 77 is not open; open it before the agent starts/],
    ["three", /PARLEY_WIRE_FD must be the number of an open descriptor, got "three"/],
  ] as const) {
    const running = agent(`process.env.PARLEY_WIRE_FD = ${JSON.stringify(wire)}; start();`);
    const reason = await probe(running).ended;
    assert.equal(reason.exitCode, 1);
    assert.match(reason.stderr ?? "", expected);
  }
});

test("stdio can be opened once at a time", async () => {
  const running = agent(`
    const channel = start();
    try { stdioChannel(); } catch (error) { channel.write(error.message); }
    await channel.close();
  `);
  const seen = probe(running);
  await seen.ended;
  assert.equal(seen.text(), "stdio is in use by another channel of this process; close that one first");
});

test(
  "a client that stops reading ends the agent's channel instead of crashing the agent",
  posix,
  async () => {
    // `head` takes one line and leaves, stdin stays open: only writing can notice.
    const running = agentBehind(
      '{ "$@"; echo "code $?" >&2; } | head -n 1 >/dev/null',
      `
      const channel = start();
      const writing = setInterval(() => channel.write("line\\n"), 1);
      const reason = await ended.promise;
      clearInterval(writing);
      console.error(reason.kind, reason.message);
      channel.write("late\\n");
      await channel.close();
    `,
    );
    const reason = await probe(running).ended;
    assert.equal(reason.stderr, "closed the peer has closed the connection (EPIPE)\ncode 0\n");
  },
);

test("a write to a disconnected client reports the failure at once, in the same turn of the event loop", {
  timeout: 60_000,
}, async () => {
  const running = spawn(process.execPath, [
    ...nodeFlags,
    `${prelude}
    let reason;
    const channel = stdioChannel();
    channel.open({
      bytes() {
        channel.write("line\\n");
        console.error("noticed", reason?.message);
        ended.resolve();
      },
      drained() {},
      ended(given) { reason = given; },
    });
    await ended.promise;
    await channel.close();
  `,
  ]);
  const stderr = text(running.stderr);
  const exited = once(running, "exit");
  // the client leaves first, and only then is there something to write: whatever a pipe holds, nothing can wait
  running.stdout.destroy();
  await once(running.stdout, "close");
  running.stdin.write("go\n");
  assert.equal(await stderr, "noticed the peer has closed the connection (EPIPE)\n");
  assert.deepEqual(await exited, [0, null]);
});

test("closing waits until a slow client has read everything", async () => {
  const running = agent(
    `
    const channel = start({ flushMs: 30_000 });
    for (let index = 0; index < 100; index += 1) channel.write(String(index % 10).repeat(50_000));
    console.error("queued", channel.queuedBytes() > 1_000_000);
    await channel.close();
  `,
    { onStderr: () => running.resume() },
  );
  const seen = probe(running);
  running.pause();
  const reason = await seen.ended;
  assert.equal(reason.stderr, "queued true\n");
  assert.equal(seen.text().length, 5_000_000);
  assert.equal(reason.exitCode, 0);
});

test("closing does not wait forever for a client that never reads", async () => {
  const running = agent(`
    const channel = start({ flushMs: 50 });
    channel.write("x".repeat(5_000_000));
    await channel.close();
    console.error("closed");
  `);
  const seen = probe(running);
  running.pause();
  const reason = await seen.ended;
  assert.equal(reason.stderr, "closed\n");
  assert.equal(reason.exitCode, 0);
  assert.ok(seen.text().length < 5_000_000);
});

test("an agent that has left something running exits all the same when its client has gone (T7, G10)", async () => {
  const running = agent(`
    const channel = start();
    setInterval(() => {}, 1000);
    await ended.promise;
    await channel.close();
  `);
  const seen = probe(running);
  await running.close();
  const reason = await seen.ended;
  assert.equal(reason.exitCode, 0);
  assert.equal(reason.signal, undefined);
});

test("an agent that closes the wire itself goes on with what it does", async () => {
  const running = agent(`
    const { mock } = await import("node:test");
    mock.timers.enable({ apis: ["setTimeout"] });
    const channel = start();
    await channel.close();
    // an hour in which whatever had been set to end the process would have done so
    mock.timers.tick(3_600_000);
    console.error("still here");
    process.exit(3);
  `);
  const reason = await probe(running).ended;
  assert.equal(reason.exitCode, 3);
  assert.equal(reason.stderr, "still here\n");
});

test("prints by a write that was taken before the wire opened go to stderr too (G9, F28)", async () => {
  const running = agent(`
    const bound = process.stdout.write.bind(process.stdout);
    const plain = Object.getPrototypeOf(process.stdout).write;
    const channel = start();
    bound("bound\\n");
    plain.call(process.stdout, "plain\\n");
    channel.write("wire\\n");
    await ended.promise;
    await channel.close();
  `);
  const seen = probe(running);
  await seen.until(/wire\n/);
  await running.close();
  const reason = await seen.ended;
  assert.equal(seen.text(), "wire\n");
  assert.equal(reason.stderr, "bound\nplain\n");
});
