// F6: an agent that says more than 100 MB to `parley run`, whose output nobody reads for a while, or ever again. What
// waits for the reader is bounded: the agent has to wait too.

import assert from "node:assert/strict";
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, suite, test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import { launcher, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const lines = 110_000;
const words = "x".repeat(1_000);
const expectedBytes = lines * (words.length + 9);
/** What `bench/` asks of a run that nobody slows down. */
const mostMemory = 250 * 1024;

// It writes as fast as it is read, each line with its number. It notes when it has had to wait for a second, and that it
// has said everything.
const agent = join(probe.folder, "flood.mjs");
writeFileSync(
  agent,
  `import { writeFileSync } from "node:fs";
   import { createInterface } from "node:readline";
   const [note] = process.argv.slice(2);
   const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
   const chunk = (text) => JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s",
     update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } } }) + "\\n";
   let prompt, next = 0, isCancelled = false;
   const end = (stopReason) => { send({ id: prompt, result: { stopReason } }); prompt = undefined; };
   const flood = () => {
     while (next < ${lines} && !isCancelled) {
       let text = "";
       for (let i = 0; i < 100; i++) text += chunk(String(next++).padStart(8, "0") + "${words}\\n");
       if (process.stdout.write(text)) continue;
       const stalled = setTimeout(() => writeFileSync(note, "stalled"), 1_000);
       process.stdout.once("drain", () => { clearTimeout(stalled); flood(); });
       return;
     }
     if (prompt === undefined) return;
     if (!isCancelled) writeFileSync(note, "done");
     end(isCancelled ? "cancelled" : "end_turn");
   };
   createInterface({ input: process.stdin }).on("line", (line) => {
     const { id, method } = JSON.parse(line);
     if (method === "initialize") send({ id, result: { protocolVersion: 1 } });
     else if (method === "session/new") send({ id, result: { sessionId: "s" } });
     else if (method === "session/prompt") { prompt = id; flood(); }
     else if (method === "session/cancel") isCancelled = true;
   }).on("close", () => process.exit());`,
);

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Runs until the agent has to wait, or has nothing more to say; nothing of the output has been read then. */
async function unread(args: readonly string[] = []) {
  const note = join(probe.folder, `note-${children.length}`);
  const mark = `${probe.mark}-${children.length}.`;
  const child = spawn(launcher, ["run", "--no-history", ...args, "x", "--", process.execPath, agent, note], {
    cwd: probe.cwd,
    env: { ...process.env, PARLEY_HOME: probe.home, PARLEY_TEST_MARK: mark },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const said: string[] = [];
  child.stderr.on("data", (chunk) => said.push(String(chunk)));
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  while (!existsSync(note) && child.exitCode === null) await turnOfTheLoop(20);
  return {
    child,
    closed,
    exited,
    stderr: () => said.join(""),
    memory: () => peakOf(child.pid),
    leftovers: () => probe.leftovers(mark),
  };
}

/** The most memory that a process ever had, in KiB; 0 once it has gone. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Sees every line of the output, in order. Answers with the peak of memory meanwhile. */
async function readLines(
  child: ChildProcessByStdio<null, Readable, Readable>,
  see: (line: string) => void,
): Promise<number> {
  let rest = "";
  let peak = 0;
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) see(line);
    peak = Math.max(peak, peakOf(child.pid));
  }
  assert.equal(rest, "");
  return peak;
}

suite("a reader that is slow or leaves", { concurrency: 3 }, () => {
  test("F6 one that is slow loses nothing, and costs no memory", patience, async () => {
    const { child, closed, memory, stderr } = await unread();
    assert.ok(memory() < mostMemory, `${memory()} KiB`);
    let seen = 0;
    const peak = await readLines(child, (line) => {
      // not assert.equal: it is asked a hundred thousand times
      if (Number.parseInt(line, 10) !== seen || line.length !== words.length + 8)
        assert.fail(`line ${seen} is ${line.slice(0, 80)}`);
      seen += 1;
    });
    assert.equal(seen, lines);
    assert.equal(await closed, 0);
    assert.ok(peak < mostMemory, `${peak} KiB`);
    assert.equal(stderr(), "");
  });

  test("F6 one that is slow loses nothing of JSON either, whose last line is the end", patience, async () => {
    const { child, closed, memory } = await unread(["--format", "json"]);
    assert.ok(memory() < mostMemory, `${memory()} KiB`);
    let seen = 0;
    let last = "";
    const peak = await readLines(child, (line) => {
      last = line;
      const number = /"text":"(\d{8})x/.exec(line.slice(0, 300))?.[1];
      if (number === undefined || line.startsWith('{"v":1,"type":"end"')) return;
      if (Number(number) !== seen++) assert.fail(`update ${seen - 1} is ${line.slice(0, 200)}`);
    });
    assert.equal(seen, lines);
    assert.equal(await closed, 0);
    assert.ok(peak < mostMemory, `${peak} KiB`);
    const { type, exitCode, text, textTruncated } = JSON.parse(last);
    assert.deepEqual({ type, exitCode, textTruncated }, { type: "end", exitCode: 0, textTruncated: true });
    assert.ok(text.startsWith("00000000x") && text.length < expectedBytes / 10);
  });

  test("F6 one that is slow does not keep Ctrl-C from ending the run", patience, async () => {
    const { child, exited, memory, stderr, leftovers } = await unread();
    const peak = memory();
    child.kill("SIGINT");
    // nothing is read until it has gone
    assert.equal(await exited, 130);
    assert.ok(peak < mostMemory, `${peak} KiB`);
    assert.equal(stderr(), "parley: cancelled\n");
    assert.deepEqual(leftovers(), []);
  });

  test("F6 one that is slow does not keep --timeout from ending the run", patience, async () => {
    const { exited, stderr, leftovers } = await unread(["--timeout", "3s"]);
    assert.equal(await exited, 4);
    assert.match(stderr(), /did not finish within 3 s/);
    assert.deepEqual(leftovers(), []);
  });

  for (const format of ["text", "json"]) {
    test(
      `F6 one that goes away while much waits for it ends the run in silence (${format})`,
      patience,
      async () => {
        const { child, closed, stderr, leftovers } = await unread(["--format", format]);
        child.stdout.destroy();
        assert.equal(await closed, 141);
        assert.equal(stderr(), "");
        assert.deepEqual(leftovers(), []);
      },
    );
  }
});
