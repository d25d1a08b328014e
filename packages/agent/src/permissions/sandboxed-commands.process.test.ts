// Commands of the agent in a real sandbox.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inSandbox, withHosts } from "../../../sandbox/test/support/required-sandbox.ts";
import { calls, said, says, scriptedModel, talk, temporaryFolder } from "../../test/support/agent-probe.ts";

const run = (command: string, more: object = {}) => ["bash", { command, ...more }] as const;

test(
  "in mode code a command in the sandbox is not asked about, and cannot leave it",
  inSandbox,
  async (t) => {
    const cwd = temporaryFolder(t, { "a.txt": "hi" });
    const outside = temporaryFolder(t, {});
    const line = `cat a.txt > b.txt; echo x > ${outside}/c.txt`;
    const model = scriptedModel([calls(run(line)), says("done")]);
    const made = await talk({ version: 2, cwd, models: [model], mode: "code", sandbox: "workspace" });
    await made.session.prompt("go").result;
    assert.deepEqual(made.asks, []);
    assert.ok(existsSync(join(cwd, "b.txt")));
    assert.ok(!existsSync(join(outside, "c.txt")));
    assert.match(
      JSON.stringify(model.requests[1]?.messages.at(-1)),
      /it ran in a sandbox; if it cannot work there/,
    );
    await made.end();
  },
);

test(
  "a command that shall run outside is asked about every time, and the question says that it may be done twice",
  inSandbox,
  async (t) => {
    const cwd = temporaryFolder(t, {});
    const outside = temporaryFolder(t, {});
    const line = `echo x >> ${outside}/c.txt`;
    const again = run(line, { outside: true });
    const model = scriptedModel([calls(run(line)), calls(again), calls(again), says("done")]);
    const made = await talk({
      version: 2,
      cwd,
      models: [model],
      mode: "code",
      sandbox: "workspace",
      answers: ["allow_once", "reject_once"],
    });
    await made.session.prompt("go").result;
    assert.equal(made.asks.length, 2);
    assert.match(String(made.asks[0]?.description), /leaves the sandbox .* some effects may happen twice/);
    assert.deepEqual(
      made.asks[0]?.options.map(({ kind }) => kind),
      ["allow_once", "reject_once"],
    );
    assert.ok(existsSync(join(outside, "c.txt")));
    await made.end();
  },
);

test("a host that a command wants to reach is asked about by name and port", withHosts, async (t) => {
  const cwd = temporaryFolder(t, {});
  const code = `require("net").connect(new URL(process.env.HTTP_PROXY).port).on("data",()=>process.exit()).write("GET http://nowhere.invalid:8080/ HTTP/1.1\\r\\nHost: nowhere.invalid\\r\\n\\r\\n")`;
  const line = `${JSON.stringify(process.execPath)} -e '${code}'`;
  const model = scriptedModel([calls(run(line)), says("done")]);
  const made = await talk({ version: 2, cwd, models: [model], mode: "code", sandbox: "workspace" });
  await made.session.prompt("go").result;
  assert.deepEqual(
    made.asks.map(({ title }) => title),
    ["Connect to nowhere.invalid:8080"],
  );
  assert.match(said(made.updates), /done/);
  await made.end();
});

test("an allowed host that cannot be reached is told, with the reason", withHosts, async (t) => {
  const cwd = temporaryFolder(t, {});
  const line = "curl -sS http://nowhere.invalid:8080/; curl -sS http://nowhere.invalid:8080/";
  const model = scriptedModel([calls(run(line)), says("done")]);
  const answers = ["allow_once", "allow_once"] as const;
  const made = await talk({ version: 2, cwd, models: [model], mode: "code", sandbox: "workspace", answers });
  await made.session.prompt("go").result;
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  const reason = "nowhere.invalid:8080 is allowed, but cannot be reached: its name has no address (";
  assert.equal(told.split(reason).length - 1, 1, told);
  await made.end();
});

test(
  "the offline model sees that a command failed, and repeats no advice for models",
  inSandbox,
  async (t) => {
    const made = await talk({ version: 2, cwd: temporaryFolder(t, {}), mode: "code", sandbox: "workspace" });
    await made.session.prompt("run false").result;
    assert.match(said(made.updates), /^`false` failed:/);
    assert.doesNotMatch(
      JSON.stringify(made.updates.filter((each) => each.sessionUpdate.startsWith("agent_message"))),
      /outside/,
    );
    await made.end();
  },
);

test(
  "what a command plants is moved aside, and the user and the model are told where to",
  inSandbox,
  async (t) => {
    const base = temporaryFolder(t, { "project/a.txt": "" });
    const cwd = join(base, "project");
    const model = scriptedModel([calls(run("mkdir .vscode; echo x > .vscode/tasks.json")), says("done")]);
    const made = await talk({ version: 2, cwd, models: [model], mode: "code", sandbox: "workspace" });
    await made.session.prompt("go").result;
    assert.ok(!existsSync(join(cwd, ".vscode")));
    const told = /a command created [^"]*\.vscode, [^"]*moved to [^"]*project\.moved-aside/;
    assert.match(JSON.stringify(made.updates), told);
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), told);
    await made.end();
  },
);

test(
  "what a scaffolding command made is shown in one question, and one answer moves all of it back",
  inSandbox,
  async (t) => {
    const base = temporaryFolder(t, { "project/package.json": "{}" });
    const cwd = join(base, "project");
    const line =
      "mkdir -p .vscode .storybook && echo x >.vscode/tasks.json && echo x >.storybook/main.js && echo x >.env && echo made";
    const model = scriptedModel([calls(run(line)), says("done")]);
    const made = await talk({
      version: 2,
      cwd,
      models: [model],
      mode: "code",
      sandbox: "workspace",
      answers: ["allow_once"],
    });
    await made.session.prompt("go").result;
    for (const path of [".vscode/tasks.json", ".storybook/main.js", ".env"])
      assert.equal(readFileSync(join(cwd, path), "utf8"), "x\n", path);
    assert.match(JSON.stringify(made.updates), /"title":"Keep [^"]*\.vscode/);
    const told = JSON.stringify(model.requests[1]?.messages.at(-1));
    assert.match(told, /made.*exit code 0.*the user accepted/);
    assert.doesNotMatch(told, /moved to/);
    await made.end();
  },
);

test(
  "settings that the user allowed the agent to write stay, also if a command in the background ends later",
  inSandbox,
  async (t) => {
    const base = temporaryFolder(t, { "project/.mcp.json": "\ufeff{\r\n}\r\n", "project/tasks": "{}\n" });
    const cwd = join(base, "project");
    const model = scriptedModel([
      calls(run("exec sleep 1000", { background: true })),
      calls(["write", { path: "a/.vscode/settings.json", content: "{}\n" }]),
      calls(["move", { from: "tasks", to: "a/.vscode/tasks.json" }]),
      calls(["read", { path: ".mcp.json" }]),
      calls(["edit", { path: ".mcp.json", edits: [{ oldText: "}", newText: "  }" }] }]),
      calls(["job", { id: "job-1", stop: true }]),
      says("done"),
    ]);
    const made = await talk({
      version: 2,
      cwd,
      models: [model],
      mode: "code",
      sandbox: "workspace",
      answers: ["allow_once", "allow_once", "allow_once", "allow_once"],
    });
    await made.session.prompt("go").result;
    assert.doesNotMatch(JSON.stringify(model.requests.at(-1)?.messages), /was moved to|check \//);
    assert.equal(readFileSync(join(cwd, "a/.vscode/settings.json"), "utf8"), "{}\n");
    assert.equal(readFileSync(join(cwd, "a/.vscode/tasks.json"), "utf8"), "{}\n");
    assert.equal(readFileSync(join(cwd, ".mcp.json"), "utf8"), "\ufeff{\r\n  }\r\n");
    assert.ok(!existsSync(join(base, "project.moved-aside")));
    await made.end();
  },
);

test(
  "TH16 the script of an allowed MCP server of the project: commands cannot write it, and edits are asked about",
  inSandbox,
  async (t) => {
    const cwd = temporaryFolder(t, { "server.sh": "#!/bin/sh\n", "a.txt": "" });
    const script = join(cwd, "server.sh");
    const server = { type: "stdio", name: "db", command: script, args: [], env: [] } as const;
    const ofFolder = () => ({
      problems: [],
      servers: [
        { server, lines: [], files: [script], decision: "always" as const, remember: () => undefined },
      ],
    });
    const edit = ["write", { path: "server.sh", content: "evil" }] as const;
    const model = scriptedModel([
      calls(run("echo evil > server.sh; echo fine > a.txt")),
      calls(["read", { path: "server.sh" }]),
      calls(edit),
      says("done"),
    ]);
    const made = await talk({
      version: 2,
      cwd,
      models: [model],
      mode: "code",
      sandbox: "workspace",
      mcp: { ofFolder },
      answers: ["reject_once"],
    });
    await made.session.prompt("go").result;
    assert.equal(readFileSync(script, "utf8"), "#!/bin/sh\n");
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "fine\n");
    assert.match(String(made.asks[0]?.description), /an MCP server that you trust runs .*server\.sh/);
    await made.end();
  },
);
