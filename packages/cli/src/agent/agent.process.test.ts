// The coding agent through the launcher, as an editor starts it.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { client, type PermissionRequest, type SessionUpdate, textOf } from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import { spawnTransport } from "@parley/acp/node";
import { pharo } from "@parley/dialects";
import { launcher } from "../../../acp/test/support/programs.ts";
import { editors, setupFor } from "../settings/editor-setup.ts";

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "parley-agent-cli-test-")));
after(() => rmSync(temporary, { recursive: true, force: true }));
const patience = { timeout: 120_000 };

function home(name: string): { readonly env: Record<string, string>; readonly cwd: string } {
  const cwd = join(temporary, name, "project");
  mkdirSync(cwd, { recursive: true });
  return { env: { PARLEY_HOME: join(temporary, name, "home"), PARLEY_MODEL: "offline" }, cwd };
}

async function start(env: Record<string, string>, version: ProtocolVersion, args: readonly string[] = []) {
  // commands tell their pids, which in a sandbox are others
  const child = spawnTransport(launcher, ["agent", "--sandbox", "off", ...args], { env });
  const asks: PermissionRequest[] = [];
  const agent = await client({
    name: "test",
    version: "1",
    editions: [`v${version}`],
    requestPermission(ask) {
      asks.push(ask);
      return "allow_once";
    },
  }).connect(child);
  return { agent, child, asks };
}

function said(updates: readonly SessionUpdate[]): string {
  return updates
    .map((u) => {
      if (u.sessionUpdate === "agent_message_chunk") return textOf(u.content);
      return u.sessionUpdate === "agent_message" ? textOf(u.content ?? []) : "";
    })
    .join("");
}

for (const version of [1, 2] as const) {
  test(
    `the agent works offline out of the box, and a session outlives its process (v${version})`,
    patience,
    async () => {
      const { env, cwd } = home(`v${version}`);
      writeFileSync(join(cwd, "notes.txt"), "hello world\n");
      const first = await start(env, version);
      const updates: SessionUpdate[] = [];
      const session = await first.agent.newSession({ cwd, onUpdate: (update) => void updates.push(update) });
      const { stopReason } = await session.prompt('replace "hello" with "goodbye" in notes.txt').result;
      assert.equal(stopReason, "end_turn", said(updates));
      assert.equal(readFileSync(join(cwd, "notes.txt"), "utf8"), "goodbye world\n");
      assert.deepEqual(
        first.asks.map(({ title }) => title),
        ["Edit notes.txt"],
      );
      assert.match(said(updates), /Replaced `hello` with `goodbye` in `notes.txt`/);
      assert.match(JSON.stringify(updates), /offline model: fixed commands/);
      // what was acknowledged survives
      process.kill(first.child.pid ?? assert.fail("it runs"), "SIGKILL");
      await first.child.exited;

      const second = await start(env, version);
      const { sessions } = await second.agent.listSessions({ cwd });
      assert.equal(sessions[0]?.title, 'replace "hello" with "goodbye" in notes.txt');
      const history: SessionUpdate[] = [];
      const loaded = await second.agent.loadSession(session.sessionId, {
        cwd,
        onUpdate: (u) => void history.push(u),
      });
      assert.equal(said(history), said(updates));
      history.length = 0;
      await loaded.prompt("read notes.txt").result;
      assert.match(said(history), /goodbye world/);
      assert.doesNotMatch(said(history), /fixed commands/, "it has said so already");
      await second.agent.close();
      assert.equal((await second.child.exited).exitCode, 0);
    },
  );
}

test(
  "a session whose process is killed while a command runs loads, and the command is gone",
  patience,
  async () => {
    const { env, cwd } = home("killed");
    const first = await start(env, 2);
    const running = Promise.withResolvers<void>();
    const session = await first.agent.newSession({
      cwd,
      onUpdate: (u) => {
        if (u.sessionUpdate === "terminal_output_chunk") running.resolve();
      },
    });
    const outcome = session.prompt("run `echo $$ > pid; echo begun; sleep 600`").result;
    outcome.catch(() => undefined);
    await running.promise;
    process.kill(first.child.pid ?? assert.fail("it runs"), "SIGKILL");
    await assert.rejects(outcome);
    const second = await start(env, 2);
    const statuses: unknown[] = [];
    const loaded = await second.agent.loadSession(session.sessionId, {
      cwd,
      onUpdate: (u) => {
        if (u.sessionUpdate === "tool_call_update" && u.status != null) statuses.push(u.status);
      },
    });
    assert.equal(statuses.at(-1), "failed");
    assert.equal((await loaded.prompt("hello").result).stopReason, "end_turn");
    const shell = Number(readFileSync(join(cwd, "pid"), "utf8"));
    await gone(shell);
    await second.agent.close();
    await second.child.exited;
  },
);

/** Its watchdog ends it; how soon is not this test's business. */
async function gone(pid: number): Promise<void> {
  await promisify(execFile)("tail", ["--pid", String(pid), "-f", "/dev/null"]);
}

test("--mode is the mode that sessions begin in", patience, async () => {
  const { env, cwd } = home("mode");
  const { agent, child } = await start(env, 1, ["--mode", "architect"]);
  const session = await agent.newSession({ cwd });
  const mode = session.configOptions.find(({ category }) => category === "mode");
  assert.equal(mode?.type === "select" && mode.currentValue, "architect");
  await agent.close();
  await child.exited;
});

function parley(...args: readonly string[]) {
  const env = { ...process.env, PARLEY_HOME: join(temporary, "home") };
  return spawnSync(launcher, ["agent", ...args], { encoding: "utf8", cwd: temporary, env, input: "" });
}

test("docs/editors.md has what --setup prints", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/editors.md"), "utf8");
  const agent = { name: "Parley", id: "parley", command: "/path/to/parley", args: ["agent"], env: {} };
  for (const editor of editors) {
    const { where, block } = setupFor(editor, agent) ?? assert.fail(editor);
    assert.ok(page.includes(`Into ${where}:`), where);
    assert.ok(page.includes(`\n${block}\n`), block);
  }
});

for (const editor of ["zed", "jetbrains", "vscode", "neovim", "emacs"]) {
  test(`--setup ${editor} prints the block to paste, with the path of this launcher`, patience, () => {
    const { status, stdout, stderr } = parley("--setup", editor);
    assert.equal(status, 0, stderr);
    assert.ok(stdout.includes(JSON.stringify(launcher)), stdout);
    assert.match(stdout, /"agent"/);
    assert.match(stderr, /^Put this into /);
    if (editor !== "neovim" && editor !== "emacs") assert.equal(typeof JSON.parse(stdout), "object");
  });
}

test("what cannot be understood is refused with what is wanted", patience, () => {
  for (const [args, wanted] of [
    [["--mode", "yolo"], /--mode: expected one of ask, code, architect, chat, got yolo/],
    [["--setup", "ed"], /--setup: expected one of zed, jetbrains, neovim, emacs, vscode, got ed/],
    [["--model", "none"], /The model "none" has an unknown provider/],
  ] as const) {
    const { status, stdout, stderr } = parley(...args);
    assert.equal(status, 2);
    assert.equal(stdout, "");
    assert.match(stderr, wanted);
  }
});

test(
  "what is written to the agent's descriptor 1 past all guards does not reach the wire (T3, G9)",
  patience,
  () => {
    const stray = join(temporary, "stray.mjs");
    // before the agent has opened anything, and while it serves
    writeFileSync(
      stray,
      `import { writeSync } from "node:fs";
     writeSync(1, "stray print at the start\\n");
     setImmediate(() => writeSync(1, "stray print later\\n"));`,
    );
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };
    const { status, stdout, stderr } = spawnSync(launcher, ["agent", "--no-history"], {
      encoding: "utf8",
      input: `${JSON.stringify(initialize)}\n`,
      env: { ...process.env, ...home("stray").env, NODE_OPTIONS: `--import=${stray}` },
    });
    assert.equal(status, 0, stderr);
    assert.partialDeepStrictEqual(JSON.parse(stdout), {
      jsonrpc: "2.0",
      id: 1,
      result: { protocolVersion: 1 },
    });
    assert.equal(stdout.indexOf("\n"), stdout.length - 1);
    assert.match(stderr, /stray print at the start\n.*stray print later/s);
  },
);

test("--edition chooses what the agent speaks, and a wrong name is told", patience, async () => {
  const { env, cwd } = home("editions");
  writeFileSync(join(cwd, "notes.txt"), "hello world\n");
  const child = spawnTransport(launcher, ["agent", "--edition", "v1,pharo"], { env });
  const agent = await client({ name: "test", version: "1", editions: [pharo()] }).connect(child);
  assert.equal(agent.edition, "pharo");
  const session = await agent.newSession({ cwd });
  const updates: SessionUpdate[] = [];
  for await (const update of session.prompt("read notes.txt")) updates.push(update);
  assert.match(said(updates), /hello world/);
  await agent.close();
  assert.match(child.stderrTail(), /^parley agent: lost in translation: capabilities of the agent: .*$/m);
  for (const [list, got] of [
    ["v2,v3", "v3"],
    ["v1,", "nothing"],
  ] as const) {
    const { status, stderr } = spawnSync(launcher, ["agent", "--edition", list], {
      encoding: "utf8",
      input: "",
    });
    assert.equal(status, 2);
    assert.match(stderr, new RegExp(`--edition: expected v1, v2, pharo, scoped, got ${got}\n`));
  }
});
