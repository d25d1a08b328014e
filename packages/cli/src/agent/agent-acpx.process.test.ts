// The coding agent driven by acpx from npm, a client that others have written, as its users type it. On demand, with
// PARLEY_ACPX=1: it is fetched then. It cannot be a dependency, since what it depends on runs scripts when installed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { launcher } from "../../../acp/test/support/programs.ts";

const wanted = "acpx@0.19.1";
const skip = process.env["PARLEY_ACPX"] === undefined && "PARLEY_ACPX=1 runs it, with acpx from the registry";
const patience = { timeout: 300_000, skip };
const installed = realpathSync(mkdtempSync(join(tmpdir(), "parley-acpx-")));
const acpx = join(installed, "node_modules/acpx/dist/cli.js");
before(() => {
  if (skip !== false) return;
  const args = ["install", "--ignore-scripts", "--no-save", "--prefix", installed, wanted];
  const { status, stderr } = spawnSync("npm", args, { cwd: installed, encoding: "utf8" });
  assert.equal(status, 0, stderr);
});
after(() => rmSync(installed, { recursive: true, force: true }));

function place(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-acpx-test-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const notes = join(cwd, "notes.txt");
  writeFileSync(notes, "hello world\n");
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { ...process.env, HOME: home, PARLEY_HOME: join(folder, "parley"), PARLEY_MODEL: "offline" };
  const runWith = (agent: string, ...args: readonly string[]) => {
    const all = [acpx, "--agent", agent, "--cwd", cwd, "--ttl", "1", ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd, env, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  };
  const run = (...args: readonly string[]) => runWith(`${launcher} agent`, ...args);
  return { run, runWith, folder, notes: () => readFileSync(notes, "utf8") };
}

test("acpx has the agent edit and run, in its own files and terminals", patience, (t) => {
  const { run, notes } = place(t);
  const words = 'replace "hello" with "goodbye" in notes.txt, then run cat notes.txt';
  const { status, output } = run("--approve-all", "exec", words);
  assert.equal(status, 0, output);
  assert.equal(notes(), "goodbye world\n");
  assert.match(output, /\[plan\].*\[tool\] Edit notes\.txt.*terminal\/create.*\[done\] end_turn/s);
});

test("acpx that denies has denied: nothing changes", patience, (t) => {
  const { run, notes } = place(t);
  const { status, output } = run("--deny-all", "exec", "delete notes.txt");
  assert.equal(status, 5, output);
  assert.equal(notes(), "hello world\n");
  assert.match(output, /\[tool\] Delete notes\.txt \(failed\)/);
});

test("acpx opens a session, sets its mode, prompts, lists and closes it", patience, (t) => {
  const { run, notes } = place(t);
  t.after(() => run("sessions", "close"));
  const opened = run("sessions", "new");
  assert.equal(opened.status, 0, opened.output);
  const chosen = run("set-mode", "code");
  assert.match(chosen.output, /mode set: code/);
  // mode code does not ask: whoever had to be asked would say no
  const prompted = run("--deny-all", "--no-fs", "prompt", 'replace "hello" with "bye" in notes.txt');
  assert.equal(notes(), "bye world\n", prompted.output);
  const listed = run("sessions", "list");
  assert.match(listed.output, /replace "hello" with "bye"/, "by the title that the agent gave it");
  const closed = run("sessions", "close");
  assert.equal(closed.status, 0, closed.output);
});

/** An agent of version 1 that says more than the schema has, and repeats the `_meta` of its session. */
const talkative = `
import { createInterface } from "node:readline";
const out = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
let given;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => out({ id, result });
  if (method === "initialize") answer({ protocolVersion: 1, _meta: { "example.com/build": 7 } });
  if (method === "session/new") {
    given = params._meta;
    answer({ sessionId: "s", _meta: { "example.com/new": true } });
  }
  if (method === "session/prompt") {
    const content = { type: "text", text: "given " + given?.systemPrompt?.append };
    const update = { sessionUpdate: "agent_message_chunk", content, shade: "blue", _meta: { "example.com/piece": [1] } };
    out({ method: "session/update", params: { sessionId: "s", update } });
    answer({ stopReason: "end_turn", _meta: { "example.com/end": "x" } });
  }
});
`;

test("acpx and an agent behind two bridges lose no _meta and no unknown key (I1)", patience, (t) => {
  const { runWith, folder } = place(t);
  const file = join(folder, "talkative.mjs");
  writeFileSync(file, talkative);
  // version 1 to 2 and back
  const agent = `${launcher} bridge --as v1 -- ${launcher} bridge --as v2 -- ${process.execPath} ${file}`;
  const { status, output } = runWith(
    agent,
    "--format",
    "json",
    "--append-system-prompt",
    "brief",
    "exec",
    "hi",
  );
  assert.equal(status, 0, output);
  for (const said of [
    '"example.com/build":7',
    '"example.com/new":true',
    '"example.com/piece":[1]',
    '"_parley.dev/extra":{"shade":"blue"}',
    '"example.com/end":"x"',
    "given brief",
  ])
    assert.ok(output.includes(said), `${said} is not in ${output}`);
});
