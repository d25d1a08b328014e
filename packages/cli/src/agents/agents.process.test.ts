// `parley agents` on scripted agents.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { pharo } from "@parley/dialects";
import { agentHome, patience } from "../../test/support/agents-probe.ts";

test("the agents that can be named are listed, with whether they are here", patience, async (t) => {
  const { parley, started, keep } = agentHome(t);
  keep({ agents: { mine: { command: process.execPath } }, client: { agent: "mine" } });
  const { status, stdout } = started(["agents", "list"]);
  assert.equal(status, 0);
  assert.match(stdout, /^ {2}parley +Parley, .*bin\/parley$/m);
  assert.match(
    stdout,
    /^ {2}claude +Claude Code, not installed: npm install --global @agentclientprotocol\/claude-agent-acp$/m,
  );
  assert.match(stdout, /^\* mine +mine, \/.*node/m);
  const { data } = JSON.parse((await parley(["agents", "list", "--json"])).stdout);
  const mine = data.agents.find((each: { name: string }) => each.name === "mine");
  assert.deepEqual([mine.origin, mine.installed, mine.isDefault], ["config", true, true]);
});

test(
  "an agent is added to the config and removed again, and what else is there stays",
  patience,
  async (t) => {
    const { parley, started, agent, configFile } = agentHome(t);
    writeFileSync(configFile(), '{\n  // mine\n  "agent": { "mode": "ask" },\n}\n');
    const [command = "", ...args] = agent({});
    const added = started([
      "agents",
      "add",
      "mine",
      "--env",
      "A=1",
      "--pass",
      "MINE_*",
      "--default",
      "--",
      command,
      ...args,
    ]);
    assert.equal(added.status, 0, added.stderr);
    assert.match(readFileSync(configFile(), "utf8"), /\/\/ mine\n/);
    const again = await parley(["agents", "add", "mine", "--", "x"]);
    assert.deepEqual([again.status, /the agent mine already exists/.test(again.stderr)], [2, true]);
    assert.equal(started(["agents", "check"]).status, 0, "it is the default now");
    assert.equal((await parley(["agents", "remove", "mine"])).status, 0);
    assert.doesNotMatch(readFileSync(configFile(), "utf8"), /mine"/);
    assert.match(readFileSync(configFile(), "utf8"), /\/\/ mine\n/);
    assert.equal(started(["agents", "remove", "mine"]).status, 2);
  },
);

test("an agent is added with its sandbox, its state and its hosts", patience, async (t) => {
  const { parley, folder, configFile } = agentHome(t);
  const words = ["--sandbox", "agent", "--state", folder, "--host", "example.org", "--", "/opt/mine"];
  assert.equal((await parley(["agents", "add", "mine", ...words])).status, 0);
  const { mine } = JSON.parse(readFileSync(configFile(), "utf8")).agents;
  assert.deepEqual(mine, { command: "/opt/mine", sandbox: true, state: [folder], hosts: ["example.org"] });
  const { data } = JSON.parse((await parley(["agents", "list", "--json"])).stdout);
  const listed = data.agents.filter((each: { sandbox?: boolean }) => each.sandbox);
  assert.deepEqual(
    listed.map((each: { name: string }) => each.name),
    ["mine"],
  );
});

test("an agent is added with the edition that it speaks, and spoken to in it", patience, async (t) => {
  const { parley, agent, configFile } = agentHome(t);
  const [command = "", ...args] = agent({ editions: [pharo()] });
  const added = await parley(["agents", "add", "mine", "--edition", "pharo", "--", command, ...args]);
  assert.equal(added.status, 0, added.stderr);
  assert.equal(JSON.parse(readFileSync(configFile(), "utf8")).agents.mine.edition, "pharo");
  assert.match((await parley(["agents"])).stdout, /^ {2}mine +mine, \/.*, speaks pharo$/m);
  const { agents } = JSON.parse((await parley(["agents", "--json"])).stdout).data;
  assert.equal(agents.find((each: { name: string }) => each.name === "mine").edition, "pharo");
  const checked = await parley(["agents", "check", "mine", "--no-tools"]);
  assert.match(checked.stdout, /^protocol: +the dialect pharo of version 1$/m, checked.stderr);
  const { data } = JSON.parse((await parley(["agents", "check", "mine", "--no-tools", "--json"])).stdout);
  assert.deepEqual([data.protocol, data.edition, data.session], [1, "pharo", "ok"]);
  assert.match(
    (await parley(["doctor", "--agent", "mine", "--no-tools"])).stdout,
    /agent mine: .*speaks the dialect pharo of version 1, /,
  );
  const wrong = await parley(["agents", "add", "other", "--edition", "v3", "--", "x"]);
  assert.deepEqual(
    [wrong.status, wrong.stderr.split("\n")[0]],
    [2, "parley: --edition: expected v1, v2, pharo, scoped, got v3"],
  );
});

test("an agent that answers in a dialect is refused with the option that enables it", patience, async (t) => {
  const { parley, agent } = agentHome(t);
  const answer = { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] };
  const wire = { replies: [{ method: "initialize", result: answer }] };
  const command = agent({ editions: ["v1"], wire });
  const refused = await parley(["agents", "check", "--", ...command]);
  assert.equal(refused.status, 5);
  assert.match(
    refused.stderr,
    /the answer to initialize: .* add "pharo" to the editions \(with parley: --edition pharo,/,
  );
  assert.match(refused.stderr, /docs\/editions\.md says which edition is spoken when/);
});

test("a name or an address that cannot be used is not written", patience, async (t) => {
  const { parley, configFile } = agentHome(t);
  for (const argv of [
    ["a b", "--", "x"],
    ["far", "--url", "ftp://x"],
    ["web", "--url", "http://x"],
    ["parley", "--", "x"],
    ["both", "--url", "ws://x", "--", "x"],
    ["none"],
  ]) {
    assert.equal((await parley(["agents", "add", ...argv])).status, 2, argv.join(" "));
  }
  assert.equal(existsSync(configFile()), false);
});

test(
  "an agent of relative files is checked as it is run, and added to be started from anywhere",
  patience,
  async (t) => {
    const { parley, agent, folder, configFile } = agentHome(t);
    const [node = "", condition = "", program = "", scenario = ""] = agent({ name: "who" });
    const words = [relative(folder, node), condition, program, `./${basename(scenario)}`];
    const checked = await parley(["agents", "check", "--no-tools", "--", ...words]);
    assert.equal(checked.status, 0, checked.stderr);
    assert.equal((await parley(["agents", "add", "mine", "--", ...words, "acp"])).status, 0);
    const { mine } = JSON.parse(readFileSync(configFile(), "utf8")).agents;
    assert.deepEqual([mine.command, ...mine.args], [node, condition, program, scenario, "acp"]);
    assert.equal((await parley(["run", "-a", "mine", "-C", "/", "--no-history", "hi"])).status, 0);
  },
);

test(
  "a name that parley knows by itself is replaced only by force, and the demo still shows our agent",
  patience,
  async (t) => {
    const { parley } = agentHome(t);
    const refused = await parley(["agents", "add", "parley", "--", "x"]);
    assert.match(refused.stderr, /the agent parley already exists and is built in\nparley: .*--force/);
    assert.equal((await parley(["agents", "add", "parley", "--force", "--", "/nowhere/x"])).status, 0);
    const demo = await parley(["demo"]);
    assert.equal(demo.status, 0, demo.stderr);
    assert.match(demo.stdout, /two loaves of bread/);
  },
);

test(
  "an agent is checked: who it is, how long it took, what it offers; nothing is logged in to",
  patience,
  async (t) => {
    const { parley, agent } = agentHome(t);
    const fine = await parley([
      "agents",
      "check",
      "--no-tools",
      "--json",
      "--",
      ...agent({ name: "who", title: "Who" }),
    ]);
    assert.equal(fine.status, 0, fine.stderr);
    const { data } = JSON.parse(fine.stdout);
    assert.partialDeepStrictEqual(data, { name: "who", title: "Who", protocol: 2, session: "ok" });
    assert.ok(data.handshakeMs > 0);
    const methods = [{ type: "agent" as const, methodId: "web", name: "Browser" }];
    const locked = await parley([
      "agents",
      "check",
      "--",
      ...agent({ loginRequired: true, authMethods: methods }),
    ]);
    assert.equal(locked.status, 6);
    assert.match(locked.stdout, /^logins: +web \(Browser\)$/m);
    const missing = await parley(["agents", "check", "claude"]);
    assert.equal(missing.status, 5);
    assert.match(missing.stderr, /was not found: it is not on PATH\nparley: install it: npm/);
    const crashing = await parley([
      "agents",
      "check",
      "--json",
      "--",
      process.execPath,
      "-e",
      "console.error('no luck'); process.exit(3)",
    ]);
    assert.equal(crashing.status, 5);
    const { error } = JSON.parse(crashing.stdout);
    assert.deepEqual([error.code, /no luck/.test(error.message)], ["exited", true]);
  },
);

test(
  "what a login wants is asked for, kept for this user, given to that agent only, and forgotten by a logout",
  patience,
  async (t) => {
    const { parley, started, agent, keep, credentialsFile } = agentHome(t);
    const vars = [{ id: "key", name: "Key", type: "env_var", vars: [{ name: "THEIR_KEY" }] }];
    const wire = { replies: [{ method: "initialize", patch: { authMethods: vars } }] };
    const [command, ...args] = agent({ editions: ["v1"], wire });
    keep({ agents: { theirs: { command, args } } });
    const login = started(["agents", "login", "theirs"], { input: "canary-secret\n" });
    assert.equal(login.status, 0, login.stderr);
    assert.doesNotMatch(login.stdout + login.stderr, /canary-secret/);
    assert.equal(statSync(credentialsFile()).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(credentialsFile(), "utf8")), {
      theirs: { THEIR_KEY: "canary-secret" },
    });
    const logout = await parley(["agents", "logout", "theirs", "--json"]);
    assert.equal(logout.status, 0);
    assert.deepEqual(JSON.parse(logout.stdout).data, { agent: "theirs", loggedOut: false, forgotten: true });
    assert.equal(existsSync(credentialsFile()), false);
  },
);

test("a key is forgotten by a logout also where the agent is gone", patience, async (t) => {
  const { parley, keep, credentialsFile } = agentHome(t);
  keep({ agents: { theirs: { command: "/nowhere/agent" } } });
  const none = await parley(["agents", "logout", "theirs"]);
  assert.deepEqual([none.status, none.stdout], [5, ""]);
  mkdirSync(dirname(credentialsFile()), { recursive: true });
  writeFileSync(credentialsFile(), JSON.stringify({ theirs: { THEIR_KEY: "canary-secret" } }));
  const { status, stdout } = await parley(["agents", "logout", "theirs"]);
  assert.equal(status, 0);
  assert.match(stdout, /^Could not log out of theirs itself: .*\nDeleted its stored credentials\.\n$/);
  assert.equal(existsSync(credentialsFile()), false);
});

test(
  "a login in a terminal runs the agent's own program, and an agent without a way to log in says so",
  patience,
  async (t) => {
    const { parley, started, agent, keep, folder } = agentHome(t);
    const mark = join(folder, "logged-in");
    const [command = "", ...args] = agent({
      authMethods: [{ type: "terminal", methodId: "tty", name: "Terminal", args: ["--mark", mark] }],
    });
    const plain = agent({});
    keep({ agents: { theirs: { command, args }, plain: { command: plain[0], args: plain.slice(1) } } });
    const { status, stdout, stderr } = started(["agents", "login", "theirs"]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Logged in to theirs/);
    assert.ok(existsSync(mark));
    rmSync(mark);
    const typed = started(["agents", "login", "--", command, ...args]);
    assert.equal(typed.status, 0, typed.stderr);
    assert.ok(existsSync(mark));
    const none = await parley(["agents", "login", "plain"]);
    assert.deepEqual([none.status, /offers no login method/.test(none.stderr)], [1, true]);
    const ours = await parley(["agents", "login", "parley"]);
    assert.deepEqual([ours.status, /with parley agent login\n/.test(ours.stderr)], [1, true]);
  },
);

test(
  "what a program that does not start wrote to stderr is shown once, also to those who see all of it",
  patience,
  async (t) => {
    const { parley } = agentHome(t);
    const failing = [process.execPath, "-e", "console.error('no luck'); process.exit(3)"];
    for (const flags of [[], ["-v"]]) {
      const { status, stderr } = await parley(["run", ...flags, "--no-history", "hi", "--", ...failing]);
      assert.equal(status, 5);
      assert.equal(stderr.split("no luck").length - 1, 1, stderr);
    }
    const mute = await parley(["run", "--no-history", "hi", "--", "true"]);
    assert.match(mute.stderr, /it wrote nothing to stderr; check that this command serves ACP/);
  },
);

test("an agent that nobody knows is told with those that there are", patience, async (t) => {
  const { parley } = agentHome(t);
  const { status, stdout } = await parley(["agents", "check", "nobody", "--json"]);
  assert.equal(status, 2);
  assert.match(JSON.parse(stdout).error.message, /unknown agent nobody; known agents: parley, claude/);
});

test(
  "a run uses the agent of the config, with its mode, its options and the MCP servers",
  patience,
  async (t) => {
    const { parley, agent, keep } = agentHome(t);
    const select = (configId: string, category: "mode" | "thought_level") => ({
      configId,
      name: configId,
      category,
      type: "select" as const,
      currentValue: "low",
      options: [
        { value: "low", name: "Low" },
        { value: "high", name: "High" },
      ],
    });
    const [command, ...args] = agent({
      editions: ["v1"],
      open: { configOptions: [select("m", "mode"), select("effort", "thought_level")] },
      otherwise: [{ say: "done" }],
    });
    const mcpServers = { files: { command: "/nowhere/mcp" }, web: { url: "http://127.0.0.1:9/mcp" } };
    keep({ agents: { mine: { command, args, mode: "high" } }, client: { agent: "mine", mcpServers } });
    const { status, stdout, stderr } = await parley([
      "run",
      "go",
      "--set",
      "effort=high",
      "--format",
      "json",
    ]);
    assert.equal(status, 0, stdout + stderr);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const chosen = lines.flatMap(({ update }) =>
      update?.sessionUpdate === "config_option_update" ? [update.configOptions] : [],
    );
    assert.deepEqual(
      chosen.at(-1)?.map(({ currentValue }: { currentValue: string }) => currentValue),
      ["high", "high"],
    );
    assert.match(JSON.stringify(lines), /does not support these configured MCP servers: web/);
  },
);
