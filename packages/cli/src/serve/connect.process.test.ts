// `parley connect` and `run --url` at servers that die, come back, or have sessions of others.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { agent } from "@parley/acp";
import { startGateway } from "@parley/gateway";
import { prompt, RawEditor, scriptedCommand } from "../../test/support/raw-editor-probe.ts";
import { launcher, patience, RunProbe } from "../../test/support/run-probe.ts";
import { startServe } from "../../test/support/serve-probe.ts";

const probe = new RunProbe();
const v1 = { protocolVersion: 1, clientCapabilities: {} };

function editorOf(address: string, token: string, ...options: string[]): RawEditor {
  const env = { ...process.env, PARLEY_HOME: probe.home, PARLEY_TEST_MARK: probe.mark, PARLEY_TOKEN: token };
  return new RawEditor(["connect", ...options, address], env);
}

/** Resolves when it has written this to stderr. */
async function complained(child: { stderr: NodeJS.ReadableStream }, words: RegExp): Promise<void> {
  let text = "";
  for await (const chunk of child.stderr) {
    text += String(chunk);
    if (words.test(text)) return;
  }
  assert.fail(text);
}

test(
  "an input that ends gets the answers to its requests first; a batch is refused with a sentence",
  patience,
  async (t) => {
    const { url, token = "" } = await startServe(t, probe);
    for (const address of [url, url.replace("http", "ws")]) {
      const editor = editorOf(address, token);
      editor.write("[]\n");
      editor.send({ id: 0, method: "initialize", params: v1 });
      editor.child.stdin.end();
      assert.equal((await editor.exit).code, 0, editor.complaints);
      assert.ok("result" in (editor.answers(0)[0] ?? {}), JSON.stringify(editor.lines));
      assert.match(JSON.stringify(editor.answers(null)), /-32600.*batches are not accepted here/);
    }
    // nothing listens there; the address is not safe
    for (const [address, words] of [
      ["http://127.0.0.1:1/acp", /-32067/],
      ["http://192.0.2.1/acp", /-32067.*use https:.*forward a port with ssh/],
    ] as const) {
      const editor = editorOf(address, token);
      editor.send({ id: 0, method: "initialize", params: v1 });
      editor.child.stdin.end();
      assert.equal((await editor.exit).code, 5);
      assert.match(JSON.stringify(editor.answers(0)), words);
    }
  },
);

test(
  "a prompt that is piped into connect is answered before it leaves, in both versions",
  patience,
  async (t) => {
    const steps = [{ say: "begun" }, { say: " and done" }] as const;
    const { url, token = "" } = await startServe(t, probe, ["--", ...scriptedCommand({ otherwise: steps })]);
    for (const version of [1, 2] as const) {
      const editor = editorOf(url, token);
      const sessionId = await editor.open(version);
      editor.send({ id: 2, method: "session/prompt", params: prompt(sessionId, "hello") });
      editor.child.stdin.end();
      assert.equal((await editor.exit).code, 0, editor.complaints);
      assert.match(JSON.stringify(editor.lines), version === 1 ? /and done.*stopReason/ : /and done.*idle/);
      assert.equal(editor.complaints, "");
    }
  },
);

test("connect leaves a turn that asks something when nobody can answer, and says so", patience, async (t) => {
  const command = ["--", ...scriptedCommand({ otherwise: [{ ask: "Go on?" }] })];
  const { url, token = "", child, logged, end } = await startServe(t, probe, command);
  const editor = editorOf(url.replace("http", "ws"), token);
  const sessionId = await editor.open(1);
  editor.send({ id: 2, method: "session/prompt", params: prompt(sessionId, "hello") });
  editor.child.stdin.end();
  assert.equal((await editor.exit).code, 0, editor.complaints);
  assert.match(
    editor.complaints,
    /left a running turn, which goes on at the server: the agent asks something, and stdin has ended/,
  );
  child.kill("SIGTERM");
  await logged(({ message }) => String(message).startsWith("stopping"));
  await end("SIGTERM");
});

test("connect exits at once when its server fails after its input has ended", patience, async (t) => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => asked.resolve(response)).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const editor = editorOf(`http://127.0.0.1:${port}/acp`, "a-token-of-a-test-with-32-characters");
  editor.send({ id: 0, method: "initialize", params: v1 });
  const response = await asked.promise;
  const finished = once(editor.child.stdin, "finish");
  editor.child.stdin.end();
  await finished;
  response.writeHead(500).end();
  assert.equal((await editor.exit).code, 5);
  assert.match(JSON.stringify(editor.answers(0)), /-32067.*got 500/);
});

test("a server that dies is told within seconds, and Ctrl-C then ends a run at once", patience, async (t) => {
  const command = ["--", ...scriptedCommand({ otherwise: [{ say: "begun" }, { wait: "cancelled" }] })];
  for (const scheme of ["http", "ws"]) {
    const { url, token = "", child, end } = await startServe(t, probe, command);
    const address = url.replace("http", scheme);
    const env = { ...process.env, PARLEY_HOME: probe.home, PARLEY_TOKEN: token };
    const run = spawn(launcher, ["run", "--no-history", "--url", address, "hi"], { cwd: probe.cwd, env });
    await once(run.stdout, "data");
    const editor = editorOf(address, token);
    await editor.ask(0, "initialize", v1);
    child.kill("SIGKILL");
    await end();
    const lost = /connection lost, trying again for up to 10 min; Ctrl-C to stop/;
    await Promise.all([complained(run, lost), complained(editor.child, lost)]);
    const exited = once(run, "exit");
    run.kill("SIGINT");
    assert.deepEqual(await exited, [130, null]);
    editor.child.kill("SIGINT");
    await editor.exit;
  }
});

test(
  "a session that another client has is taken over by connect --takeover and run --takeover",
  patience,
  async (t) => {
    const { url, token = "" } = await startServe(t, probe);
    const first = editorOf(url, token);
    await first.ask(0, "initialize", v1);
    const made = await first.ask(1, "session/new", { cwd: probe.cwd, mcpServers: [] });
    const { sessionId } = made["result"] as { sessionId: string }; // what it answers
    await first.ask(2, "session/prompt", prompt(sessionId, "list"));
    const load = { sessionId, cwd: probe.cwd, mcpServers: [] };
    const held = editorOf(url, token);
    await held.ask(0, "initialize", v1);
    assert.match(JSON.stringify(await held.ask(1, "session/load", load)), /-32066/);
    const taking = editorOf(url, token, "--takeover");
    await taking.ask(0, "initialize", v1);
    assert.ok("result" in (await taking.ask(1, "session/load", load)));
    await first.until(({ method }) => method === "_parley.dev/session_taken");
    const args = ["run", "--no-history", "--url", url, "--session", sessionId, "list"];
    const run = (...more: string[]) =>
      probe.parley([...args.filter((each) => each !== "--no-history"), ...more], {
        env: { PARLEY_TOKEN: token },
      });
    const busy = await run();
    assert.equal(busy.status, 5, busy.stderr);
    assert.match(busy.stderr, /in use by another client[\s\S]*--takeover/);
    const ran = await run("--takeover");
    assert.equal(ran.status, 0, ran.stderr);
    for (const editor of [first, held, taking]) {
      editor.child.stdin.end();
      await editor.exit;
    }
  },
);

test(
  "a run whose session is taken in its turn says so and exits with 7; the one that took it prints its own answer alone",
  patience,
  async (t) => {
    const go = Promise.withResolvers<void>();
    const shared = agent({
      name: "shared",
      version: "1.0.0",
      async prompt(turn) {
        await turn.say(`${turn.text} begun, `);
        if (turn.text === "mine") await go.promise;
        turn.notice("info", `${turn.text} noted`);
        await turn.say(`${turn.text} done`);
      },
    });
    const { url, token, close } = await startGateway({ connect: (transport) => shared.connect(transport) });
    t.after(() => close());
    const env = { ...process.env, PARLEY_HOME: probe.home, PARLEY_TOKEN: token };
    const args = ["run", "--url", url];
    const mine = [...args, "--no-history", "--format", "json", "mine"];
    const first = spawn(launcher, mine, { cwd: probe.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const exited = once(first, "exit");
    const begun = Promise.withResolvers<void>();
    let out = "";
    first.stdout.on("data", (chunk) => {
      out += String(chunk);
      if (out.includes("begun")) begun.resolve();
    });
    await begun.promise;
    const sessionId = /"sessionId":"([^"]+)"/.exec(out)?.[1] ?? assert.fail(out);
    const second = probe.parley([...args, "--session", sessionId, "--takeover", "yours"], {
      env: { PARLEY_TOKEN: token },
    });
    assert.deepEqual(await exited, [7, null], out);
    assert.match(out, /another client has taken the session/);
    go.resolve();
    const { status, stdout, stderr } = await second;
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^yours begun, [\s\S]*! yours noted[\s\S]*yours done\n$/);
    assert.doesNotMatch(stdout, /mine/);
  },
);

test(
  "MCP servers that are commands are refused, or left out by connect, which says so (TH10)",
  patience,
  async (t) => {
    const { url, token = "" } = await startServe(t, probe);
    const mcpServers = [{ name: "local-tool", command: "/bin/false", args: [], env: [] }];
    for (const options of [[], ["--drop-mcp-commands"]]) {
      const editor = editorOf(url, token, ...options);
      await editor.ask(0, "initialize", v1);
      const answer = await editor.ask(1, "session/new", { cwd: probe.cwd, mcpServers });
      if (options.length > 0) assert.ok("result" in answer, JSON.stringify(answer));
      else assert.match(JSON.stringify(answer), /-32060.*--drop-mcp-commands.*--allow-commands/);
      editor.child.stdin.end();
      await editor.exit;
      assert.equal(/left out MCP servers.*: local-tool/.test(editor.complaints), options.length > 0);
    }
  },
);

test(
  "an agent that knows only POST and speaks a dialect is served, run and connected to, and its limits are said once",
  patience,
  async (t) => {
    const { url, token = "" } = await startServe(t, probe, ["--plain-post", "--edition", "pharo"]);
    const env = { PARLEY_TOKEN: token };
    const towards = ["--plain-post", "--edition", "pharo"];
    const ran = await probe.parley(["run", "--no-history", "--url", url, ...towards, "help"], {
      env,
    });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /I understand `read FILE/);
    assert.equal(ran.stderr.match(/with plain POST the agent cannot ask/g)?.length, 1, ran.stderr);
    // the editor speaks version 2
    const editor = editorOf(url, token, ...towards);
    const sessionId = await editor.open(2);
    editor.send({ id: 2, method: "session/prompt", params: prompt(sessionId, "help") });
    editor.child.stdin.end();
    assert.equal((await editor.exit).code, 0, editor.complaints);
    assert.match(JSON.stringify(editor.lines), /"protocolVersion":2.*I understand `read FILE.*idle/);
    assert.equal(editor.complaints.match(/with plain POST/g)?.length, 1, editor.complaints);
    for (const [args, words] of [
      [["run", "--plain-post", "hi"], /--plain-post needs --url/],
      [["run", "--url", url, "--plain-post", "--edition", "v2", "hi"], /--plain-post cannot carry v2/],
      [["connect", "--plain-post", url.replace("http", "ws")], /--plain-post needs an address with https/],
      [["serve", "--edition", "pharo", "--", process.execPath], /--edition is for Parley's own agent/],
    ] as const) {
      const { status, stderr } = await probe.parley(args, { env });
      assert.equal(status, 2, stderr);
      assert.match(stderr, words);
    }
  },
);

test("an agent that crashes is told with its exit code, over HTTP and WebSocket", patience, async (t) => {
  const crash = `
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method !== "initialize") process.exit(7);
      console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } }));
    });
  `;
  const { url, token = "" } = await startServe(t, probe, ["--", process.execPath, "--eval", crash]);
  for (const address of [url, url.replace("http", "ws")]) {
    const editor = editorOf(address, token);
    await editor.ask(0, "initialize", v1);
    const { error } = await editor.ask(1, "session/new", { cwd: "/", mcpServers: [] });
    assert.match(JSON.stringify(error), /-32067.*the agent exited with code 7/);
    assert.equal((await editor.exit).code, 5);
  }
});

test(
  "a directory of the server need not exist here, and a missing one is told with the server",
  patience,
  async (t) => {
    const { url, token = "" } = await startServe(t, probe);
    const env = { PARLEY_TOKEN: token };
    const args = ["run", "--no-history", "--url", url, "--cwd", join(probe.folder, "nowhere"), "list"];
    const { status, stderr } = await probe.parley(args, { env });
    assert.equal(status, 1, stderr);
    assert.match(
      stderr,
      /the agent at 127\.0\.0\.1:\d+ could not open a session: .*nowhere[\s\S]*directory of 127/,
    );
  },
);

test("a server whose output is closed goes on, and SIGHUP ends it as SIGTERM does", patience, async (t) => {
  const { url, token = "", child, end } = await startServe(t, probe);
  child.stdout?.destroy();
  for (let n = 0; n < 2; n++) {
    const editor = editorOf(url, token);
    await editor.ask(0, "initialize", v1);
    editor.child.stdin.end();
    assert.equal((await editor.exit).code, 0);
  }
  const editor = editorOf(url.replace("http", "ws"), token);
  await editor.ask(0, "initialize", v1);
  assert.equal(await end("SIGHUP"), 0);
  assert.equal((await editor.exit).code, 5);
  assert.match(editor.complaints, /the server was shut down/);
});

test("connect --setup prints the settings of an editor, without the token", patience, async () => {
  const token = "a-token-that-nobody-should-see-in-settings";
  for (const editor of ["zed", "jetbrains", "neovim", "emacs", "vscode"]) {
    const args = ["connect", "--setup", editor, "https://agents.example.org/acp"];
    const { status, stdout, stderr } = await probe.parley(args, { env: { PARLEY_TOKEN: token } });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /"connect"[\s\S]*"https:\/\/agents\.example\.org\/acp"[\s\S]*PARLEY_TOKEN/);
    assert.match(stderr, /Put this into [\s\S]*in place of TOKEN/);
    assert.ok(!`${stdout}${stderr}`.includes(token));
  }
  const wrong = await probe.parley(["connect", "--setup", "ed", "https://agents.example.org/acp"]);
  assert.match(wrong.stderr, /--setup: expected one of zed/);
});

test("nothing is left of what was served", patience, () => {
  assert.deepEqual(probe.leftovers(), []);
});
