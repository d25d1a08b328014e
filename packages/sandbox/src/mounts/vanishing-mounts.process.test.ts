// Sockets of the host that vanish while a sandbox, which hides them, starts.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { Sandbox, SandboxedCommand } from "@parley/sandbox";
import { inSandbox } from "../../test/support/required-sandbox.ts";
import { runIn, workplace } from "../../test/support/workplace.ts";

/** Listens, as a program of the host does, until the test ends. */
async function listens(t: TestContext, path: string): Promise<Server> {
  const server = createServer((socket) => socket.end("SECRET")).listen(path);
  t.after(() => server.listening && server.close());
  await once(server, "listening");
  return server;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}

function wrapped(sandbox: Sandbox, cwd: string, script: string, env: NodeJS.ProcessEnv = process.env) {
  return sandbox.wrap({ command: "sh", args: ["-c", script], cwd, env, ownSession: true });
}

function started(run: SandboxedCommand) {
  const child = spawn(run.command, run.args, {
    cwd: run.cwd,
    env: run.env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "close").then(([code]: (number | null)[]) => code);
  return { child, ended, stdout: text(child.stdout), stderr: text(child.stderr) };
}

test("sockets that vanish before a command starts do not keep it from starting", inSandbox, async (t) => {
  const { work, outside, open } = workplace(t);
  // the folder of the second one is a mount of its own
  const folder = join(work, "deep/er");
  mkdirSync(folder, { recursive: true });
  const gone = [await listens(t, join(outside, "gone.sock")), await listens(t, join(folder, "gone.sock"))];
  await listens(t, join(outside, "stays.sock"));
  const sandbox = await open();
  const run = wrapped(sandbox, work, `echo runs; socat -u UNIX-CONNECT:${outside}/stays.sock - 2>/dev/null`);
  await Promise.all(gone.map(closed));
  rmSync(join(work, "deep"), { recursive: true });
  const { ended, stdout, stderr } = started(run);
  assert.deepEqual([await stdout, await stderr, await ended], ["runs\n", "", 1]);
});

test("commands start while sockets come and go", inSandbox, async (t) => {
  const { work, outside, open } = workplace(t);
  const program = `
    import { createServer } from "node:net";
    let count = 0;
    const start = () => {
      const server = createServer().listen(${JSON.stringify(outside)} + "/" + count++ + ".sock", () => {
        setTimeout(() => server.close(start), Math.random() * 20);
      });
    };
    for (let each = 0; each < 8; each++) start();
    console.log("ready");`;
  const other = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => other.kill("SIGKILL"));
  await once(other.stdout, "data");
  for (let run = 0; run < 25; run++) {
    const sandbox = await open();
    for (const { stdout, stderr } of await Promise.all(
      [0, 1].map(() => runIn(sandbox, "echo runs", { cwd: work })),
    ))
      assert.deepEqual([stdout, stderr], ["runs\n", ""]);
  }
});

test("a command that fails while a socket vanishes does not run again", inSandbox, async (t) => {
  const { work, outside, open } = workplace(t);
  const server = await listens(t, join(outside, "gone.sock"));
  const run = wrapped(await open(), work, "echo runs; echo told >&2; read -r line; exit 1");
  const { child, ended, stdout, stderr } = started(run);
  await once(child.stdout, "readable");
  await closed(server);
  child.stdin.end("go on\n");
  assert.deepEqual([await stdout, await stderr, await ended], ["runs\n", "told\n", 1]);
});

test("why a sandbox cannot start is told, and once", inSandbox, async (t) => {
  const { base, work, outside, open } = workplace(t);
  await listens(t, join(outside, "stays.sock"));
  mkdirSync(join(base, "shown"));
  const sandbox = await open({ write: [join(base, "shown")] });
  const run = wrapped(sandbox, work, "echo runs");
  rmSync(join(base, "shown"), { recursive: true });
  const { ended, stdout, stderr } = started(run);
  assert.match(await stderr, /^bwrap: Can't find source path .*shown.*\n$/);
  assert.deepEqual([await stdout, await ended], ["", 1]);
});

test("hiding sockets changes nothing else for a command", inSandbox, async (t) => {
  const { work, outside, open } = workplace(t);
  await listens(t, join(outside, "stays.sock"));
  const sandbox = await open();
  const lost = { "with.dot": "1", "BASH_FUNC_own%%": "() { echo own; }", LD_DEBUG_OUTPUT: "/tmp/x" };
  const env = { PATH: process.env["PATH"], parley: "kept", ...lost };
  // no shell of the command is in the way
  const run = sandbox.wrap({ command: "env", cwd: work, env, ownSession: true });
  const lines = (await started(run).stdout).split("\n");
  for (const [name, value] of Object.entries(env)) assert.ok(lines.includes(`${name}=${value}`), name);
  const files = wrapped(sandbox, work, "cat; echo /proc/self/fd/*");
  const { child, stdout } = started(files);
  child.stdin.end("given\n");
  assert.match(await stdout, /^given\n\/proc\/self\/fd\/0 \/proc\/self\/fd\/1 \/proc\/self\/fd\/2( \S+)?\n$/);
  assert.equal((await runIn(sandbox, "kill -KILL $$", { cwd: work })).code, 137);
});

test(
  "signals reach a command although sockets are hidden, and none survives its owner",
  inSandbox,
  async (t) => {
    const { work, outside, open } = workplace(t);
    await listens(t, join(outside, "stays.sock"));
    const sandbox = await open();
    const trapped = started(wrapped(sandbox, work, "trap 'exit 3' TERM; sleep 100 & echo ready; wait"));
    await once(trapped.child.stdout, "readable");
    process.kill(-(trapped.child.pid ?? assert.fail("it did not start")), "SIGTERM");
    assert.equal(await trapped.ended, 3);
    for (const ownSession of [true, false]) {
      const args = ["-c", "setsid sleep 1000 & echo ready; wait"];
      const run = sandbox.wrap({ command: "sh", args, cwd: work, env: process.env, ownSession });
      const killed = started(run);
      await once(killed.child.stdout, "readable");
      // only the process that was started, not its group
      killed.child.kill("SIGKILL");
      // it ends when the last process that could write to it has ended
      assert.equal(await killed.stdout, "ready\n");
    }
  },
);
