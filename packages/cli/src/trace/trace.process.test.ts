// From a recording to its replay, by the commands that a user types, with our own peers and the official SDK's.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { RequestError } from "@agentclientprotocol/sdk";
import { client, type SessionUpdate, type Transport } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { isTraceMessage, readTrace } from "@parley/conformance";
import { agentCommand } from "../../../acp/test/interop/agent-command.ts";
import { register, senderOf, spawnStreams } from "../../../acp/test/interop/sdk-app.ts";
import { type V1AgentSender, v1Client } from "../../../acp/test/interop/v1-client.ts";
import { EventLog, type Wire } from "../../../acp/test/interop/wire-script.ts";
import { programFile } from "../../../acp/test/support/programs.ts";
import { launcher, TapFolder } from "../../test/support/tap-probe.ts";

const folder = new TapFolder();
after(() => folder.remove());
const posix = { timeout: 120_000, skip: process.platform === "win32" ? "needs sh" : false };
const env = { ...process.env, PARLEY_HOME: folder.file("home") };

function parley(...args: string[]) {
  return spawnSync(launcher, args, { encoding: "utf8", cwd: folder.path, env, input: "" });
}

/** Reads a file, asks before it writes one, and answers. */
const scenario = {
  parley: "agent-scenario",
  version: 1,
  editions: ["v1"],
  otherwise: [
    { plan: [{ content: "Read notes.txt", priority: "medium", status: "in_progress" }] },
    { think: "The notes are in notes.txt" },
    {
      tool: { title: "Read notes.txt", kind: "read" },
      steps: [{ read: "{{cwd}}/notes.txt", as: "notes" }, { add: "{{notes}}" }],
    },
    {
      tool: { title: "Write summary.txt", kind: "edit" },
      steps: [{ ask: true, on: { allowed: [{ write: "{{cwd}}/summary.txt", content: "two lines" }] } }],
    },
    { say: "The summary is in " },
    { say: "summary.txt." },
  ],
};
const agentProgram = programFile("conformance/test/support/scripted-agent-process.ts");
const scriptedAgent = [
  process.execPath,
  "--conditions=parley-source",
  agentProgram,
  JSON.stringify(scenario),
];

/** What our client sees of the agent, or of its replay. */
async function viewThrough(command: readonly string[]): Promise<object> {
  const [program = "", ...args] = command;
  const agentProcess = spawnTransport(program, args, { env });
  const seen = await view(agentProcess);
  return { ...seen, exit: await agentProcess.exited };
}

async function view(transport: Transport): Promise<object> {
  const agent = await client({
    name: "editor",
    version: "1.0.0",
    editions: ["v1"],
    requestPermission: ({ options }) => options[0]?.optionId,
    files: {
      canRead: true,
      canWrite: true,
      readText: async () => "milk\nDB_PASSWORD=open-sesame-please\n",
      writeText: async () => undefined,
    },
  }).connect(transport);
  const session = await agent.newSession({ cwd: folder.path });
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const outcome = await session.prompt("Summarise my notes").result;
  await agent.close();
  const comparable = JSON.stringify(updates, (key, value) => (key === "messageId" ? undefined : value));
  return { info: agent.info, outcome, updates: JSON.parse(comparable) };
}

test("the replay of a recorded agent gives a client the view that the live one gave", posix, async () => {
  const trace = folder.file("demo.trace");
  const live = await viewThrough([launcher, "tap", "--out", trace, "--", ...scriptedAgent]);
  assert.deepEqual(await viewThrough([launcher, "trace", "replay", "--as", "agent", trace]), live);

  const shared = folder.file("shared.trace");
  const { status, stderr, stdout } = parley("trace", "redact", trace, "--out", shared);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /replaced \d+ values: .*by assignment/);
  assert.equal(statSync(shared).mode & 0o777, 0o600);
  assert.ok(readFileSync(trace, "utf8").includes("open-sesame-please"));
  assert.ok(!readFileSync(shared, "utf8").includes("open-sesame-please"));
  const texts = (path: string) => readTrace(readFileSync(path, "utf8")).records.filter(isTraceMessage).length;
  assert.equal(texts(shared), texts(trace));
  const replayed = await viewThrough([launcher, "trace", "replay", "--as", "agent", shared]);
  assert.deepEqual(Object.keys(replayed), Object.keys(live));

  const driven = parley("trace", "replay", "--json", "--as", "client", shared, "--", ...scriptedAgent);
  assert.equal(driven.status, 0, driven.stderr);
  const { data } = JSON.parse(driven.stdout);
  assert.equal(data.divergence, undefined);
  assert.equal(data.missing + data.extra, 0);

  const again = parley("trace", "redact", trace, "--out", shared);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /file already exists/);
});

test("one record is shown whole, and a number that is none is told with the last", posix, () => {
  const trace = folder.file("whole.trace");
  const text = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "x/y",
    params: { long: "a".repeat(500), b: "\u202e" },
  });
  const lines = [
    { parley: "trace", version: 1 },
    { t: 1, from: "client", bytes: text.length + 1, text },
    { t: 2, event: "end" },
  ];
  writeFileSync(trace, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const shown = parley("trace", "show", trace, "1");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^# record 1, 1 ms, client → agent, \d+ bytes\n\{\n {2}"jsonrpc"/);
  assert.match(shown.stdout, /"long": "a{500}"/);
  assert.ok(!shown.stdout.includes("\u202e"));
  const { data } = JSON.parse(parley("trace", "show", "--json", trace, "1").stdout);
  assert.deepEqual([data.record, data.message.params.long.length], [1, 500]);
  const none = parley("trace", "show", trace, "10");
  assert.deepEqual([none.status, /there is no record 10 in .*; the last is 2/.test(none.stderr)], [1, true]);
  assert.equal(parley("trace", "show", trace, "ten").status, 2);
});

test(
  "an agent that does something else than the recorded one is said to, with the record",
  posix,
  async () => {
    const trace = folder.file("demo.trace");
    const { status, stderr } = parley("trace", "replay", "--as", "client", trace, "--", "cat");
    assert.equal(status, 3);
    assert.match(
      stderr,
      /the agent left the recording at record \d+: expected record \d+ of the agent: .*; got request/,
    );
  },
);

test("a replay that waits for nothing says for what, and gives up", posix, () => {
  const trace = folder.file("demo.trace");
  // an agent that reads and never answers
  const silent = ["--", "/bin/sh", "-c", "cat >/dev/null"];
  const { status, stderr } = parley("trace", "replay", "--as", "client", "--timeout", "7", trace, ...silent);
  assert.equal(status, 3);
  assert.match(stderr, /^parley: waiting for record \d+ of the agent: the answer to initialize\n/);
  assert.match(stderr, /expected .*the answer to initialize; got nothing for 7000 ms/);
  assert.match(
    parley("trace", "replay", "--as", "agent", "--timeout", "soon", trace).stderr,
    /--timeout: expected seconds/,
  );
});

test("the official SDK's client and agent talk through a tap as they do without one", posix, async () => {
  const sdk = await import("@agentclientprotocol/sdk");
  const trace = folder.file("sdk.trace");
  const [command, args] = agentCommand("v1", { library: "sdk" });
  const log = new EventLog();
  const wire: Wire<V1AgentSender> = {
    peer: () => agent,
    refuse: (code, message, data) => new RequestError(code, message, data),
  };
  const app = sdk.client({ name: "tapped-client" });
  register(app, v1Client(wire, log));
  const [agentProcess, ...streams] = spawnStreams(launcher, ["tap", "--out", trace, "--", command, ...args]);
  const connection = app.connect(sdk.ndJsonStream(...streams));
  const agent = senderOf<V1AgentSender>(connection.agent);
  await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request("session/new", { cwd: "/project", mcpServers: [] });
  const prompt = [{ type: "text", text: "hello" }] as const;
  await agent.request("session/prompt", { sessionId, prompt: [...prompt] });
  connection.close();
  await agentProcess.close();
  const shown = parley("trace", "show", "--json", trace);
  assert.equal(shown.status, 0, shown.stderr);
  const rows = shown.stdout
    .trimEnd()
    .split("\n")
    .map((row) => JSON.parse(row));
  const answers = rows.filter(({ type, kind }) => type === "message" && kind === "answer");
  assert.deepEqual(
    answers.filter(({ from }) => from === "agent").map(({ method }) => method),
    ["initialize", "session/new", "session/prompt"],
  );
  for (const { latencyMs } of answers) assert.ok(latencyMs >= 0);
  assert.equal(rows.at(-1).type, "end");
});

test("a trace is shown one line per record, with the time that answers took", posix, () => {
  const lines = [
    {
      parley: "trace",
      version: 1,
      minor: 7,
      command: ["agent"],
      cwd: "/project",
      startedAt: "now",
      writer: "x",
    },
    { t: 1, event: "start", pid: 7 },
    { t: 2, from: "client", bytes: 9, text: '{"id":1,"method":"session/new","params":{"cwd":"/p"}}' },
    { t: 5.5, from: "agent", bytes: 9, text: '{"id":1,"result":{"sessionId":"a"}}' },
    { t: 6, event: "something new", from: "the future" },
    { t: 7, event: "stderr", bytes: 5, text: "\u001b[31moops" },
    { t: 9, event: "exit", signal: "SIGKILL" },
  ];
  const file = folder.file("by hand.trace");
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"t":10,"from`);
  const { status, stdout } = parley("trace", "show", file);
  assert.equal(status, 0);
  assert.deepEqual(stdout.split("\n"), [
    "# agent, in /project, from now, by x",
    "    1      1 ms  the agent was started, pid 7",
    '    2      2 ms  client → agent  session/new #1  cwd: "/p"',
    '    3      6 ms  client ← agent  answer to session/new #1 after 3.5 ms  sessionId: "a"',
    "    5      7 ms  stderr: \\u001b[31moops",
    "    6      9 ms  the agent was ended by SIGKILL",
    "       the last line was cut off",
    "# 2 messages; the trace has no end: the tap was killed or is still running",
    "",
  ]);
});

test("what is no trace is refused with what it is and what to do", posix, () => {
  const file = (name: string, text: string) => {
    writeFileSync(folder.file(name), text);
    return folder.file(name);
  };
  const refused = (...args: string[]) => {
    const { status, stderr } = parley("trace", "show", ...args);
    assert.equal(status, 1);
    return stderr;
  };
  assert.match(refused(folder.file("missing")), /file not found: .*missing\nparley: check the name/);
  assert.match(
    refused(file("prose", "Once upon a time\n")),
    /this is not a trace: its first line must be .*got "Once/,
  );
  assert.match(refused(file("empty", "")), /this is not a trace/);
  assert.match(
    refused(file("newer", '{"parley":"trace","version":2}\n')),
    /expected trace version 1, got 2; update/,
  );
  assert.match(
    refused(file("damaged", '{"parley":"trace","version":1}\nrubbish\n{"t":1,"event":"end"}\n')),
    /line 2 of the trace is not a JSON object/,
  );
  assert.equal(parley("trace", "show").status, 2);
  const { stderr, status } = parley("trace", "replay", folder.file("newer"));
  assert.equal(status, 2);
  assert.match(stderr, /--as: expected agent or client, got nothing/);
});

test("a reader that stops early, such as head, gets no stack", posix, () => {
  const trace = folder.file("long.trace");
  const text = JSON.stringify({ jsonrpc: "2.0", method: "x", params: { text: "y".repeat(500) } });
  const line = `${JSON.stringify({ t: 1, from: "agent", bytes: text.length + 1, text })}\n`;
  writeFileSync(trace, `{"parley":"trace","version":1,"minor":0}\n${line.repeat(5000)}`);
  for (const command of ["show", "redact"]) {
    const piped = `"$0" trace ${command} "$1" | head -n 1 >/dev/null`;
    const { stderr } = spawnSync("sh", ["-c", piped, launcher, trace], { encoding: "utf8", env });
    assert.equal(stderr, "");
  }
});
