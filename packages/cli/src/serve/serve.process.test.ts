// `parley serve` and `parley connect` as a shell runs them.

import assert from "node:assert/strict";
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prompt, RawEditor, scriptedCommand } from "../../test/support/raw-editor-probe.ts";
import { launcher, patience, RunProbe } from "../../test/support/run-probe.ts";
import { startServe } from "../../test/support/serve-probe.ts";

const probe = new RunProbe();

function editorOf(address: string, token: string): RawEditor {
  const env = { ...process.env, PARLEY_HOME: probe.home, PARLEY_TEST_MARK: probe.mark, PARLEY_TOKEN: token };
  return new RawEditor(["connect", address], env);
}

writeFileSync(join(probe.cwd, "notes.txt"), "the answer is 42\n");

test(
  "a served agent is prompted by run over HTTP and WebSocket, and ends with each run (H3)",
  patience,
  async (t) => {
    const { url, token = "", end, lines, logged } = await startServe(t, probe);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/acp$/);
    for (const address of [url, url.replace("http", "ws")]) {
      const ran = await probe.parley(["run", "--no-history", "--url", address, "read notes.txt"], {
        env: { PARLEY_TOKEN: token },
      });
      assert.equal(ran.status, 0, ran.stderr);
      assert.match(ran.stdout, /the answer is 42/);
    }
    const byHeader = ["--header", `Authorization=Bearer ${token}`];
    const ran = await probe.parley(["run", "--no-history", "--url", url, ...byHeader, "read notes.txt"]);
    assert.equal(ran.status, 0, ran.stderr);
    const ended = () => lines.filter(({ message }) => message === "the agent has ended").length;
    await logged(() => ended() === 3);
    assert.equal(await end("SIGTERM"), 0);
    const others = lines.filter(({ type }) => type !== "token");
    assert.ok(!JSON.stringify(others).includes(token), "no other line has the token (TH28)");
  },
);

test("a wrong token is told with what to do, and never shown", patience, async (t) => {
  const token = "a-wrong-token-that-nobody-should-see";
  for (const scheme of ["http", "ws"]) {
    const { url } = await startServe(t, probe);
    const address = url.replace("http", scheme);
    const ran = await probe.parley(["run", "--url", address, "hi"], { env: { PARLEY_TOKEN: token } });
    assert.equal(ran.status, 5, ran.stderr);
    const editor = editorOf(address, token);
    const { error } = await editor.ask(0, "initialize", {});
    assert.match(JSON.stringify(error), /-32067.*4(?:01|29).*another token than PARLEY_TOKEN/);
    assert.equal((await editor.exit).code, 5, editor.complaints);
    assert.match(editor.complaints, /4(?:01|29)[\s\S]*another token than PARLEY_TOKEN/);
    assert.match(ran.stderr, /401[\s\S]*another token than PARLEY_TOKEN/);
    const without = await probe.parley(["run", "--url", address, "hi"], { env: { PARLEY_TOKEN: "" } });
    assert.match(without.stderr, /4(?:01|29)[\s\S]*no token was sent: set PARLEY_TOKEN/);
    for (const text of [ran.stdout, ran.stderr, editor.complaints, JSON.stringify(error)])
      assert.ok(!text.includes(token));
  }
});

test("connect is the remote agent as a local one, with the token of a file (TH20)", patience, async (t) => {
  const file = join(probe.folder, "token");
  const { command, token, url } = await startServe(t, probe, ["--token-file", file]);
  assert.equal(token, undefined, "it is in the file, and not printed");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  // it is not on PATH, so that it is named by its path
  assert.equal(command, `${realpathSync(launcher)} connect --token-file ${file} ${url}`);
  for (const address of [url, url.replace("http", "ws")]) {
    const agent = [launcher, "connect", "--token-file", file, address];
    const ran = await probe.parley(["run", "--no-history", "read notes.txt", "--", ...agent]);
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /the answer is 42/);
  }
});

/** An agent that answers everything, and says on stderr what it was asked. */
const talking = `
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    console.error("asked for " + method);
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } }));
  });
`;

test(
  "connect detaches when its stdin ends: what was sent arrives, and the agent goes on",
  patience,
  async (t) => {
    const command = ["--", process.execPath, "--eval", talking];
    const { url, token = "", logged, lines } = await startServe(t, probe, command);
    for (const [method, address] of [
      ["one", url],
      ["two", url.replace("http", "ws")],
    ] as const) {
      const editor = editorOf(address, token);
      await editor.ask(0, "initialize", {});
      editor.send({ id: 1, method, params: {} });
      editor.child.stdin.end();
      assert.deepEqual(await editor.exit, { code: 0, signal: null }, editor.complaints);
      await logged(({ text }) => String(text).includes(`asked for ${method}`));
    }
    assert.deepEqual(
      lines.filter(({ message }) => message === "the client has gone" || message === "the agent has ended"),
      [],
    );
  },
);

const v1 = { protocolVersion: 1, clientCapabilities: {} };

test(
  "a session that connect has left, with its turn and its open question, goes on at the next connect (H18)",
  patience,
  async (t) => {
    const { url, token = "", lines } = await startServe(t, probe);
    writeFileSync(join(probe.cwd, "old.txt"), "x");
    const first = editorOf(url.replace("http", "ws"), token);
    await first.ask(0, "initialize", v1);
    const made = await first.ask(1, "session/new", { cwd: probe.cwd, mcpServers: [] });
    const { sessionId } = made["result"] as { sessionId: string }; // what it answers
    const isQuestion = ({ method }: { method?: unknown }) => method === "session/request_permission";
    first.send({ id: 2, method: "session/prompt", params: prompt(sessionId, "delete old.txt") });
    const asked = await first.until(isQuestion);
    first.child.stdin.end();
    await first.exit;
    const second = editorOf(url, token);
    await second.ask(0, "initialize", v1);
    const load = { sessionId, cwd: probe.cwd, mcpServers: [] };
    const loaded = await second.ask(1, "session/load", load);
    assert.ok("result" in loaded, JSON.stringify(loaded));
    assert.match(JSON.stringify(second.lines), /delete old\.txt/, "it is replayed");
    const again = await second.until(isQuestion);
    assert.deepEqual(again["params"], asked["params"], "it is the same question");
    const { options } = again["params"] as { options: { optionId: string; kind: string }[] };
    const allow = options.find(({ kind }) => kind === "allow_once");
    second.send({ id: again["id"], result: { outcome: { outcome: "selected", optionId: allow?.optionId } } });
    const next = await second.ask(2, "session/prompt", prompt(sessionId, "read notes.txt"));
    assert.deepEqual(next["result"], { stopReason: "end_turn" });
    assert.ok(!existsSync(join(probe.cwd, "old.txt")), "the turn before was finished first");
    const count = (words: string) => lines.filter(({ message }) => message === words).length;
    assert.equal(count("the agent was started"), 1, "nothing is started again");
    // an editor that can do other things gets a process of its own, after the old one has gone
    second.child.stdin.end();
    await second.exit;
    const third = editorOf(url.replace("http", "ws"), token);
    await third.ask(0, "initialize", { ...v1, clientCapabilities: { terminal: true } });
    const moved = await third.ask(1, "session/load", load);
    assert.ok("result" in moved, JSON.stringify(moved));
    assert.deepEqual([count("the agent was started"), count("the agent has ended")], [2, 1]);
    assert.ok("result" in (await third.ask(2, "session/close", { sessionId })));
    third.child.stdin.end();
    await third.exit;
  },
);

test(
  "connect answers the editor with an error when the agent cannot be reached, and says why on stderr",
  patience,
  async (t) => {
    const { url, token = "", end } = await startServe(t, probe);
    const cases = [
      [`${url}/nowhere`, /404/],
      ["http://127.0.0.1:1/acp", /127\.0\.0\.1:1/],
      ["ws://127.0.0.1:1/acp", /127\.0\.0\.1:1/],
    ] as const;
    for (const [address, wanted] of cases) {
      const editor = editorOf(address, token);
      const { error } = await editor.ask(0, "initialize", v1);
      assert.match(JSON.stringify(error), /-32067/);
      assert.match(JSON.stringify(error), wanted);
      assert.equal((await editor.exit).code, 5, editor.complaints);
      assert.match(editor.complaints, wanted);
      assert.ok(!`${editor.complaints}${JSON.stringify(error)}`.includes(token));
    }
    const editor = editorOf(url.replace("http", "ws"), token);
    await editor.ask(0, "initialize", v1);
    assert.equal(await end("SIGTERM"), 0);
    assert.equal((await editor.exit).code, 5, editor.complaints);
    assert.match(editor.complaints, /the server was shut down/);
  },
);

test(
  "SIGTERM lets an open request finish, and exits with 0; connect ends too, and says why",
  patience,
  async (t) => {
    const late = `
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const answer = () => console.log(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      if (method === "late") process.on("SIGUSR2", answer);
      else answer();
      console.error("asked for " + method);
    });
  `;
    const command = ["--", process.execPath, "--eval", late];
    const { url, token = "", end, logged } = await startServe(t, probe, command);
    const editor = editorOf(url.replace("http", "ws"), token);
    await editor.ask(0, "initialize", {});
    const answered = editor.ask(1, "late", {});
    await logged(({ text }) => String(text).includes("asked for late"));
    const ended = end("SIGTERM");
    await logged(({ message }) => /^stopping.*1 agent is busy, and has up to 30 s/.test(String(message)));
    const { pid } = await logged(({ message }) => message === "the agent was started");
    process.kill(Number(pid), "SIGUSR2");
    assert.ok("result" in (await answered));
    assert.equal(await ended, 0);
    assert.equal((await editor.exit).code, 5);
    assert.match(editor.complaints, /the server was shut down/);
  },
);

test("a second SIGTERM ends it at once, with its agents, and the exit code is 0", patience, async (t) => {
  const command = ["--", ...scriptedCommand({ otherwise: [{ ask: "Go on?" }] })];
  const { url, token = "", child, end, logged } = await startServe(t, probe, command);
  const editor = editorOf(url, token);
  const sessionId = await editor.open(1);
  editor.send({ id: 2, method: "session/prompt", params: prompt(sessionId, "hello") });
  await editor.until(({ method }) => method === "session/request_permission");
  child.kill("SIGTERM");
  await logged(({ message }) => String(message).startsWith("stopping"));
  // nobody answers, so that the turn would take the whole time
  const late = await probe.parley(["run", "--url", url, "hi"], { env: { PARLEY_TOKEN: token } });
  assert.equal(late.status, 5, "no new clients");
  assert.equal(await end("SIGTERM"), 0);
  assert.equal((await editor.exit).code, 5, editor.complaints);
});

test("serve refuses what is not safe or cannot be, and says what to do (TH18, TH20)", patience, async () => {
  const file = join(probe.folder, "open-token");
  writeFileSync(file, "x".repeat(43), { mode: 0o644 });
  const cases = [
    [
      ["--host", "0.0.0.0"],
      /plain text; give a certificate[\s\S]*--tls-cert and --tls-key, or --behind-proxy/,
    ],
    [["--allow-host", "http://foo"], /--allow-host: expected a name such as/],
    [["--tls-cert", file, "--tls-key", file], /the certificate or key file is wrong: /],
    [["--grace", "soon"], /--grace: expected a time/],
    [
      ["--grace", "10"],
      /--grace: expected a time such as 90s, 10m or 1h, got 10[\s\S]*add the unit: s, m or h/,
    ],
    [["--token-file", file], /can be read by other users[\s\S]*chmod 600/],
    [["--port", "99999"], /--port: expected a number from 0 to 65535/],
    [["--allow-origin", "https://app.example.org/x"], /--allow-origin: expected an origin/],
    [["--tls-cert", "cert.pem"], /--tls-cert and --tls-key together/],
    [["--agent", "claude", "--", "x"], /either --agent or a command/],
    [["--cwd", "no-such-folder"], /--cwd: .*no-such-folder is not a directory/],
    [["hello"], /unexpected argument hello/],
  ] as const;
  for (const [args, wanted] of cases) {
    const { status, stderr } = await probe.parley(["serve", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, wanted);
  }
  const missing = await probe.parley(["serve", "--", "no-such-agent-anywhere"]);
  assert.equal(missing.status, 5, missing.stderr);
  assert.match(missing.stderr, /cannot start no-such-agent-anywhere[\s\S]*install it/);
  for (const [args, wanted] of [
    [["--header", "X=1", "hi"], /--header needs --url/],
    [["--takeover", "hi"], /--takeover needs --url/],
    [["--url", "http://127.0.0.1:1/acp?token=x", "hi"], /address has a token in it[\s\S]*PARLEY_TOKEN/],
    [["--url", "http://127.0.0.1:1/acp", "--agent", "claude", "hi"], /expected --url alone/],
    [["--url", "agents.example.org", "hi"], /expected an address such as/],
  ] as const) {
    const { status, stderr } = await probe.parley(["run", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, wanted);
  }
  const short = await probe.parley(["serve"], { env: { PARLEY_TOKEN: "short-token" } });
  assert.match(short.stderr, /PARLEY_TOKEN: a token must have at least 32 characters/);
  assert.ok(!short.stderr.includes("short-token"));
  assert.equal(readFileSync(file, "utf8").length, 43);
});

test("a server that fails after it has begun to listen ends, and says why", patience, async () => {
  // as on machines that do not let a program look at the network
  const broken = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module";
    os.networkInterfaces = () => { throw new Error("no look at the network") }; syncBuiltinESMExports();`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(broken)}` };
  const { status, stderr } = await probe.parley(["serve", "--host", "0.0.0.0", "--behind-proxy"], { env });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /no look at the network/);
});

test("nothing is left of what was served", patience, () => {
  assert.deepEqual(probe.leftovers(), []);
});

test("a token of the environment is in no command line, no log and not in the agent's environment (TH7, TH20, TH28)", {
  ...patience,
  skip: process.platform !== "linux" && "it reads /proc",
}, async (t) => {
  const secret = "a-secret-token-that-nobody-should-see";
  const { url, token, lines, logged, child } = await startServe(t, probe, [], { PARLEY_TOKEN: secret });
  assert.equal(token, undefined, "it is not printed");
  const editor = editorOf(url, secret);
  await editor.ask(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { pid } = await logged(({ message }) => message === "the agent was started");
  for (const file of [`${child.pid}/cmdline`, `${pid}/cmdline`, `${pid}/environ`])
    assert.ok(!readFileSync(`/proc/${file}`, "utf8").includes(secret), file);
  const refused = await fetch(url, { headers: { authorization: `Bearer ${secret}x` } });
  assert.equal(refused.status, 401);
  assert.ok(
    ![await refused.text(), JSON.stringify([...refused.headers]), JSON.stringify(lines)]
      .join()
      .includes(secret),
  );
  editor.child.stdin.end();
  await editor.exit;
});

test("an empty variable is no token: a new one is printed", patience, async (t) => {
  const { token } = await startServe(t, probe, [], { PARLEY_TOKEN: "" });
  assert.match(token ?? "", /^[\w-]{43}$/);
});
