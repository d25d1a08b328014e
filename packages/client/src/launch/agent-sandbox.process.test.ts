// Whole agents in a sandbox: what a hostile one can write, read and reach, and how it ends.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { type CommandEntry, commandEntry, readyAgents } from "@parley/client/launch";
import { inSandbox, withHosts } from "../../../sandbox/test/support/required-sandbox.ts";
import { below, put, workplace } from "../../../sandbox/test/support/workplace.ts";
import { connectAgent, type ManagedAgentEvent } from "../index.ts";
import { manageAgent } from "../internal.ts";

const program = join(import.meta.dirname, "../../test/support/shell-agent.ts");

// everything that a sandbox needs is below it, so that what is left is seen
const temporary = realpathSync(mkdtempSync(join(tmpdir(), "parley-agents-")));
const userHome = realpathSync(mkdtempSync(join(tmpdir(), "parley-agents-home-")));
Object.assign(process.env, { TMPDIR: temporary, HOME: userHome });
after(() => {
  for (const folder of [temporary, userHome]) rmSync(folder, { recursive: true });
});

const app = { name: "test", version: "1.0.0" };

/** A workplace and an agent in a sandbox on it. `does` returns the output of a script that the agent runs. */
async function sandboxed(
  t: TestContext,
  given: Partial<CommandEntry> = {},
  more: { readonly hide?: readonly string[]; readonly readOnly?: readonly string[] } = {},
) {
  const place = workplace(t);
  const { home, work } = place;
  put(home, {
    ".mine/login": "own",
    ".claude/key": "SECRET",
    ".claude.json": "settings\n",
    ".mine.json": "old",
    ".npm/x": "kept",
  });
  const events: ManagedAgentEvent[] = [];
  const crashed = Promise.withResolvers<void>();
  const entry = { ...commandEntry([process.execPath, program]), name: "mine", state: ["~/.mine"], ...given };
  const agent = await manageAgent(entry, {
    ...app,
    cwd: work,
    inherited: { ...process.env, HOME: home, XDG_CONFIG_HOME: undefined, XDG_CACHE_HOME: undefined },
    sandbox: { roots: [work], ...more },
    onEvent(event) {
      events.push(event);
      if (event.kind === "crashed") crashed.resolve();
    },
  });
  t.after(() => agent.close());
  const session = await agent.newSession({ cwd: work });
  const does = (script: string) => session.prompt(script).text();
  return { ...place, agent, events, crashed: crashed.promise, does };
}

const left = () => readdirSync(temporary);

test(
  "an agent writes to its workspace, its state and its own /tmp, and nowhere else",
  inSandbox,
  async (t) => {
    const { home, work, outside, base, agent, does } = await sandboxed(t);
    const script = `
    echo new >file; echo x >/tmp/mine && cat /tmp/mine
    echo two >~/.mine/new && mv ~/.mine/new ~/.mine/login && cat ~/.mine/login
    for path in ${outside}/file ~/.bashrc ~/.npm/x ~/.claude/key ~/.mine.json /etc/parley-test ${base}/new; do
      (echo evil >"$path") 2>/dev/null && echo "wrote $path"
    done
    mv ~/.mine ~/.other 2>/dev/null && echo "moved its state"
    kill -9 ${process.pid} 2>/dev/null && echo "killed us"
    ls /proc | grep -c '^[0-9]'`;
    const before = below(base).filter((path) => !path.startsWith("home/.cache"));
    const output = await does(script);
    assert.match(output, /^x\ntwo\n\d\n$/);
    assert.equal(readFileSync(join(work, "file"), "utf8"), "new\n");
    assert.equal(readFileSync(join(home, ".mine/login"), "utf8"), "two\n");
    assert.deepEqual(
      below(base).filter((path) => !path.startsWith("home/.cache")),
      before,
    );
    await agent.close();
    assert.deepEqual(left(), []);
  },
);

test("an agent reads its own secrets, not those of other programs (TH7)", inSandbox, async (t) => {
  const { does, outside } = await sandboxed(t, {}, { hide: [join("/etc/hostname")] });
  const script = `cat ~/.mine/login ~/.bashrc ${outside}/file; for path in ~/.ssh/id_ed25519 ~/.npmrc ~/.claude/key /etc/hostname; do
    cat "$path" 2>/dev/null && echo "read $path"; done; true`;
  assert.equal(await does(script), "ownkeptkept");
});

test("a ready agent has its state and its settings, also where variables move them", inSandbox, async (t) => {
  const { needs = {} } = readyAgents().find(({ name }) => name === "claude") ?? assert.fail();
  const { does } = await sandboxed(t, { needs });
  const script = "cat ~/.claude.json; cd ~/.claude && echo x >a && mv a key && cat key; echo $IS_SANDBOX";
  assert.equal(await does(script), "settings\nx\n1\n");
  process.env["CLAUDE_CONFIG_DIR"] = join(userHome, "moved");
  t.after(() => delete process.env["CLAUDE_CONFIG_DIR"]);
  const moved = await sandboxed(t, { needs });
  const other = "echo x >$CLAUDE_CONFIG_DIR/a && echo written; cat ~/.claude/key 2>/dev/null || echo hidden";
  assert.equal(await moved.does(other), "written\nhidden\n");
});

test("a single file of the state is written, but not replaced", inSandbox, async (t) => {
  const { home, does } = await sandboxed(t, { state: ["~/.mine.json"] });
  const script = `echo new >~/.mine.json; echo x >/tmp/n; mv /tmp/n ~/.mine.json 2>/dev/null || echo refused`;
  assert.equal(await does(script), "refused\n");
  assert.equal(readFileSync(join(home, ".mine.json"), "utf8"), "new\n");
});

test(
  "npm has a cache of its own, so that an agent does not change programs that the user starts",
  inSandbox,
  async (t) => {
    const { home, does } = await sandboxed(t, { name: "a/b" });
    const folder = join(home, ".cache/parley/agents/a%2Fb/npm");
    assert.equal(await does('echo x >"$npm_config_cache/file"; echo "$npm_config_cache"'), `${folder}\n`);
    assert.equal(readFileSync(join(folder, "file"), "utf8"), "x\n");
  },
);

test("an agent reaches the hosts that are named, and no others", withHosts, async (t) => {
  const http = createServer((_, response) => void response.end("answer\n")).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  t.after(() => http.close());
  const { port } = http.address() as AddressInfo; // it listens on a port
  const { does, agent } = await sandboxed(t, { hosts: [`localhost:${port}`, "*:1"] });
  const script = `get() { curl -sS --noproxy "$2" -o /dev/null -w '%{http_code}\\n' "$1" 2>/dev/null; }
    get http://localhost:${port}/ ''; get http://other.example/ ''; get http://127.0.0.1:${port}/ ''; get http://127.0.0.1:1/ ''
    get http://127.0.0.1:${port}/ '*'`;
  assert.equal(await does(script), "200\n403\n403\n403\n000\n");
  await agent.close();
  assert.deepEqual(left(), []);
  const open = await sandboxed(t);
  assert.equal(await open.does(`curl -sS --noproxy '*' http://127.0.0.1:${port}/`), "answer\n");
});

test("hooks and settings that are new after the run are named, and stay", inSandbox, async (t) => {
  const { work, does, agent, events } = await sandboxed(t, {}, { readOnly: [] });
  const output = await does(
    "echo evil >.git/hooks/pre-push; echo evil >.claude/settings.json; mkdir -p a/.vscode; echo x >a/.vscode/tasks.json",
  );
  assert.match(output, /pre-push.*Read-only.*\n.*settings\.json.*Read-only/s);
  await agent.close();
  const found = events.find(({ kind }) => kind === "left_behind");
  assert.deepEqual(found, {
    kind: "left_behind",
    paths: [join(work, "a/.vscode")],
    isIncomplete: false,
  });
  assert.equal(readFileSync(join(work, "a/.vscode/tasks.json"), "utf8"), "x\n");
});

/** Whether a process with this word among its arguments runs. */
function runsWith(word: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false; // it has ended
    }
  });
}

test("everything that an agent has started ends with it, also daemons", inSandbox, async (t) => {
  const { does, agent } = await sandboxed(t);
  const word = `987${process.pid}`;
  await does(`setsid env -i sleep ${word} >/dev/null 2>&1 & setsid sleep ${word} >/dev/null 2>&1 &
    until [ "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^sleep$')" = 2 ]; do :; done`);
  assert.ok(runsWith(word));
  await agent.close();
  assert.equal(runsWith(word), false);
});

test("an agent that does not heed the end of its input gets SIGTERM in its sandbox", inSandbox, async (t) => {
  const { work } = workplace(t);
  const script = "trap 'echo ended >term; exit 0' TERM; echo up >&2; while :; do sleep 0.05; done";
  const entry = { ...commandEntry(["/bin/sh", "-c", script]), traits: { graceMs: 1 } };
  const stop = new AbortController();
  const starting = connectAgent(entry, {
    ...app,
    cwd: work,
    sandbox: true,
    signal: stop.signal,
    onEvent: ({ kind }) => kind === "stderr" && stop.abort(),
  });
  await assert.rejects(starting, { kind: "aborted" });
  assert.equal(readFileSync(join(work, "term"), "utf8"), "ended\n");
  assert.deepEqual(left(), []);
});

test("a crashed agent is started again in a new sandbox", inSandbox, async (t) => {
  const { does, agent, events, crashed } = await sandboxed(t);
  const shown = `sed -n 's|.* \\(/[^ ]*\\) /tmp .*|\\1|p' /proc/self/mountinfo`;
  const first = await does(`echo x >/tmp/mine; ls /tmp/mine; ${shown}`);
  assert.match(first, /^\/tmp\/mine\n\/.*parley-sandbox-\w+\n$/);
  process.kill(agent.pid ?? assert.fail(), "SIGKILL");
  // that ends bubblewrap, and the kernel then ends the agent, which may still answer until it has
  await crashed;
  const second = await does(`ls /tmp/mine 2>/dev/null; cat ~/.ssh/id_ed25519 2>/dev/null; ${shown}`);
  assert.match(second, /^\/.*parley-sandbox-\w+\n$/);
  assert.ok(!first.includes(second), "its /tmp is another folder");
  assert.equal(events.filter(({ kind }) => kind === "starting").length, 2);
  await agent.newSession({ cwd: process.cwd() });
  assert.deepEqual(
    events.flatMap((event) => (event.kind === "warning" ? [event.message] : [])),
    [`${process.cwd()} is outside the sandbox of mine, which can only read it`],
  );
  await agent.close();
  assert.deepEqual(left(), []);
});

test("an agent that does not start is told as without a sandbox", inSandbox, async (t) => {
  const { work } = workplace(t);
  const start = (argv: readonly string[], more: object = {}) =>
    connectAgent(argv, { ...app, cwd: work, sandbox: true, ...more });
  await assert.rejects(start([process.execPath, program, "fail"]), {
    kind: "exited",
    exitCode: 4,
    message: `node ended before it could be used: initialize: no answer, ${process.execPath} exited with code 4`,
    stderr: "the agent is up",
    hint: /it ran in a sandbox/,
  });
  await assert.rejects(start(["parley-has-no-such-agent"]), { kind: "not_found" });
  await assert.rejects(start([process.execPath], { cwd: join(work, "missing") }), {
    kind: "spawn_failed",
    message: /its working directory .*missing does not exist/,
  });
  assert.deepEqual(left(), []);
});

test("a remote agent is not started where a sandbox is wanted", async () => {
  await assert.rejects(connectAgent({ url: "https://agents.example/acp" }, { ...app, sandbox: true }), {
    kind: "no_sandbox",
    message: "agents.example was not started in a sandbox: it is on another machine",
  });
});
