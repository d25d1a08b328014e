// `parley tap` between a client and an agent that are real processes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { isTraceMessage, readTrace, type TraceRecord } from "@parley/conformance";
import { gone, runs, until } from "../../../acp/test/support/channel-probe.ts";
import { bytesFrom, launcher, TapFolder } from "../../test/support/tap-probe.ts";

const folder = new TapFolder();
after(() => folder.remove());
const posix = {
  timeout: 90_000,
  skip: process.platform === "win32" ? "needs signals, pipes and /dev/full" : false,
};
const sh = (script: string) => ["/bin/sh", "-c", script];

const events = (records: readonly TraceRecord[]) =>
  records.flatMap((record) => ("event" in record ? [record] : []));

test("random bytes pass both ways as they came, and the trace has every one of them", posix, async () => {
  // lines of all lengths, no UTF-8, no final line feed
  const sent = randomBytes(3_000_000);
  const run = folder.tap("random", ["cat"]);
  run.child.stdin.end(sent);
  assert.ok(sent.equals(await run.output()));
  assert.deepEqual(await run.exit, { code: 0, signal: null });
  const trace = run.trace();
  assert.ok(sent.equals(bytesFrom(trace, "client")));
  assert.ok(sent.equals(bytesFrom(trace, "agent")));
  assert.deepEqual(trace.header.command, ["cat"]);
  assert.equal(events(trace.records).at(-1)?.event, "end");
});

test("the secrets among the arguments of the agent are not in the trace", posix, async () => {
  const words = [
    "--token",
    "hunter2",
    "--api-key=hunter3",
    "-H",
    "X-Auth: hunter4",
    "proxy --secret hunter5",
  ];
  const run = folder.tap("secrets", [...sh("exec cat"), ...words]);
  run.child.stdin.end("");
  await run.exit;
  const { command = [] } = run.trace().header;
  assert.deepEqual(command.slice(0, 4), [...sh("exec cat"), "--token"]);
  assert.equal(command.length, 3 + words.length);
  assert.doesNotMatch(command.join(), /hunter/);
});

test("text that is no JSON, empty lines and a carriage return are kept", posix, async () => {
  const sent = '{"jsonrpc":"2.0"}\nnot JSON \u2028 ünï 🙂\r\n\n\tlast "quoted\\" line\u0000\n';
  const run = folder.tap("text", ["cat"]);
  run.child.stdin.end(sent);
  assert.equal(String(await run.output()), sent);
  await run.exit;
  assert.equal(String(bytesFrom(run.trace(), "agent")), sent);
});

test("a line of 64 MiB passes, and the trace has its beginning and its size", posix, async () => {
  const size = 64 * 2 ** 20;
  const sent = Buffer.alloc(size + 1, "x");
  sent[size] = 0x0a;
  // room for all of it: on a busy machine the recorder may start late
  const run = folder.tap("long", ["cat"], ["--queue", "256m"]);
  run.child.stdin.end(sent);
  assert.ok(sent.equals(await run.output()));
  await run.exit;
  const messages = run.trace().records.filter(isTraceMessage);
  assert.deepEqual(
    messages.map(({ bytes, head }) => [bytes, head?.length]),
    [
      [size + 1, 64 * 1024],
      [size + 1, 64 * 1024],
    ],
  );
});

test("an agent that goes on after the end of its input is heard to its end", posix, async () => {
  const run = folder.tap("half-closed", sh("cat >/dev/null; echo after; echo and more"));
  run.child.stdin.end("before\n");
  assert.equal(String(await run.output()), "after\nand more\n");
  assert.equal((await run.exit).code, 0);
});

test("an agent that closes its stdout can still be written to", posix, async () => {
  const file = folder.file("late input");
  const run = folder.tap("deaf", sh(`echo bye; exec >&-; cat > "${file}"`));
  assert.equal(String(await run.output()), "bye\n");
  run.child.stdin.end("still here\n");
  assert.equal((await run.exit).code, 0);
  assert.equal(readFileSync(file, "utf8"), "still here\n");
});

test("the exit code and stderr are the agent's, and both are in the trace", posix, async () => {
  const run = folder.tap("failing", sh("echo trouble >&2; exit 37"));
  assert.match(await run.complaints, /^trouble\n/m);
  assert.deepEqual(await run.exit, { code: 37, signal: null });
  const seen = events(run.trace().records).map(({ t: _, ...event }) => event);
  assert.deepEqual(
    seen.filter(({ event }) => event === "stderr" || event === "exit" || event === "end"),
    [{ event: "stderr", bytes: 8, text: "trouble" }, { event: "exit", code: 37 }, { event: "end" }],
  );
});

test("an agent that dies of a signal gives 128 and its number", posix, async () => {
  const run = folder.tap("killed agent", sh("kill -KILL $$"));
  assert.equal((await run.exit).code, 128 + 9);
  assert.ok(
    events(run.trace().records).some((event) => event.event === "exit" && event.signal === "SIGKILL"),
  );
});

test("a signal to the tap reaches the agent, which may take its time", posix, async () => {
  const script = "trap 'echo got TERM; exit 4' TERM; echo ready; while :; do sleep 0.1; done";
  const run = folder.tap("signalled", sh(script));
  await once(run.child.stdout, "data");
  run.child.kill("SIGTERM");
  assert.equal(String(await run.output()), "got TERM\n");
  assert.equal((await run.exit).code, 4);
});

test("a command that does not exist exits with 127 and says what to do", posix, async () => {
  const run = folder.tap("nothing", ["/no/such/agent"]);
  assert.match(await run.complaints, /cannot start "\/no\/such\/agent": .*check the name/);
  assert.equal((await run.exit).code, 127);
  assert.ok(events(run.trace().records).some(({ event }) => event === "spawn_failed"));
});

test("an agent does not survive a tap that is killed, and the trace is there up to then", posix, async () => {
  const run = folder.tap("killed tap", sh("trap '' TERM; echo $$; while :; do sleep 1; done"));
  const [first] = await once(run.child.stdout, "data");
  const agent = Number(String(first));
  assert.ok(runs(agent));
  const file = folder.file("killed tap.trace");
  await until(() => readFileSync(file, "utf8").includes(`"text":"${agent}"}\n`));
  run.child.kill("SIGKILL");
  await gone(agent);
  assert.equal(String(bytesFrom(run.trace(), "agent")), `${agent}\n`);
  assert.ok(!events(run.trace().records).some(({ event }) => event === "end"));
});

test("a full disk costs the trace and nothing else", posix, async () => {
  const sent = randomBytes(5_000_000);
  const run = folder.tap("unused", sh("cat; exit 3"), ["--out", "/dev/full"]);
  run.child.stdin.end(sent);
  assert.ok(sent.equals(await run.output()));
  assert.equal((await run.exit).code, 3);
  const complaints = await run.complaints;
  assert.equal(complaints.match(/cannot write the trace.*ENOSPC/g)?.length, 1);
  assert.match(complaints, /\d+ records are missing from the trace: they could not be written/);
});

for (const [where, reason] of [
  ["/dev/null/x.trace", /E\w+: /],
  ["/proc/nowhere/x.trace", process.platform === "linux" ? /ENOENT: / : /E\w+: /],
  [folder.path, /is a folder: expected a file/],
] as const) {
  test(
    `a trace that cannot be created (${where}) is said, and the agent runs without one`,
    posix,
    async () => {
      const run = folder.tap("unused", ["echo", "hello"], ["--out", where]);
      assert.equal(String(await run.output()), "hello\n");
      const complaints = await run.complaints;
      assert.match(complaints, /cannot create the trace, the agent runs without one: /);
      assert.match(complaints, reason);
      assert.equal((await run.exit).code, 0);
    },
  );
}

test(
  "a disk that does not take anything holds up no byte, and the trace says what it lacks",
  posix,
  async () => {
    const pipe = folder.file("slow disk");
    assert.equal(spawnSync("mkfifo", [pipe]).status, 0);
    const run = folder.tap("unused", ["cat"], ["--out", pipe, "--queue", "128k"]);
    const line = `${"y".repeat(999)}\n`;
    const sent = Buffer.from(line.repeat(20_000));
    let received = 0;
    const all = new Promise<void>((resolve) => {
      run.child.stdout.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received === sent.length) resolve();
      });
    });
    run.child.stdin.write(sent);
    // all 20 MB are back before anybody has read a single byte of the trace
    await all;
    const chunks: Buffer[] = [];
    const reader = createReadStream(pipe);
    const collected = (async () => {
      for await (const chunk of reader) chunks.push(chunk);
    })();
    run.child.stdin.end();
    assert.equal((await run.exit).code, 0);
    await collected;
    const { records } = readTrace(Buffer.concat(chunks).toString("utf8"));
    const dropped = events(records).filter((event) => event.event === "dropped");
    assert.ok(dropped.length > 0);
    assert.ok(dropped.every((event) => event.event === "dropped" && event.reason === "slow"));
    for (const record of records) if ("text" in record) assert.equal(record.text, line.trimEnd());
    assert.equal(events(records).at(-1)?.event, "end");
    assert.match(await run.complaints, /\d+ bytes are missing from the trace: the disk was too slow/);
  },
);

test("a trace ends at --max-bytes with a record that says so", posix, async () => {
  const sent = "a line of some length that is repeated\n".repeat(5_000);
  const run = folder.tap("limited", ["cat"], ["--max-bytes", "20k"]);
  run.child.stdin.end(sent);
  assert.equal(String(await run.output()), sent);
  await run.exit;
  assert.ok(statSync(folder.file("limited.trace")).size <= 20 * 1024);
  const last = run.trace().records.at(-1);
  assert.deepEqual(last !== undefined && "event" in last && last.event, "limit");
  assert.match(await run.complaints, /reached --max-bytes; \d+ records are missing/);
});

test("only the user can read a trace, and none is ever written over", posix, async () => {
  for (let n = 0; n < 2; n++) await folder.tap("twice", ["true"]).exit;
  for (const name of ["twice.trace", "twice.2.trace"]) {
    assert.equal(statSync(folder.file(name)).mode & 0o777, 0o600);
    assert.equal(readTrace(readFileSync(folder.file(name), "utf8")).header.version, 1);
  }
});

test("without --out the trace is in the state directory, under a name that is told once", posix, () => {
  const env = { ...process.env, PARLEY_HOME: folder.file("own home") };
  const { stderr, status } = spawnSync(launcher, ["tap", "--", "true"], { env, encoding: "utf8", input: "" });
  assert.equal(status, 0);
  const home = join(folder.file("own home"), "state", "traces");
  const [name = ""] = readdirSync(home);
  assert.match(name, /^\d{8}-\d{6}-true-\d+\.trace$/);
  assert.equal(stderr, `parley tap: recording to ${join(home, name)}\n`);
  assert.equal(statSync(home).mode & 0o777, 0o700);
});

test("a slow client slows the agent down instead of filling the tap's memory", {
  ...posix,
  skip: process.platform === "linux" ? false : "needs /proc",
}, async () => {
  const size = 300_000_000;
  const run = folder.tap("unused", sh(`head -c ${size} /dev/zero; cat`), [
    ...["--out", "/dev/null"],
    ...["--queue", "1m"],
  ]);
  let received = 0;
  for await (const chunk of run.child.stdout) {
    received += chunk.length;
    // as slow as a turn of the event loop per chunk makes it, while the agent could fill gigabytes
    await new Promise(setImmediate);
    if (received >= size) break;
  }
  const status = readFileSync(`/proc/${run.child.pid}/status`, "utf8");
  const peakMiB = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  run.child.stdin.end();
  await run.exit;
  assert.ok(peakMiB < 280, `the tap needed ${peakMiB} MiB`);
});

test("what cannot be run is refused with exit code 2", () => {
  const tap = (...args: string[]) => spawnSync(launcher, ["tap", ...args], { encoding: "utf8", input: "" });
  assert.match(tap().stderr, /expected an agent: parley tap -- COMMAND/);
  const { status, stderr } = tap("--max-bytes", "lots", "--", "true");
  assert.equal(status, 2);
  assert.match(stderr, /--max-bytes: expected a size such as/);
});
