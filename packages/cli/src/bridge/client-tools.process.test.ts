// A version 1 editor's files and terminals, used by a version 2 agent through the MCP server that the bridge
// gives it: four processes, and the official MCP client in the third.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, type TestContext, test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import { type ClientDefinition, type ClientSession, client, type Files, RequestError } from "@parley/acp";
import { localTerminals, spawnTransport } from "@parley/acp/node";
import { launcher, programFile } from "../../../acp/test/support/programs.ts";

const probe = programFile("cli/test/support/bridge-mcp-probe.ts");
const temporary = mkdtempSync(join(tmpdir(), "parley-bridge-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
const deadline = { timeout: 120_000 };

/** An editor with one unsaved buffer. */
function editorFiles(buffers: Map<string, string>): Files {
  return {
    canRead: true,
    canWrite: true,
    async readText(path, { line = 1, limit = Number.POSITIVE_INFINITY } = {}) {
      const found = buffers.get(path);
      if (found === undefined) throw new RequestError("not_found", `no buffer for ${path}`);
      return found
        .split("\n")
        .slice(line - 1, line - 1 + limit)
        .join("\n");
    },
    async writeText(path, content) {
      if (path.startsWith("/forbidden")) throw new RequestError("permission_denied", "the user said no");
      buffers.set(path, content);
    },
  };
}

async function bridged(t: TestContext, parts: Partial<ClientDefinition>) {
  const env = { PARLEY_HOME: join(temporary, "home"), TMPDIR: temporary };
  const command = ["bridge", "--as", "v1", "--", process.execPath, "--conditions=parley-source", probe];
  const bridge = spawnTransport(launcher, command, { env });
  const agent = await client({ name: "editor", version: "1.0.0", editions: ["v1"], ...parts }).connect(
    bridge,
  );
  t.after(() => agent.close());
  const session = await agent.newSession({ cwd: temporary });
  return { agent, session, bridge };
}

async function said(session: ClientSession, prompt: string): Promise<unknown> {
  let answer = "";
  for await (const update of session.prompt(prompt)) {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      answer += update.content.text;
  }
  return JSON.parse(answer);
}

const use = (session: ClientSession, ...calls: object[]): Promise<unknown> =>
  said(session, JSON.stringify(calls));

const sockets = (): string[] => readdirSync(temporary).filter((name) => name.startsWith("parley-bridge-"));

test(
  "an agent of version 2 reads and writes the unsaved buffers of a version 1 editor",
  deadline,
  async (t) => {
    const path = join(temporary, "unsaved.txt");
    const buffers = new Map([[path, "one\ntwo\nthree"]]);
    const { agent, session, bridge } = await bridged(t, { files: editorFiles(buffers) });
    const results = await use(
      session,
      { name: "tools" },
      { name: "read_text_file", arguments: { path } },
      { name: "read_text_file", arguments: { path, line: 2, limit: 1 } },
      { name: "write_text_file", arguments: { path: join(temporary, "new.txt"), content: "ünsaved" } },
      { name: "read_text_file", arguments: { path: join(temporary, "missing.txt") } },
      { name: "write_text_file", arguments: { path: "/forbidden/x", content: "" } },
      { name: "read_text_file", arguments: { path: 7 } },
    );
    assert.partialDeepStrictEqual(results, [
      // the editor offers no terminals
      ["read_text_file", "write_text_file"],
      "one\ntwo\nthree",
      "two",
      `wrote ${join(temporary, "new.txt")}`,
      { error: `no buffer for ${join(temporary, "missing.txt")}` },
      { error: "the user said no" },
      {},
    ]);
    assert.match(JSON.stringify((results as object[])[6]), /path/);
    assert.equal(buffers.get(join(temporary, "new.txt")), "ünsaved");
    assert.equal(existsSync(path), false, "nothing was read from or written to the disk");
    assert.equal(sockets().length, 1);
    await session.close();
    assert.deepEqual(sockets(), [], "the socket goes with the session");
    await agent.close();
    assert.deepEqual(await bridge.exited, { exitCode: 0 });
  },
);

test(
  "what a killed bridge has left behind is removed by the next one, and a living one's is not",
  deadline,
  async (t) => {
    const files = editorFiles(new Map());
    const living = await bridged(t, { files });
    const [livingFolder] = sockets();
    const killed = await bridged(t, { files });
    process.kill(killed.bridge.pid ?? assert.fail(), "SIGKILL");
    await killed.bridge.exited;
    assert.equal(sockets().length, 2);
    const next = await bridged(t, { files });
    // removing is not waited for
    while (sockets().length > 2) await turnOfTheLoop(10);
    assert.ok(livingFolder !== undefined && sockets().includes(livingFolder));
    assert.deepEqual(await use(living.session, { name: "tools" }), [["read_text_file", "write_text_file"]]);
    for (const { agent, bridge } of [living, next]) {
      await agent.close();
      await bridge.exited;
    }
    assert.deepEqual(sockets(), []);
  },
);

test("commands run in the editor, in the background too, and end with the agent", deadline, async (t) => {
  const { session } = await bridged(t, { terminals: ({ cwd }) => localTerminals({ cwd }) });
  const node = process.execPath;
  const script = "console.log(process.env.WHO, process.cwd()); process.exitCode = 3";
  const results = (await use(
    session,
    { name: "tools" },
    { name: "run_command", arguments: { command: node, args: ["-e", script], env: { WHO: "agent" } } },
    { name: "run_command", arguments: { command: "/nowhere/at-all" } },
    {
      name: "run_command",
      arguments: {
        command: node,
        args: ["-e", "console.log(process.pid); setInterval(() => {}, 1e6)"],
        timeoutMs: 0,
      },
    },
  )) as [string[], string, { error: string }, string];
  const [tools, ran, failed, started] = results;
  assert.deepEqual(tools, [
    "run_command",
    "terminal_output",
    "terminal_wait",
    "terminal_kill",
    "terminal_release",
  ]);
  assert.match(ran, /^agent .*parley-bridge-test-.*\n\[exit code 3\]$/);
  assert.match(failed.error, /\/nowhere\/at-all/);
  const terminalId = /terminalId: (\S+)\]$/.exec(started)?.[1] ?? assert.fail(started);
  const [killed, waited, gone] = (await use(
    session,
    { name: "terminal_kill", arguments: { terminalId } },
    { name: "terminal_wait", arguments: { terminalId } },
    { name: "terminal_output", arguments: { terminalId } },
  )) as [string, string, { error: string }];
  assert.match(killed, /its output can still be read/);
  assert.match(waited, /\[(?:ended by SIG\w+|exit code \d+)\]$/);
  assert.match(gone.error, /unknown terminal \S+; known terminals: none/);
});

test("an editor that offers nothing gives the agent nothing", deadline, async (t) => {
  const { session } = await bridged(t, {});
  assert.deepEqual(await said(session, "servers"), []);
  assert.deepEqual(sockets(), []);
});

test("the way back to the editor is for this user and this session only", deadline, async (t) => {
  const { session, agent } = await bridged(t, { files: editorFiles(new Map()) });
  const [server] = (await said(session, "servers")) as [{ env: { name: string; value: string }[] }];
  const path = server.env.find(({ name }) => name === "PARLEY_BRIDGE_SOCKET")?.value ?? assert.fail();
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const stranger = createConnection(path);
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "read_text_file", arguments: { path } },
  };
  stranger.write(`${"0".repeat(64)}\n${JSON.stringify(call)}\n`);
  const { error, ...rest } = JSON.parse(await text(stranger));
  assert.match(error.message, /not authenticated/);
  assert.deepEqual(rest, { jsonrpc: "2.0", id: null });
  await agent.close();
  assert.equal(existsSync(path), false);
});

for (const [who, index] of [
  ["the bridge", undefined],
  ["the agent", 0],
] as const) {
  test(`when ${who} is killed, nothing is left`, deadline, async (t) => {
    const before = sockets();
    const { session, bridge, agent } = await bridged(t, { files: editorFiles(new Map()) });
    const [pids] = (await use(session, { name: "pids" })) as [number[]];
    assert.equal(pids.filter(runs).length, 2);
    process.kill((index === undefined ? bridge.pid : pids[index]) ?? assert.fail(), "SIGKILL");
    await agent.closed;
    // what an orphan does next is to be waited for; the test's deadline is the limit
    while (pids.some(runs)) await turnOfTheLoop(10);
    if (index === 0) {
      assert.deepEqual(await bridge.exited, { exitCode: 128 + 9 });
      assert.deepEqual(
        sockets().filter((name) => !before.includes(name)),
        [],
      );
    }
  });
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // a process that has ended and waits for its parent does not run
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
