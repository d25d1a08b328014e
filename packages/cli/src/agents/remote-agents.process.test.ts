// Agents behind an address, by the command as a shell runs it: HTTP and WebSocket, against the official SDK's own server.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { interopCommand } from "../../../acp/test/interop/agent-command.ts";
import { startServer } from "../../../acp/test/interop/server-process.ts";
import { agentHome, patience } from "../../test/support/agents-probe.ts";
import { interruptAt, RunProbe } from "../../test/support/run-probe.ts";
import { startServe } from "../../test/support/serve-probe.ts";

const token = "word-that-nobody-sees";

/** A home whose config has the agent `web` over HTTP and `sock` over a WebSocket. */
async function remoteHome(t: TestContext, version: string, headers = { Authorization: `Bearer ${token}` }) {
  const command = interopCommand("app-sdk-server.ts", version, "logged-in", `token=${token}`);
  const server = await startServer(command);
  t.after(() => server.end());
  const home = agentHome(t);
  const agents = {
    web: { transport: "http", url: server.url, headers },
    sock: { transport: "websocket", url: server.url.replace("http", "ws"), headers },
  };
  home.keep({ agents });
  return { ...home, server, agents };
}

const probe = new RunProbe();

for (const version of ["v1", "v2"]) {
  for (const name of ["web", "sock"]) {
    test(
      `an agent behind an address is checked, prompted, asked by and cancelled (${name}, ${version}, C71, H3)`,
      patience,
      async (t) => {
        const { started, folder } = await remoteHome(t, version);
        const run = (...args: string[]) => started(["run", "--agent", name, "--no-history", ...args]);
        const checked = started(["agents", "check", name, "--json"]);
        assert.equal(checked.status, 0, checked.stderr);
        const { data } = JSON.parse(checked.stdout);
        assert.deepEqual([data.name, `v${data.protocol}`, data.session], ["interop-agent", version, "ok"]);
        const updates = run("every update");
        assert.equal(updates.status, 0, updates.stderr);
        const echo = run("say this again");
        assert.match(echo.stdout, /say this again/);
        const asking = run("ask twice");
        assert.equal(asking.status, 3, "nobody is there to say yes");
        const doctor = started(["doctor", "--agent", name]);
        assert.match(doctor.stdout, new RegExp(`agent ${name}.*opens sessions`));
        const cancelled = await probe.parley(
          ["run", "--agent", name, "--no-history", "--json", "until cancelled"],
          { env: { PARLEY_HOME: folder }, ...interruptAt('"state":"running"') },
        );
        assert.equal(cancelled.status, 130, cancelled.stderr);
        for (const { stdout, stderr } of [checked, updates, echo, asking, doctor, cancelled]) {
          assert.ok(!(stdout + stderr).includes(token));
        }
      },
    );
  }
}

test(
  "a wrong key, a wrong path and a server that is not there are told with what to do, never with the key",
  patience,
  async (t) => {
    const wrong = "wrong-word-that-nobody-sees";
    const { started, keep, agents, server } = await remoteHome(t, "v1", { Authorization: `Bearer ${wrong}` });
    const told = (name: string) => {
      const { status, stdout, stderr } = started(["run", "--agent", name, "hi"]);
      assert.equal(status, 5, stderr);
      assert.ok(!(stdout + stderr).includes(wrong), stderr);
      return stderr;
    };
    assert.match(told("web"), /web: .*got 401 Unauthorized[\s\S]*check the headers of this agent/);
    assert.match(told("sock"), /sock: .*got 401 [\s\S]*check the headers of this agent/);
    const elsewhere = Object.fromEntries(
      Object.entries(agents).map(([name, agent]) => [name, { ...agent, url: `${agent.url}/elsewhere` }]),
    );
    keep({ agents: elsewhere });
    for (const name of ["web", "sock"]) assert.match(told(name), /got 404 [\s\S]*check the path of the url/);
    server.end();
    await server.exited;
    keep({ agents });
    for (const name of ["web", "sock"]) assert.match(told(name), /ECONNREFUSED[\s\S]*check the address/);
  },
);

test(
  "agents behind addresses are added by their address, in plain text on this machine only (H17)",
  patience,
  (t) => {
    const { started, configFile } = agentHome(t);
    const add = (name: string, url: string) =>
      started(["agents", "add", name, "--url", url, "--header", "X-Key=1"]);
    for (const url of [
      "http://agents.example.com/acp",
      "ws://agents.example.com/acp",
      "http://",
      "ftp://x",
    ]) {
      const { status, stderr } = add("far", url);
      assert.equal(status, 2, stderr);
    }
    assert.match(add("far", "http://agents.example.com/acp").stderr, /use https:\/\/\n[\s\S]*allowPlainText/);
    assert.equal(add("web", "http://127.0.0.1:8080/acp").status, 0);
    assert.equal(add("sock", "wss://agents.example.com/acp").status, 0);
    const { agents } = JSON.parse(readFileSync(configFile(), "utf8"));
    assert.deepEqual([agents.web.transport, agents.sock.transport], ["http", "websocket"]);
    writeFileSync(
      configFile(),
      JSON.stringify({ agents: { far: { url: "http://agents.example.com/acp" } } }),
    );
    const { status, stderr } = started(["agents", "check", "far"]);
    assert.equal(status, 5);
    assert.match(stderr, /can be read and changed by anybody on the way[\s\S]*allowPlainText/);
  },
);

test(
  "a remote agent that refuses the temporary folder is checked with --cwd, a folder of its machine",
  patience,
  async (t) => {
    const file = join(probe.folder, "one-folder.mjs");
    writeFileSync(
      file,
      `import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (text) => {
  const { id, method, params } = JSON.parse(text);
  const send = (answer) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
  if (method === "initialize") send({ result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (params?.cwd === "/srv/only-there") send({ result: { sessionId: "s" } });
  else if (id !== undefined) send({ error: { code: -32602, message: "Workspace mismatch" } });
});
`,
    );
    const served = await startServe(t, probe, ["--port", "0", "--", process.execPath, file]);
    const { started, keep } = agentHome(t);
    keep({ agents: { far: { url: served.url, headers: { Authorization: `Bearer ${served.token}` } } } });
    const refused = started(["agents", "check", "far"]);
    assert.equal(refused.status, 1, refused.stderr);
    assert.match(
      refused.stdout,
      /session: +not opened: Workspace mismatch\n +the check used .* with --cwd DIR\n/,
    );
    const opened = started(["agents", "check", "far", "--cwd", "/srv/only-there"]);
    assert.equal(opened.status, 0, opened.stderr + opened.stdout);
  },
);
