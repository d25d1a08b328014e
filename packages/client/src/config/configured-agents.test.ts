import assert from "node:assert/strict";
import { test } from "node:test";
import { agentEntries } from "@parley/client/config";
import { readyAgents } from "@parley/client/launch";
import { type ClientConfig, configuredAgents, configuredMcpServers, parseConfig } from "../config.ts";

const ready = readyAgents({ command: "/opt/parley", pass: ["WORK_KEY"] });
const agents = (config: ClientConfig["agents"]) =>
  agentEntries(ready, config === undefined ? {} : { agents: config });

test("agents of the config stand beside the known ones, in the shapes that others use", () => {
  const all = agents({
    mine: { transport: "stdio", command: "/opt/mine", args: ["--acp"], env: { A: "1" }, pass: ["MINE_*"] },
    far: {
      transport: "websocket",
      url: "wss://agents.example.com/acp",
      headers: { Authorization: "Bearer x" },
    },
    web: { transport: "http", url: "https://agents.example.com/acp" },
    short: { url: "ws://127.0.0.1:9/" },
  });
  assert.deepEqual([...all.keys()].slice(0, 3), ["parley", "claude", "codex"]);
  assert.deepEqual([...all.keys()].slice(-4), ["mine", "far", "web", "short"]);
  assert.deepEqual(all.get("mine"), {
    name: "mine",
    origin: "config",
    transport: "stdio",
    command: "/opt/mine",
    args: ["--acp"],
    env: { A: "1" },
    pass: ["MINE_*"],
  });
  assert.partialDeepStrictEqual(all.get("far"), {
    transport: "websocket",
    headers: { Authorization: "Bearer x" },
  });
  assert.equal(all.get("web")?.transport, "http");
  assert.equal(all.get("short")?.transport, "websocket");
});

test("an agent of the config names the edition that it speaks, and only one that exists", () => {
  const all = agents({
    mine: { command: "/opt/mine", edition: "scoped" },
    far: { url: "wss://agents.example.com/acp", edition: "pharo" },
    claude: { edition: "v1" },
  });
  assert.deepEqual(
    ["mine", "far", "claude", "codex"].map((name) => all.get(name)?.edition),
    ["scoped", "pharo", "v1", undefined],
  );
  assert.throws(
    () => parseConfig('{ "agents": { "mine": { "command": "x", "edition": "v3" } } }', "config.json"),
    { message: "config.json: agents.mine.edition must be one of v1, v2, pharo, scoped, got another text" },
  );
});

test("a known agent keeps what the config does not say, and begins as the config wants", () => {
  const all = agents({
    claude: { model: "opus", mode: "plan", options: { effort: "high" }, env: { DEBUG: "1" }, pass: ["MORE"] },
  });
  const entry = all.get("claude") ?? assert.fail();
  assert.deepEqual(entry.setup, { model: "opus", mode: "plan", options: { effort: "high" } });
  assert.partialDeepStrictEqual(entry, { command: "claude-agent-acp", env: { DEBUG: "1" } });
  assert.ok(
    entry.transport === "stdio" && entry.pass?.includes("MORE") && entry.pass.includes("ANTHROPIC_*"),
  );
});

test("a known agent keeps its own state and hosts in a sandbox that the config switches on", () => {
  const claude = agents({ claude: { sandbox: true, state: ["~/.more"], hosts: ["*.example.org"] } }).get(
    "claude",
  );
  assert.partialDeepStrictEqual(claude, {
    command: "claude-agent-acp",
    sandbox: true,
    state: ["~/.more"],
    hosts: ["*.example.org"],
    needs: ready.find(({ name }) => name === "claude")?.needs,
  });
  for (const entry of agents({}).values())
    assert.ok(entry.transport === "stdio" && entry.sandbox === undefined, entry.name);
});

test("our own agent is given the variables that its config names", () => {
  assert.ok(ready[0]?.pass?.includes("WORK_KEY"));
  assert.deepEqual([ready[0]?.command, ready[0]?.args], ["/opt/parley", ["agent"]]);
});

test("every entry that cannot be used is told, with what is wanted", () => {
  assert.throws(
    () =>
      agents({
        "a b": { command: "x" },
        both: { command: "x", url: "ws://x" },
        none: {},
        wrong: { url: "ftp://x" },
        stdio: { transport: "stdio", url: "ws://x" },
        http: { transport: "http", command: "x" },
        args: { url: "ws://x", args: [] },
        remote: { url: "ws://x", sandbox: true },
        state: { command: "x", state: ["here"] },
        host: { command: "x", hosts: ["https://example.org/"] },
      }),
    {
      name: "ConfigError",
      message: [
        'agents."a b" has a name with characters that are not allowed: use letters, digits, . _ - and @',
        "agents.both has a command and a url; give only one of them",
        "agents.none needs a command or a url",
        "agents.wrong has a url that is neither ws://, wss://, http:// nor https://",
        "agents.stdio has a url with transport stdio, which needs a command",
        "agents.http needs a url with transport http",
        "agents.args has args, which only a command takes",
        "agents.remote has a sandbox, state or hosts with a url; only a program of this machine can run in a sandbox",
        "agents.state has a state that is neither an absolute path nor ~/ and a path",
        "agents.host has hosts that cannot match: expected a host without a scheme or a path: example.org, *.example.org or example.org:443",
      ].join("\n"),
    },
  );
});

test("MCP servers are written as in most tools, and given as the protocol has them", () => {
  const mcpServers = {
    files: { command: "mcp-files", args: ["."], env: { A: "1" } },
    web: { url: "https://mcp.example.com/mcp", headers: { Key: "x" } },
    old: { type: "sse" as const, url: "https://mcp.example.com/sse" },
  };
  assert.deepEqual(configuredMcpServers({ client: { mcpServers } }), [
    { type: "stdio", name: "files", command: "mcp-files", args: ["."], env: [{ name: "A", value: "1" }] },
    { type: "http", name: "web", url: "https://mcp.example.com/mcp", headers: [{ name: "Key", value: "x" }] },
    { type: "sse", name: "old", url: "https://mcp.example.com/sse", headers: [] },
  ]);
  assert.deepEqual(configuredMcpServers({}), []);
  assert.throws(
    () => configuredMcpServers({ client: { mcpServers: { bad: {} } } }),
    /the MCP server bad needs/,
  );
});

test("an app gets all agents by their names, as connectAgent takes them", () => {
  const all = configuredAgents({ agents: { mine: { command: "mine", mode: "plan" } } });
  assert.partialDeepStrictEqual(all["mine"], { command: "mine", args: [], setup: { mode: "plan" } });
  assert.partialDeepStrictEqual(all["claude"], { command: "claude-agent-acp" });
  assert.partialDeepStrictEqual(all["parley"], { command: "parley", args: ["agent"] });
});

test("an app reads the config file, and is told what is wrong with it", () => {
  const { config, warnings } = parseConfig(
    '{ "agents": { "mine": { "command": "mine" } }, "agent": { "any": [1] }, "agnets": {} } // ours',
    "config.json",
  );
  assert.deepEqual(config.agents, { mine: { command: "mine" } });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^config\.json: agnets is not known/);
  assert.throws(() => parseConfig('{ "agents": 1 }', "config.json"), {
    name: "ConfigError",
    message: /^config\.json: agents must be an object, got 1/,
  });
});
