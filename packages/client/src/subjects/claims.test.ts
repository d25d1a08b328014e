// The forms in which agents say what they will do. Recordings of real ones are in test/claims.

import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseRule, permissionGate } from "@parley/client/policy";
import { folder } from "../../test/support/gate-probe.ts";
import type { RuleSubject } from "../policy.ts";
import { claimsOf } from "./claims.ts";

type Ask = Parameters<typeof claimsOf>[0];

function claims(toolCall: object): RuleSubject[] {
  const ask = { title: "t", options: [], subject: { type: "tool_call", toolCall } };
  return claimsOf(ask as unknown as Ask, undefined, "/nowhere/w"); // as the wire has it
}

const input = (rawInput: unknown) => claims({ kind: "execute", rawInput });

/** By rules that were typed for this run. */
function verdict(subjects: readonly RuleSubject[], ...texts: readonly string[]) {
  const rules = texts.map((text) => {
    const [effect, ...rest] = text.split(" ");
    return parseRule(rest.join(" "), { effect: effect === "deny" ? "deny" : "allow", origin: "launch" });
  });
  const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };
  return permissionGate({ rules }).check(session, subjects);
}

const effect = (...given: Parameters<typeof verdict>) => verdict(...given).effect;

/** All forms of one command. */
const forms = (line: string): readonly object[] => [
  { command: line },
  { Command: line },
  { CMD: line },
  { script: line },
  { shell_command: line },
  { shellCommand: line },
  { commands: [line] },
  { commands: line },
  { commands: [{ command: line }] },
  { commands: [line.split(" ")] },
  { argv: line.split(" ") },
  { command: line.split(" ") },
  { command: line.split(" ")[0], args: line.split(" ").slice(1) },
  { command: ["bash", "-lc", line] },
  { command: ["/bin/bash", "-lc", line] },
  { params: { command: line } },
  { input: { command: line } },
  { arguments: { cmd: line } },
  { tool: "bash", parameters: { Command: line } },
  { requests: [{ command: line }] },
];

test("a command is read from every field that agents use, whatever its case and wherever it is wrapped (V13)", () => {
  for (const form of forms("npm test")) {
    const text = JSON.stringify(form);
    assert.equal(effect(input(form), "allow exec npm test"), "allow", text);
    assert.equal(effect(input(form), "allow exec npm run"), "ask", text);
    assert.equal(effect(input(form), "deny exec npm test", "allow *"), "deny", text);
  }
});

test("of several commands in one claim each one counts (V13)", () => {
  for (const form of forms("rm -r x")) {
    const both = input({ shell: undefined, command: "npm test", more: form });
    assert.equal(effect(both, "allow exec npm test"), "ask", JSON.stringify(form));
    assert.equal(effect(both, "deny exec rm -r x", "allow *"), "deny", JSON.stringify(form));
  }
  const listed = input({ command: "npm test", commands: ["rm -rf ~"] });
  assert.deepEqual(
    listed.map(({ argv, shellLine }) => shellLine ?? argv?.join(" ")),
    ["npm test", "rm -rf ~"],
  );
  assert.equal(effect(listed, "allow exec npm test"), "ask");
});

test("an unknown field beside a command is asked about by its name, and allowed by no narrower rule than exec ** (V13)", () => {
  for (const [more, name] of [
    [{ shell: "/tmp/evil" }, "shell"],
    [{ sandbox: false }, "sandbox"],
    [{ shellId: 7 }, "shellId"],
    [{ path: "/tmp/evil" }, "path"],
    [{ stdin: ["y"] }, "stdin"],
    [{ description: { command: "npm test" } }, "description"],
    [{ tool: "python" }, "tool"],
    [{ mode: "yolo" }, "mode"],
    [{ options: { interpreter: "evil" } }, "options"],
    [{ args: { first: "evil" } }, "args"],
    [{ args: ["-x", 1] }, "args"],
    [{ "a\u001b[2Jb": 1 }, "a"],
  ] as const) {
    const subjects = input({ command: "npm", args: ["test"], ...more });
    const { effect: got, reason } = verdict(
      subjects,
      "allow exec npm test",
      "allow exec npm **",
      "allow exec npm",
    );
    assert.equal(got, "ask", name);
    assert.match(reason, new RegExp(`fields that Parley does not know: .*"${name}`), reason);
    assert.ok(!reason.includes("\u001b"));
    assert.equal(effect(subjects, "allow exec **"), "allow", name);
    assert.equal(effect(subjects, "allow *"), "allow", name);
  }
});

test("what says why, how long or nothing changes nothing", () => {
  const harmless = {
    description: "Runs the tests",
    Explanation: "why",
    timeout: 5,
    timeout_ms: 5,
    run_in_background: true,
    isBackground: false,
    mode: "sync",
    stdin: null,
    shell: "",
    options: {},
    commands: [],
    cwd: "/nowhere/w",
  };
  assert.equal(effect(input({ command: "npm test", ...harmless }), "allow exec npm test"), "allow");
});

test("an unknown field beside a path or an address counts too, but not one that only says which part", () => {
  const read = (more: object) => claims({ kind: "read", rawInput: { path: "/nowhere/w/a.ts", ...more } });
  const rule = "allow read /nowhere/w/**";
  for (const more of [
    { limit: 5 },
    { view_range: [1, 2] },
    { pattern: "x*", glob: "*.ts" },
    { replace_all: true },
  ])
    assert.equal(effect(read(more), rule), "allow", JSON.stringify(more));
  for (const more of [
    { also: "/etc/passwd" },
    { pattern: "../../**" },
    { glob: "/etc/*" },
    { pattern: "~/.ssh" },
  ])
    assert.equal(effect(read(more), rule), "ask", JSON.stringify(more));
  const { reason } = verdict(read({ also: "/etc/passwd" }), rule);
  assert.match(reason, /"also"/);
});

test("an input that is too deep or too large to be looked at is allowed by no narrow rule", () => {
  let deep: object = { command: "rm -r x" };
  for (let at = 0; at < 20; at += 1) deep = { input: deep };
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`timeout${at}`, null]));
  for (const rawInput of [
    { command: "npm test", ...deep },
    { command: "npm test", ...wide, commands: ["rm -r x"] },
    { command: "npm test", requests: Array.from({ length: 5_000 }, () => ({})) },
  ])
    assert.equal(effect(input(rawInput), "allow exec npm test"), "ask");
});

test("a tool of an MCP server is found in the name, in _meta and in the input", () => {
  const name = "mcp__my_srv__do-it";
  for (const call of [
    { name },
    { _meta: { toolName: name } },
    { _meta: { claudeCode: { toolName: name } } },
    { rawInput: { name, arguments: { x: "y" } } },
    { rawInput: { tool_name: name } },
    { rawInput: { server: "my_srv", tool: "do-it", arguments: { x: "y" } } },
    { rawInput: { params: { serverName: "my_srv", toolName: "do-it" } } },
    { name: "my_srv__do-it", _meta: { is_mcp_tool_call: true } },
    { _meta: { toolName: "my_srv_do-it", provenance: "mcp", serverId: "my_srv" } },
    { _meta: { claudeCode: { toolName: "do-it", mcpServer: { name: "my_srv" } } } },
  ]) {
    const text = JSON.stringify(call);
    for (const kind of ["other", "execute", "read", "fetch"]) {
      const subjects = claims({ kind, title: "Do it", ...call });
      assert.equal(effect(subjects, "allow mcp my_srv/do-it"), "allow", `${kind} ${text}`);
      assert.equal(effect(subjects, "deny mcp my_srv/*", "allow *"), "deny", text);
    }
  }
});

test("a name that could be a server and a tool is one only where the agent marks it", () => {
  for (const call of [
    { name: "web_search" },
    { title: "web_search" },
    { _meta: { toolName: "web__search" } },
  ]) {
    assert.deepEqual(
      claims({ kind: "other", ...call }).map(({ operation }) => operation),
      ["other"],
    );
  }
});

test("what only a title says can be denied, is allowed by * and by nothing narrower", () => {
  for (const title of [
    "touch out.txt",
    "`touch out.txt`",
    "Run `touch out.txt`",
    "Running touch out.txt",
    "Shell: touch out.txt",
    "$ touch out.txt",
  ]) {
    const subjects = claims({ kind: "execute", title });
    for (const rule of ["deny exec touch out.txt", "deny exec touch"])
      assert.equal(effect(subjects, rule, "allow *"), "deny", title);
    assert.equal(effect(subjects, "allow exec touch out.txt", "allow exec touch **"), "ask", title);
    assert.equal(effect(subjects, "allow exec **"), "allow", title);
    assert.equal(effect(subjects, "allow *"), "allow", title);
  }
  for (const title of ["mcp__srv__do", "mcp.srv.do", "Tool: srv/do", "do (srv MCP Server)"]) {
    const subjects = claims({ kind: "other", title });
    assert.equal(effect(subjects, "deny mcp srv/do", "allow *"), "deny", title);
    assert.equal(effect(subjects, "allow mcp srv/do"), "ask", title);
    assert.equal(effect(subjects, "allow *"), "allow", title);
  }
});

test("a path of a claim is resolved link by link (V4)", (t) => {
  const cwd = folder(t, { "d2/e/f/x": "", "docs/x": "", "secret.txt": "" });
  symlinkSync("../d2/e/f", join(cwd, "docs/l"));
  const path = "docs/l/../../../secret.txt";
  for (const call of [
    { rawInput: { path } },
    { locations: [{ path }] },
    { rawInput: { command: "ls", cwd: path } },
  ]) {
    const subject = { type: "tool_call", toolCall: { kind: "read", ...call } };
    const ask = { title: "t", options: [], subject } as unknown as Ask; // as the wire has it
    const [first] = claimsOf(ask, undefined, cwd);
    assert.equal(first?.path ?? first?.cwd, join(cwd, "secret.txt"));
  }
});

test("a title beside a command that is said is only a title", () => {
  const subjects = claims({ kind: "execute", title: "rm -r x", rawInput: { command: "npm test" } });
  assert.equal(effect(subjects, "allow exec npm test"), "allow");
});

test("a command holds where the claim says that it runs", () => {
  for (const rawInput of [
    { command: "npm test", workdir: "/nowhere/other" },
    { command: "npm test", directory: "/nowhere/other" },
    { cwd: "/nowhere/other", params: { command: "npm test" } },
    { command: "npm test", cwd: "/nowhere/w", workdir: "/nowhere/other" },
  ])
    assert.equal(effect(input(rawInput), "allow exec npm test"), "ask", JSON.stringify(rawInput));
});

test("a command that a question is about is read like any other (V13)", () => {
  const about = (subject: object) =>
    claimsOf(
      {
        title: "t",
        options: [],
        subject: { type: "command", command: "npm test", cwd: "/nowhere/w", ...subject },
      } as unknown as Ask, // as the wire has it
      undefined,
      "/nowhere/w",
    );
  const known = about({ toolCallId: "t", terminalId: "x", _meta: { a: 1 } });
  assert.equal(effect(known, "allow exec npm test"), "allow");
  assert.equal(effect(about({ commands: ["rm -r x"] }), "allow exec npm test"), "ask");
  assert.equal(effect(about({ cwd: "/nowhere/other" }), "allow exec npm test"), "ask");
  assert.match(verdict(about({ shell: "evil" }), "allow exec npm test").reason, /"shell"/);
});

test("variables count in every form, and what cannot be read of them is asked about", () => {
  for (const env of [
    { LD_PRELOAD: "x" },
    [{ name: "LD_PRELOAD", value: "x" }],
    ["LD_PRELOAD=x"],
    "LD_PRELOAD=x",
    [{ name: { toString: 1 } }, { name: "LD_PRELOAD" }],
  ]) {
    const text = JSON.stringify(env);
    assert.equal(effect(input({ command: "npm test", env }), "allow exec npm test"), "ask", text);
    const outer = input({ ENV: env, params: { command: "npm test" } });
    assert.equal(effect(outer, "allow exec npm test"), "ask", text);
  }
});

test("a command that our own agent would run outside its sandbox is asked about every time, whatever is allowed", () => {
  const subjects = input({ command: "npm publish", outside: true });
  const { effect: asked, always, reason } = verdict(subjects, "allow exec **", "allow exec npm publish");
  assert.deepEqual([asked, always], ["ask", true]);
  assert.match(
    reason,
    /this command leaves the sandbox and runs with all your rights; what it has already done may be done twice/,
  );
  assert.equal(effect(input({ command: "npm publish", outside: false }), "allow exec npm publish"), "allow");
});
