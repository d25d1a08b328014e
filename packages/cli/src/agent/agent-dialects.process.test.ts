// The coding agent with editors that speak a dialect: whole sessions over stdio, written from the documents alone.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Line, RawEditor } from "../../test/support/raw-editor-probe.ts";

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "parley-dialects-")));
after(() => rmSync(temporary, { recursive: true, force: true }));
const patience = { timeout: 120_000 };

function started(edition: string): { readonly editor: RawEditor; readonly cwd: string; again(): RawEditor } {
  const cwd = join(temporary, edition);
  mkdirSync(cwd, { recursive: true });
  const env = { ...process.env, PARLEY_HOME: join(temporary, `${edition}-home`), PARLEY_MODEL: "offline" };
  const again = () => {
    const editor = new RawEditor(["agent", "--edition", edition, "--sandbox", "off"], env);
    after(() => void editor.child.kill());
    return editor;
  };
  return { editor: again(), cwd, again };
}

const result = (line: Line): Line => {
  assert.equal(line.error, undefined);
  return line.result as Line;
};

/** The params of the agent's requests and notifications of a method. */
const told = (editor: RawEditor, method: string): Line[] =>
  editor.lines.filter((line) => line.method === method).map(({ params }) => params as Line);

test(
  "parley agent --edition scoped has a whole session with an editor of that document",
  patience,
  async () => {
    const { editor, cwd, again } = started("scoped");
    const files = new Map([[join(cwd, "notes.txt"), "hello world\n"]]);
    const hello = {
      protocolVersion: 1,
      clientInfo: { name: "VS Code", version: "1.85.0" },
      capabilities: {
        fs: { read: true, write: true },
        terminal: { create: true, interactive: false, maxConcurrent: 5 },
        ui: { permissionDialogs: true, diffViewer: true },
      },
    };
    let isGranted = true;
    editor.serve({
      "fs/read_text_file": ({ path }) => ({ content: files.get(String(path)), encoding: "utf-8" }),
      "fs/write_text_file"({ path, content }) {
        files.set(String(path), String(content));
        return { bytesWritten: String(content).length, created: false };
      },
      "session/request_permission": () => (isGranted ? { granted: true, scope: "once" } : { granted: false }),
      "terminal/create": () => ({ terminalId: "term_1", pid: 77 }),
      "terminal/wait_for_exit"({ terminalId }) {
        const data = { terminalId, data: "made it\n", stream: "stdout" };
        editor.send({ id: "push", method: "terminal/output", params: data });
        return { exitCode: 0 };
      },
      "terminal/kill": () => ({ killed: true }),
      "terminal/release": () => ({ released: true }),
    });

    const welcome = result(await editor.ask(1, "initialize", hello));
    const { sessionCapabilities, loadSession } = welcome.capabilities as Line;
    assert.equal(loadSession, true);
    assert.deepEqual((sessionCapabilities as Line).modes, ["default", "code", "plan", "ask", "architect"]);
    const login = { method: "api_key", credentials: { apiKey: "sk-no-such-method" } };
    assert.equal(result(await editor.ask(2, "authenticate", login)).success, false);

    const opened = result(
      await editor.ask(3, "session/new", { workingDirectory: cwd, initialMode: "default" }),
    );
    const sessionId = String(opened.sessionId);
    assert.ok(Date.parse(String(opened.createdAt)) > 0);
    const said = (text: string) => ({ sessionId, content: [{ type: "text", text }] });
    const updates = (type: string) =>
      told(editor, "session/update").flatMap((params) => (params.type === type ? [params.data as Line] : []));
    const words = () =>
      updates("agent_message_chunk")
        .map(({ content }) => content)
        .join("");

    assert.equal(
      result(await editor.ask(4, "session/prompt", said("read notes.txt"))).stopReason,
      "end_turn",
    );
    assert.match(words(), /hello world/);
    assert.equal(updates("tool_call")[0]?.tool, "read");

    await editor.ask(5, "session/prompt", said('replace "world" with "editor" in notes.txt'));
    assert.equal(files.get(join(cwd, "notes.txt")), "hello editor\n");
    const [question] = told(editor, "session/request_permission");
    assert.deepEqual([question?.operation, question?.resource], ["file_write", join(cwd, "notes.txt")]);
    assert.ok(updates("tool_call_update").some(({ status }) => status === "awaiting_permission"));
    assert.ok(
      updates("tool_call_update").some(({ output }) => (output as Line | undefined)?.type === "diff"),
    );

    await editor.ask(6, "session/prompt", said("run make it"));
    assert.match(words(), /made it\n/);
    assert.deepEqual(result(await editor.until(({ id }) => id === "push")), { received: true });

    isGranted = false;
    await editor.ask(7, "session/prompt", said('replace "editor" with "nobody" in notes.txt'));
    assert.equal(files.get(join(cwd, "notes.txt")), "hello editor\n");
    assert.equal(updates("tool_call_update").at(-1)?.status, "denied");

    const mode = await editor.ask(8, "session/set_mode", { sessionId, mode: "plan" });
    assert.deepEqual(result(mode), { previousMode: "default", currentMode: "plan" });
    const option = await editor.ask(9, "session/set_config_option", {
      sessionId,
      key: "autoApprove",
      value: "edits",
    });
    assert.deepEqual(result(option), { key: "autoApprove", previousValue: "reads", currentValue: "edits" });
    const wrong = await editor.ask(10, "session/set_config_option", {
      sessionId,
      key: "autoApprove",
      value: 7,
    });
    assert.equal((wrong.error as Line).code, -32602);
    assert.equal(
      ((await editor.ask(11, "session/prompt", { ...said("hi"), sessionId: "x" })).error as Line).code,
      -32000,
    );
    editor.child.stdin.end();
    assert.equal((await editor.exit).code, 0);

    // a process that never answers a question is cancelled, and the session goes on in another process
    const later = again();
    await later.ask(1, "initialize", hello);
    const loaded = result(await later.ask(2, "session/load", { sessionId }));
    assert.deepEqual([loaded.workingDirectory, loaded.mode], [cwd, "plan"]);
    await later.ask(3, "session/set_mode", { sessionId, mode: "default" });
    const waiting = later.ask(4, "session/prompt", said("run something"));
    await later.until(({ method }) => method === "session/request_permission");
    later.send({ method: "session/cancel", params: { sessionId, reason: "user_requested" } });
    assert.equal(result(await waiting).stopReason, "cancelled");
    later.child.stdin.end();
    assert.equal((await later.exit).code, 0);
  },
);

test(
  "parley agent --edition pharo has a whole session with an editor of that document",
  patience,
  async () => {
    const { editor, cwd, again } = started("pharo");
    const files = new Map([[join(cwd, "notes.txt"), "hello world\n"]]);
    const hello = {
      protocolVersion: 1,
      clientInfo: { name: "VS Code", version: "1.80.0" },
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: { create: true, output: true, waitForExit: true, kill: true, release: true },
      },
    };
    let selectedOptionId = "allow_once";
    editor.serve({
      "fs/read_text_file": ({ path }) => ({ content: files.get(String(path)) }),
      "fs/write_text_file"({ path, content }) {
        files.set(String(path), String(content));
        return null;
      },
      "session/request_permission": () => ({ selectedOptionId }),
      "terminal/create": () => ({ terminalId: "term_1" }),
      "terminal/wait_for_exit": () => ({ output: "made it\n", exitCode: 0 }),
      "terminal/output": () => ({ output: "made it\n", exitCode: 0 }),
      "terminal/kill": () => null,
      "terminal/release": () => null,
    });

    const welcome = result(await editor.ask(1, "initialize", hello));
    assert.deepEqual(welcome.authenticationMethods, []);
    const modes = (welcome.agentCapabilities as Line).sessionModes as Line[];
    assert.deepEqual(
      modes.map(({ modeId }) => modeId),
      ["ask", "code", "architect", "chat"],
    );
    const login = await editor.ask(2, "authenticate", {
      methodId: "api-key",
      credentials: { apiKey: "sk-1" },
    });
    assert.equal((login.error as Line).code, -32002);

    const opened = result(await editor.ask(3, "session/new", { cwd, mcpServers: [] }));
    const sessionId = String(opened.sessionId);
    const said = (text: string) => ({ sessionId, prompt: [{ type: "text", text }] });
    const updates = (type: string) =>
      told(editor, "session/update")
        .map(({ update }) => update as Line)
        .filter((update) => update.type === type);
    const words = () =>
      updates("message")
        .flatMap(({ content }) => content as Line[])
        .map(({ text }) => text)
        .join("");

    assert.deepEqual(
      result(await editor.ask(4, "session/prompt", said("read notes.txt"))).stopReason,
      "end_turn",
    );
    assert.match(words(), /hello world/);
    assert.equal(updates("tool_call")[0]?.title, "Read notes.txt");

    await editor.ask(5, "session/prompt", said('replace "world" with "editor" in notes.txt'));
    assert.equal(files.get(join(cwd, "notes.txt")), "hello editor\n");
    const [question = {}] = told(editor, "session/request_permission");
    assert.equal(question.title, "Edit notes.txt");
    assert.partialDeepStrictEqual((question.options as Line[])[0], {
      optionId: "allow_once",
      kind: "allow_once",
      label: "Allow",
    });

    await editor.ask(6, "session/prompt", said("run make it"));
    assert.match(words(), /made it\n/);

    selectedOptionId = "reject_once";
    await editor.ask(7, "session/prompt", said('replace "editor" with "nobody" in notes.txt'));
    assert.equal(files.get(join(cwd, "notes.txt")), "hello editor\n");
    assert.equal(updates("tool_call_update").at(-1)?.status, "failed");

    assert.equal((await editor.ask(8, "session/set_mode", { sessionId, modeId: "architect" })).result, null);
    const option = { sessionId, option: "autoApprove", value: "edits" };
    assert.equal((await editor.ask(9, "session/set_config_option", option)).result, null);
    // the public client for Pharo sends both without an id
    editor.send({ method: "session/set_mode", params: { sessionId, modeId: "ask" } });
    editor.send({ method: "session/set_config_option", params: { ...option, value: "off" } });
    const wrong = await editor.ask(10, "session/set_config_option", { ...option, value: 7 });
    assert.equal((wrong.error as Line).code, -32602);
    assert.equal(
      ((await editor.ask(11, "session/prompt", { ...said("hi"), sessionId: "x" })).error as Line).code,
      -32005,
    );
    editor.child.stdin.end();
    assert.equal((await editor.exit).code, 0);

    const later = again();
    await later.ask(1, "initialize", hello);
    assert.equal((await later.ask(2, "session/load", { sessionId, mcpServers: [] })).result, null);
    const replayed = told(later, "session/update").map(({ update }) => update as Line);
    assert.ok(replayed.some(({ type, role }) => type === "message" && role === "user"));
    const waiting = later.ask(4, "session/prompt", said("run something"));
    await later.until(({ method }) => method === "session/request_permission");
    later.send({ method: "session/cancel", params: { sessionId } });
    assert.equal(result(await waiting).stopReason, "cancelled");
    later.child.stdin.end();
    assert.equal((await later.exit).code, 0);
  },
);
