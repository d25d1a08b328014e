// parley run and parley bridge with agents that speak a dialect, written from the documents alone, in plain Node.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Line, RawEditor, scriptedCommand } from "../../test/support/raw-editor-probe.ts";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

/** Lines of JSON on stdin and stdout, and requests to the editor. */
const wire = `
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const waiting = new Map();
let nextId = 500;
const ask = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++nextId, { resolve, reject });
  write({ id: nextId, method, params });
});
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    const { resolve, reject } = waiting.get(id);
    if (error === undefined) resolve(result); else reject(new Error(error.message));
  } else if (handlers[method] === undefined) {
    if (id !== undefined) write({ id, error: { code: -32601, message: "no such method" } });
  } else {
    const answer = await handlers[method](params);
    if (id !== undefined) write({ id, result: answer });
  }
});
`;

const scopedAgent = `${wire}
let pushed = "";
const update = (sessionId, type, data) => write({ method: "session/update", params: { sessionId, type, data } });
const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: "Document Agent", version: "1.0.0" },
    capabilities: {
      loadSession: false,
      mcpCapabilities: { servers: true, transport: ["stdio"] },
      promptCapabilities: { streaming: true, cancellation: true, attachments: true },
      sessionCapabilities: { modes: ["default", "plan"], configOptions: ["maxTokens"], persistence: false },
    },
  }),
  "session/new": ({ workingDirectory }) => {
    process.chdir(workingDirectory);
    return { sessionId: "sess_1", createdAt: "2026-02-04T10:30:00Z" };
  },
  "session/set_mode": ({ mode }) => ({ previousMode: "default", currentMode: mode }),
  "session/set_config_option": ({ key, value }) => ({ key, currentValue: value }),
  "terminal/output": ({ data }) => {
    pushed += data;
    return { received: true };
  },
  "session/prompt": async ({ sessionId, content }) => {
    const path = process.cwd() + "/written.txt";
    update(sessionId, "thought_message_chunk", { content: "Hm.", visible: true });
    update(sessionId, "tool_call", { id: "tc_1", tool: "fs/write_text_file", input: { path }, status: "pending", requiresPermission: true });
    const { granted } = await ask("session/request_permission", { sessionId, operation: "file_write", resource: path, reason: "The user wants it", toolCallId: "tc_1" });
    if (!granted) {
      update(sessionId, "tool_call_update", { id: "tc_1", status: "denied" });
      update(sessionId, "agent_message_chunk", { content: "I may not.", index: 0, final: true });
      return { stopReason: "end_turn", usage: { inputTokens: 3, outputTokens: 4 } };
    }
    const { bytesWritten, created } = await ask("fs/write_text_file", { path, content: content[0].text, createDirectories: true });
    const read = await ask("fs/read_text_file", { path });
    const kept = await ask("fs/write_text_file", { path, content: "x", overwrite: false }).catch(() => "kept");
    update(sessionId, "tool_call_update", { id: "tc_1", status: "completed", output: { type: "text", text: "done" }, duration: 5 });
    const { terminalId } = await ask("terminal/create", { command: "echo", args: ["out"], timeout: 60000 });
    const { exitCode } = await ask("terminal/wait_for_exit", { terminalId, timeout: 60000 });
    await ask("terminal/release", { terminalId });
    const said = [read.content, bytesWritten, created, kept, pushed.trim(), exitCode].join("|");
    update(sessionId, "agent_message_chunk", { content: said, index: 0, final: true });
    return { stopReason: "end_turn", usage: { inputTokens: 3, outputTokens: 4 } };
  },
};
`;

const pharoAgent = `${wire}
const update = (sessionId, update) => write({ method: "session/update", params: { sessionId, update } });
const say = (sessionId, text) => update(sessionId, { type: "message", role: "agent", content: [{ type: "text", text }] });
const set = [];
const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: "Document Agent", version: "1.0.0" },
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { supportedTransports: ["stdio"] },
      sessionModes: [{ modeId: "ask", title: "Ask" }, { modeId: "architect", title: "Architect" }],
    },
    authenticationMethods: [],
  }),
  "session/new": ({ cwd }) => {
    process.chdir(cwd);
    return { sessionId: "sess_1" };
  },
  "session/set_mode": ({ modeId }) => {
    set.push(modeId);
    return null;
  },
  "session/prompt": async ({ sessionId, prompt }) => {
    const path = process.cwd() + "/written.txt";
    update(sessionId, { type: "tool_call", toolCallId: "tc_1", title: "Write", kind: "edit", status: "pending", location: { path } });
    const options = [{ optionId: "allow", kind: "allow_once", label: "Allow" }, { optionId: "deny", kind: "reject_once", label: "Deny" }];
    const { selectedOptionId } = await ask("session/request_permission", { sessionId, title: "Write " + path, description: "The user wants it", options }).catch(() => ({}));
    if (selectedOptionId !== "allow") {
      update(sessionId, { type: "tool_call_update", toolCallId: "tc_1", status: "failed" });
      say(sessionId, "I may not.");
      return { stopReason: "end_turn" };
    }
    await ask("fs/write_text_file", { sessionId, path, content: prompt[0].text });
    const read = await ask("fs/read_text_file", { sessionId, path, startLine: 1, lineLimit: 1 });
    const { terminalId } = await ask("terminal/create", { sessionId, command: "echo", args: ["out"] });
    const { output, exitCode } = await ask("terminal/wait_for_exit", { sessionId, terminalId, timeout: 60000 });
    await ask("terminal/release", { sessionId, terminalId });
    update(sessionId, { type: "tool_call_update", toolCallId: "tc_1", status: "completed", content: [{ type: "text", text: "done" }] });
    say(sessionId, [read.content, output.trim(), exitCode, set].join("|"));
    return { stopReason: "end_turn" };
  },
};
`;

for (const [edition, source, mode, wanted] of [
  ["scoped", scopedAgent, "plan", "Say it|6|true|kept|out|0"],
  ["pharo", pharoAgent, "architect", "Say it|out|0|architect"],
] as const) {
  test(`parley run --edition ${edition} has a turn with an agent of that document`, patience, async () => {
    const file = join(probe.folder, `${edition}.mjs`);
    writeFileSync(file, source);
    const run = (...args: string[]) =>
      probe.parley(["run", "--no-history", "--edition", edition, ...args, "--", process.execPath, file]);
    const denied = await run("Say it");
    assert.match(denied.stdout, /I may not\./);
    assert.equal(denied.status, 3);
    const allowed = ["--allow", "write **", "--allow", "exec echo out", "--sandbox", "off", "--mode", mode];
    // no rule can be about a question of pharo, which has a title and nothing else
    const reviewer = ["--reviewer", `echo '{"decision":"allow"}'`];
    const { stdout, stderr, status } = await run(...allowed, ...reviewer, "--format", "quiet", "Say it");
    assert.deepEqual([stdout.trim(), status], [wanted, 0], stderr);
    assert.equal(readFileSync(join(probe.cwd, "written.txt"), "utf8"), "Say it");
  });
}

test(
  "parley bridge --as scoped gives an editor of that document an agent of version 1",
  patience,
  async () => {
    const steps = [{ say: "from version 1" }, { tool: { title: "Look", kind: "read" as const } }];
    const agent = scriptedCommand({ editions: ["v1"], otherwise: steps });
    const editor = new RawEditor(["bridge", "--as", "scoped", "--", ...agent]);
    const ui = { permissionDialogs: true };
    const hello = { protocolVersion: 1, clientInfo: { name: "e", version: "1" }, capabilities: { ui } };
    const welcome = (await editor.ask(1, "initialize", hello)).result as Line;
    assert.equal((welcome.capabilities as Line).loadSession, true);
    const opened = (await editor.ask(2, "session/new", { workingDirectory: probe.cwd })).result as Line;
    const { sessionId } = opened;
    const prompt = { sessionId, content: [{ type: "text", text: "hi" }] };
    assert.deepEqual((await editor.ask(3, "session/prompt", prompt)).result, { stopReason: "end_turn" });
    const updates = editor.lines.flatMap(({ params }) => (params === undefined ? [] : [params as Line]));
    const [chunk] = updates
      .filter(({ type }) => type === "agent_message_chunk")
      .map(({ data }) => data as Line);
    assert.equal(chunk?.content, "from version 1");
    assert.equal(updates.filter(({ type }) => type === "tool_call").length, 1);
    editor.child.stdin.end();
    await editor.exit;
  },
);
