// `parley doctor` as a shell runs it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { agentHome, patience } from "../../test/support/agents-probe.ts";
import { launcher } from "../settings/installation.ts";
import type { Finding } from "./examine.ts";
import { sandboxFinding } from "./examine-sandbox.ts";

const findings = (stdout: string): readonly Finding[] => JSON.parse(stdout).data.findings;
const stateOf = (all: readonly Finding[], what: string) => all.find((each) => each.what === what)?.state;

test("a machine on which everything works is told so, and what could be there", patience, (t) => {
  const { started } = agentHome(t);
  const { status, stdout, stderr } = started(["doctor"]);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^ok +node: \d+/m);
  assert.match(
    stdout,
    /^ok +agent parley: Parley .*speaks version 2, handshake \d+ ms, opens sessions; tools: connected \(parley, \d+ ms, over ACP\)$/m,
  );
  assert.match(stdout, /^(?:ok +sandbox: bubblewrap \d|warning +sandbox: .*\n +→ \S)/m);
  assert.match(stdout, /^- +model: offline: no provider has a key\n +→ /m);
  assert.match(stdout, /^- +other agents: not installed: claude, /m);
  assert.match(stdout, /^ok +policy: no file at .*, so the defaults apply$/m);
  const hasWarnings = /^warning/m.test(stdout);
  assert.match(
    stdout,
    hasWarnings ? /\d warnings? found; see above for what to do\.\n$/ : /No problems found\.\n$/,
  );
});

test(
  "a policy that cannot be used is a problem, and settings of the folder are warned about once",
  patience,
  async (t) => {
    const { folder, parley } = agentHome(t);
    mkdirSync(join(folder, "config"), { recursive: true });
    writeFileSync(join(folder, "config", "policy"), "allow exec npm test\ndenny read x\n");
    const servers = { local: { url: "http://localhost:1/mcp" }, far: { url: "http://db.invalid/mcp" } };
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    const { status, stdout } = await parley(["doctor", "--agent", "parley"]);
    assert.equal(status, 1);
    assert.match(
      stdout,
      /^BROKEN +policy: \S+policy:2: expected a line that starts with allow, ask or deny/m,
    );
    assert.equal(stdout.split("you have not trusted this folder").length - 1, 1);
    assert.equal(stdout.match(/^warning +folder settings: /gm)?.length, 2);
    assert.match(stdout, /MCP server local in \.mcp\.json is ignored: localhost:1 is .* agent\.privateHosts/);
    assert.match(stdout, /1 problem and \d+ warnings? found; see above for what to do\.\n$/);
  },
);

test("where no sandbox can start, the reason and the fix are told", () => {
  const failure = {
    problem: "not_installed",
    reason: "bubblewrap (bwrap) is not installed",
    fix: "apt-get …",
  } as const;
  assert.deepEqual(sandboxFinding({ isAvailable: false, ...failure }), {
    what: "sandbox",
    state: "warning",
    detail: failure.reason,
    todo: failure.fix,
  });
  const hostsProblem = { reason: "socat is not installed", fix: "apt-get install socat" };
  const { state, todo } = sandboxFinding({
    isAvailable: true,
    program: "/usr/bin/bwrap",
    version: "0.8.0",
    hostsProblem,
  });
  assert.deepEqual([state, todo], ["warning", hostsProblem.fix]);
});

test("an agent that does not exist is a usage error, before anything is looked at", patience, async (t) => {
  const { status, stdout, stderr } = await agentHome(t).parley(["doctor", "--agent", "nope"]);
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /unknown agent nope; known agents: parley, /);
});

test("what is broken is told with what to do: agents, logins, the model", patience, async (t) => {
  const { parley, agent, keep } = agentHome(t);
  const entry = ([command, ...args]: readonly string[]) => ({ command, args });
  const authMethods = [{ type: "agent" as const, methodId: "web", name: "Browser" }];
  keep({
    agent: {
      model: "work/big",
      providers: { work: { baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "WORK_KEY", models: { big: {} } } },
    },
    agents: {
      fine: entry(agent({ title: "Fine" })),
      locked: entry(agent({ loginRequired: true, authMethods })),
      gone: { command: "/nowhere/agent" },
      dying: entry([process.execPath, "-e", "console.error('no licence'); process.exit(1)"]),
    },
  });
  const { status, stdout } = await parley(["doctor", "--no-tools", "--json"]);
  assert.equal(status, 1);
  const all = findings(stdout);
  assert.equal(stateOf(all, "agent fine"), "ok");
  const todo = Object.fromEntries(all.map((each) => [each.what, each.todo]));
  assert.equal(stateOf(all, "agent locked"), "broken");
  assert.equal(todo["agent locked"], "parley agents login locked");
  assert.equal(stateOf(all, "agent gone"), "broken");
  assert.equal(todo["agent gone"], "check the path, or install it");
  assert.match(all.find(({ what }) => what === "agent dying")?.detail ?? "", /no licence/);
  assert.equal(stateOf(all, "model"), "broken");
  const one = await parley(["doctor", "--agent", "fine", "--no-tools", "--json"]);
  const examined = findings(one.stdout).filter(({ what }) => what.startsWith("agent "));
  assert.deepEqual(
    examined.map(({ what }) => what),
    ["agent fine"],
  );
  assert.equal((await parley(["doctor", "--agent", "nobody"])).status, 2);
});

test("a config that cannot be used is told, and the rest is looked at all the same", patience, async (t) => {
  const { parley, configFile } = agentHome(t);
  writeFileSync(configFile(), '{"agent": {"mode": "yolo"}}');
  const { status, stdout } = await parley(["doctor", "--json"]);
  assert.equal(status, 1);
  const all = findings(stdout);
  const states = ["config", "node", "agents"].map((what) => stateOf(all, what));
  assert.deepEqual(states, ["broken", "ok", "missing"]);
});

/** Answers initialize, and says what it has of the environment. */
const mcpProgram = `
process.stdin.once("data", (line) => {
  const { id } = JSON.parse(line);
  const result = { protocolVersion: "2025-06-18", serverInfo: { name: "stdio-" + process.env.DECLARED, version: process.env.SECRET_TOKEN ?? "1" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});`;

test(
  "MCP servers of the config are asked who they are, by pipe, over HTTP and as a stream",
  patience,
  async (t) => {
    const { folder, keep } = agentHome(t);
    const server = createServer((request, response) => {
      if (request.url === "/locked") return void response.writeHead(401).end();
      if (request.url === "/moved") return void response.writeHead(307, { location: "/mcp" }).end();
      const stream = request.url === "/stream";
      const name = request.headers["x-who"] ?? "http";
      const answer = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        result: { protocolVersion: "2025-06-18", serverInfo: { name, version: "2" } },
      });
      response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
      // a stream stays open
      if (stream) response.write(`event: message\ndata: ${answer}\n\n`);
      else response.end(answer);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    mkdirSync(join(folder, "x"), { recursive: true });
    keep({
      client: {
        mcpServers: {
          pipe: { command: process.execPath, args: ["-e", mcpProgram], env: { DECLARED: "yes" } },
          web: { url: `${base}/mcp`, headers: { "x-who": "named" } },
          stream: { url: `${base}/stream` },
          locked: { url: `${base}/locked` },
          moved: { url: `${base}/moved` },
          gone: { command: "/nowhere/mcp" },
          dying: { command: process.execPath, args: ["-e", "throw new Error('no port')"] },
        },
      },
    });
    const env = { PATH: "/usr/bin:/bin", HOME: folder, PARLEY_HOME: folder, SECRET_TOKEN: "canary" };
    // not spawnSync: the server is in this process
    const child = spawn(launcher, ["doctor", "--agent", "parley", "--json"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [stdout] = await Promise.all([text(child.stdout), once(child, "exit")]);
    const all = findings(stdout);
    const detail = Object.fromEntries(all.map((each) => [each.what, `${each.state} ${each.detail}`]));
    assert.equal(detail["MCP server pipe"], "ok stdio-yes 1, MCP 2025-06-18");
    assert.equal(detail["MCP server web"], "ok named 2, MCP 2025-06-18");
    assert.equal(detail["MCP server stream"], "ok http 2, MCP 2025-06-18");
    assert.equal(detail["MCP server locked"], "broken login required (401)");
    assert.match(detail["MCP server moved"] ?? "", /^broken it redirects to \/mcp; set its url/);
    assert.equal(detail["MCP server gone"], "broken command not found: /nowhere/mcp");
    assert.match(detail["MCP server dying"] ?? "", /^broken .*no port$/s);
  },
);
