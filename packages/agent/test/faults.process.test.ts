// Tests the real command when its environment breaks: its editor is killed, it hangs, or its own code prints.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { ConnectionError, type SessionUpdate } from "@parley/acp";
import { isGone, numberIn } from "./support/polling.ts";
import { type Home, home, launcher, patience, start } from "./support/process-probe.ts";

/** An editor in a few lines: it allows everything, and sends one prompt. */
const editorSource = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [launcher, words] = process.argv.slice(2);
const child = spawn(launcher, ["agent", "--sandbox", "off"], { stdio: ["pipe", "pipe", "inherit"] });
writeFileSync("agent.pid", String(child.pid));
const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: child.stdout }).on("line", (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === "session/request_permission") {
    writeFileSync("asked.pid", String(child.pid));
    if (words.includes("unasked")) return;
    send({ id, result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
  } else if (id === 1) send({ id: 2, method: "session/new", params: { cwd: process.cwd(), mcpServers: [] } });
  else if (id === 2) {
    const prompt = [{ type: "text", text: words }];
    send({ id: 3, method: "session/prompt", params: { sessionId: result.sessionId, prompt } });
  }
});
send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
`;

function editor(t: TestContext, place: Home, words: string) {
  const file = join(place.path, "editor.mjs");
  writeFileSync(file, editorSource);
  const env = { ...process.env, ...place.env, PARLEY_MODEL: "offline" };
  const child = spawn(process.execPath, [file, launcher, words], { cwd: place.cwd, env, stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

/** Neither it nor what it starts heeds SIGTERM, and one of them has left its group. */
const stubborn = `trap '' TERM
sleep 1000 & echo $! > inner.pid
setsid sleep 1000 & echo $! > outer.pid
echo $$ > command.pid
wait
`;

test(
  "F3 F10 an agent whose editor is killed leaves, and nothing of its command is left",
  patience,
  async (t) => {
    const place = home(t);
    writeFileSync(join(place.cwd, "work.sh"), stubborn);
    const killed = editor(t, place, "run sh work.sh");
    const command = await numberIn(join(place.cwd, "command.pid"));
    const others = await Promise.all(
      ["inner.pid", "outer.pid", "agent.pid"].map((file) => numberIn(join(place.cwd, file))),
    );
    killed.kill("SIGKILL");
    for (const pid of [...others, command]) assert.ok(await isGone(pid), `${pid} still runs`);
  },
);

test("F3 an agent whose editor is killed while it asks leaves", patience, async (t) => {
  const place = home(t);
  const killed = editor(t, place, "run echo unasked > never.txt");
  const agent = await numberIn(join(place.cwd, "asked.pid"));
  killed.kill("SIGKILL");
  assert.ok(await isGone(agent));
});

/** A session in whose turn a command runs. */
async function busy(t: TestContext, place: Home, version: 1 | 2, more: Parameters<typeof start>[3] = {}) {
  const started = await start(t, place, version, { env: { PARLEY_MODEL: "offline" }, ...more });
  const updates: SessionUpdate[] = [];
  const session = await started.agent.newSession({
    cwd: place.cwd,
    onUpdate: (update) => void updates.push(update),
  });
  const prompt = session.prompt("run echo $$ > command.pid; sleep 1000");
  const outcome = prompt.result.catch((error: unknown) => error);
  const command = await numberIn(join(place.cwd, "command.pid"));
  return { ...started, session, updates, outcome, command, pid: started.child.pid ?? assert.fail("it runs") };
}

for (const version of [1, 2] as const) {
  test(
    `F1 the prompt of an agent that is killed ends at once, and so do its calls (v${version})`,
    patience,
    async (t) => {
      const place = home(t);
      const { pid, command, outcome, updates, session } = await busy(t, place, version);
      process.kill(pid, "SIGKILL");
      const failure = await outcome;
      assert.ok(failure instanceof ConnectionError, String(failure));
      assert.match(failure.message, /SIGKILL/);
      assert.ok(await isGone(command), "the watchdog ends what it ran");
      assert.ok(updates.length > 0);

      const again = await start(t, place, version, { env: { PARLEY_MODEL: "offline" } });
      const loaded: SessionUpdate[] = [];
      const back = await again.agent.loadSession(session.sessionId, {
        cwd: place.cwd,
        onUpdate: (update) => void loaded.push(update),
      });
      const statuses = loaded.flatMap((update) =>
        update.sessionUpdate === "tool_call_update" ? [update.status] : [],
      );
      assert.equal(statuses.at(-1), "failed", "nobody knows how far it came");
      assert.equal((await back.prompt("list").result).stopReason, "end_turn");
    },
  );
}

test(
  "F2 the exit of an agent before or after the handshake is reported with code and stderr",
  patience,
  async (t) => {
    const refused = await start(t, home(t), 1, { env: { PARLEY_MODE: "nonsense" } }).catch(
      (error: unknown) => error,
    );
    assert.ok(refused instanceof ConnectionError, String(refused));
    assert.match(refused.stderr ?? "", /PARLEY_MODE: expected one of .*nonsense/);
    for (const code of [0, 7]) {
      const place = home(t);
      const hook = join(place.path, "leave.mjs");
      writeFileSync(
        hook,
        `process.on("SIGUSR2", () => { console.error("last words"); process.exit(${code}); });`,
      );
      const env = { PARLEY_MODEL: "offline", NODE_OPTIONS: `--import=${hook}` };
      const { pid, outcome, command } = await busy(t, place, 1, { env });
      process.kill(pid, "SIGUSR2");
      const failure = await outcome;
      assert.ok(failure instanceof ConnectionError, String(failure));
      assert.equal(failure.exitCode, code);
      assert.match(failure.stderr ?? "", /last words/);
      assert.ok(await isGone(command));
    }
  },
);

test("F4 an agent that hangs is ended with all that it runs", patience, async (t) => {
  const { pid, command, outcome, session, agent } = await busy(t, home(t), 1);
  process.kill(pid, "SIGSTOP");
  session.cancel();
  await agent.close();
  assert.equal(((await outcome) as { stopReason?: string }).stopReason, "cancelled");
  for (const each of [pid, command]) assert.ok(await isGone(each), `${each} still runs`);
});

test("F28 nothing that prints inside the agent reaches the wire", patience, async (t) => {
  const place = home(t);
  const hook = join(place.path, "noise.mjs");
  writeFileSync(
    hook,
    `import { spawn, spawnSync } from "node:child_process";
     import { writeSync } from "node:fs";
     const print = () => {
       for (let i = 0; i < 100; i++) { console.log("noise"); process.stdout.write("noise\\n"); writeSync(1, "noise\\n"); }
       spawnSync("echo", ["noise"], { stdio: "inherit" });
       spawn("sh", ["-c", "echo noise; echo noise >&1"], { stdio: ["ignore", "inherit", "inherit"] });
     };
     print();
     setInterval(print, 100).unref();`,
  );
  const env = { ...process.env, ...place.env, PARLEY_MODEL: "offline", NODE_OPTIONS: `--import=${hook}` };
  const child = spawn(launcher, ["agent"], { cwd: place.cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  // it writes to its home until it has exited
  const exited = once(child, "exit");
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  const { cwd } = place;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    lines++;
    const { jsonrpc, id, result } = JSON.parse(line) as { jsonrpc: string; id?: number; result?: never };
    assert.equal(jsonrpc, "2.0");
    if (id === 1) send({ id: 2, method: "session/new", params: { cwd, mcpServers: [] } });
    if (id === 2) {
      const { sessionId } = result as never as { sessionId: string };
      const prompt = [{ type: "text", text: "list" }];
      send({ id: 3, method: "session/prompt", params: { sessionId, prompt } });
    }
    if (id === 3) child.stdin.end();
  }
  assert.ok(lines > 5);
  await exited;
});
