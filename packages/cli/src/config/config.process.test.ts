// `parley config`.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { agentHome, patience } from "../../test/support/agents-probe.ts";

test("values are set, read and taken away, and comments stay", patience, async (t) => {
  const { parley, started, configFile } = agentHome(t);
  assert.equal(started(["config", "path"]).stdout, `${configFile()}\n`);
  assert.equal(existsSync(configFile()), false);
  assert.equal(started(["config", "set", "agent.mode", "code"]).status, 0);
  assert.equal(statSync(configFile()).mode & 0o777, 0o600);
  writeFileSync(configFile(), `// mine\n${readFileSync(configFile(), "utf8")}`);
  assert.equal((await parley(["config", "set", "agent.maxTurnRequests", "7"])).status, 0);
  assert.equal((await parley(["config", "get", "agent.mode"])).stdout, "code\n");
  assert.deepEqual(JSON.parse((await parley(["config", "show", "--json"])).stdout), {
    v: 1,
    data: { agent: { mode: "code", maxTurnRequests: 7 } },
  });
  assert.match((await parley(["config", "unset", "agent.mode"])).stdout, /^Removed agent\.mode from /);
  assert.match(
    (await parley(["config", "unset", "agent.mode"])).stdout,
    /^agent\.mode was not set in .*nothing changed/,
  );
  assert.equal(started(["config", "get", "agent.mode"]).status, 1);
  assert.match(readFileSync(configFile(), "utf8"), /^\/\/ mine\n/);
  assert.equal((await parley(["config", "set", 'agents."my.agent".command', "/opt/x"])).status, 0);
  assert.equal((await parley(["config", "get", 'agents."my.agent".command'])).stdout, "/opt/x\n");
});

test("a value that could not be used is refused, and nothing is written", patience, async (t) => {
  const { parley, configFile, keep } = agentHome(t);
  keep({ agent: { mode: "ask" } });
  const before = readFileSync(configFile(), "utf8");
  for (const [argv, wanted] of [
    [["agent.mode", "yolo"], /agent\.mode must be one of ask, code, architect, chat, got another text/],
    [["agents.x.url", "ftp://x"], /agents\.x has a url that is neither/],
    [["client.mcpServers.x.url", "7"], /client\.mcpServers\.x\.url must be a text, got 7/],
    [["agent.model", "foo/bar"], /agent\.model: The model "foo\/bar" has an unknown provider/],
    [["agent.mod", "code"], /agent\.mod is not known; there are .*mode/],
    [["agent..mode", "code"], /is not the name of a value/],
    [["agent.mode"], /expected a name and a value/],
  ] as const) {
    const { status, stderr } = await parley(["config", "set", ...argv]);
    assert.equal(status, 2, argv.join(" "));
    assert.match(stderr, wanted);
  }
  assert.equal(readFileSync(configFile(), "utf8"), before);
  // a file that is broken already is not made worse
  writeFileSync(configFile(), "{");
  const { status, stderr } = await parley(["config", "set", "agent.mode", "code"]);
  assert.deepEqual([status, /config\.json:1:2: not JSON/.test(stderr)], [2, true]);
  assert.equal(readFileSync(configFile(), "utf8"), "{");
});

test("a model without a provider is found by the check, and --model overrides it", patience, async (t) => {
  const { parley, keep } = agentHome(t);
  keep({ agent: { model: "foo/bar" } });
  const { status, stderr } = await parley(["config", "check"]);
  assert.deepEqual(
    [status, /agent\.model: The model "foo\/bar" has an unknown provider/.test(stderr)],
    [2, true],
  );
  const run = await parley(["run", "--no-history", "--model", "offline", "hello"]);
  assert.equal(run.status, 0, run.stderr);
  // it can be corrected by the same command
  assert.equal((await parley(["config", "set", "agent.model", "offline"])).status, 0);
});

test("secrets are not shown", patience, async (t) => {
  const { parley, keep } = agentHome(t);
  const secret = "canary-secret";
  keep({
    agent: {
      providers: { work: { apiKey: secret, headers: { Key: secret }, baseUrl: "http://127.0.0.1:9/v1" } },
    },
    agents: { mine: { command: "x", env: { KEY: secret } } },
    client: { mcpServers: { web: { url: "http://127.0.0.1:9", headers: { Authorization: secret } } } },
  });
  for (const argv of [
    ["show"],
    ["show", "--json"],
    ["get", "agent.providers.work.apiKey"],
    ["get", "agents.mine.env"],
    ["check"],
  ]) {
    const { status, stdout, stderr } = await parley(["config", ...argv]);
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stdout + stderr, /canary/, argv.join(" "));
  }
});

test("a check tells everything that is wrong, and names that are not known", patience, async (t) => {
  const { parley, configFile, keep } = agentHome(t);
  assert.match((await parley(["config", "check"])).stdout, /does not exist \(this is fine\)/);
  keep({ agent: { colour: "red" } });
  const fine = await parley(["config", "check"]);
  assert.deepEqual([fine.status, /agent\.colour is not known/.test(fine.stdout)], [0, true]);
  writeFileSync(configFile(), '{"agent": {"mode": "yolo", "effort": 1}, "client": []}');
  const { status, stderr } = await parley(["config", "check"]);
  assert.equal(status, 2);
  for (const wanted of [/agent\.mode must be/, /agent\.effort must be/, /client must be an object/])
    assert.match(stderr, wanted);
});

test(
  "the file is opened in the user's editor, begun where it is not there, and checked afterwards",
  patience,
  async (t) => {
    const { parley, started, configFile, folder } = agentHome(t);
    const none = await parley(["config", "edit"]);
    assert.deepEqual([none.status, /neither VISUAL nor EDITOR is set/.test(none.stderr)], [2, true]);
    const script = join(folder, "editor");
    writeFileSync(script, `#!/bin/sh\necho "$1"\nprintf '{"agent": {"mode": "yolo"}}' > "$2"\n`, {
      mode: 0o755,
    });
    const { status, stdout, stderr } = started(["config", "edit"], { env: { EDITOR: `${script} --wait` } });
    assert.equal(status, 2);
    assert.equal(stdout, "--wait\n");
    assert.match(stderr, /agent\.mode must be one of/);
    writeFileSync(script, '#!/bin/sh\ncat "$1"\n', { mode: 0o755 });
    writeFileSync(configFile(), "");
    assert.equal(started(["config", "edit"], { env: { VISUAL: script } }).status, 0);
  },
);
