// The coding agent uses MCP servers that other agents of the config host: the transport `acp` of the dialect scoped.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { agent } from "@parley/acp";
import { remoteServer } from "@parley/acp/server";
import { mcpKit, tool } from "@parley/mcp";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { hostRemote } from "../../../acp/test/support/remote-host.ts";
import { type Line, RawEditor } from "../../test/support/raw-editor-probe.ts";

const patience = { timeout: 120_000 };

/** An editor of the dialect, after the handshake, with these agents in the config. */
async function editorWith(t: TestContext, agents: object) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "parley-hosts-")));
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/config.json"), JSON.stringify({ agents }));
  const env = { ...process.env, PARLEY_HOME: home, PARLEY_MODEL: "offline" };
  const editor = new RawEditor(["agent", "--edition", "scoped", "--sandbox", "off"], env);
  t.after(async () => {
    editor.child.stdin.end();
    await editor.exit;
    rmSync(home, { recursive: true, force: true });
  });
  editor.serve({ "session/request_permission": () => ({ granted: true, scope: "once" }) });
  const hello = { protocolVersion: 1, clientInfo: { name: "Editor", version: "1" }, capabilities: {} };
  const { result } = await editor.ask("hello", "initialize", hello);
  const { mcpCapabilities } = (result as Line)["capabilities"] as {
    mcpCapabilities: { transport: string[] };
  };
  const open = (id: string, agentUrl: string) =>
    editor.ask(id, "session/new", {
      workingDirectory: home,
      mcpServers: [{ name: "far", transport: { type: "acp", agentUrl, mcpServerName: "notes" } }],
    });
  const found = async (agentUrl: string) => {
    const { sessionId } = (await open(`open ${agentUrl}`, agentUrl))["result"] as { sessionId: string };
    const content = [{ type: "text", text: '@tool far/search {"word":"milk"}' }];
    await editor.ask(`prompt ${agentUrl}`, "session/prompt", { sessionId, content });
    return JSON.stringify(editor.lines);
  };
  return { transport: mcpCapabilities.transport, open, found, editor };
}

const [command, ...args] = programCommand("cli/test/support/tools-agent.ts");
const keeper = { command, args: [...args, "never"] };

test("our agent uses a server that another agent of the config hosts", patience, async (t) => {
  const { transport, found, editor } = await editorWith(t, { keeper });
  assert.ok(transport.includes("acp"));
  assert.match(await found("acp://local/keeper"), /Buy milk/, editor.complaints);
});

test(
  "an address that names no agent of the config is refused, and the agent stays usable",
  patience,
  async (t) => {
    const { open, found } = await editorWith(t, { keeper });
    for (const address of [
      "acp://local/nobody",
      "acp://local/claude",
      "acp://local/parley",
      "acp://evil.example/keeper",
      "acp://user@local/keeper",
      "http://local/keeper",
      "keeper",
      "",
    ]) {
      const { code, message, data } = (await open(`refused ${address}`, address))["error"] as {
        code: number;
        message: string;
        data: { path: string };
      };
      assert.equal(code, -32602, address);
      assert.ok(message.includes(`"${address}" is no agent that the user has configured`), message);
      assert.equal(data.path, "/mcpServers/0/transport/agentUrl");
    }
    assert.match(await found("acp://local/keeper"), /Buy milk/);
  },
);

test("a remote agent is named by its host", patience, async (t) => {
  const notes = tool({
    name: "search",
    description: "Finds notes.",
    schema: { type: "object", properties: { word: { type: "string" } } },
    run: ({ word }) => `Drink ${word}`,
  });
  const far = agent({
    name: "far",
    version: "1.0.0",
    mcp: mcpKit(),
    mcpServers: { notes: [notes] },
    prompt: () => undefined,
  });
  const remote = remoteServer({ connect: (transport) => far.connect(transport) });
  const host = await hostRemote(remote);
  t.after(async () => {
    await remote.close();
    await host.stop();
  });
  const { found, editor } = await editorWith(t, { distant: { url: host.url } });
  const { host: name } = new URL(host.url);
  assert.match(await found(`acp://${name}`), /Drink milk/, editor.complaints);
  assert.match(await found(`acp://${name}/distant`), /Drink milk/);
});

test("a server that the other agent does not host is told to the user by name", patience, async (t) => {
  const { editor, transport } = await editorWith(t, { other: { command, args: [...args, "empty"] } });
  assert.ok(transport.includes("acp"));
  const { result } = await editor.ask("open", "session/new", {
    workingDirectory: tmpdir(),
    mcpServers: [
      { name: "far", transport: { type: "acp", agentUrl: "acp://local/other", mcpServerName: "mail" } },
    ],
  });
  const { sessionId } = result as { sessionId: string };
  await editor.ask("go", "session/prompt", { sessionId, content: [{ type: "text", text: "help" }] });
  assert.match(
    JSON.stringify(editor.lines),
    /The MCP server far answered with an error: .*hosts no MCP server .*mail.*it hosts: notes/,
  );
});

test("an entry that cannot be used is told, and the agent works without the others", patience, async (t) => {
  const { transport, editor } = await editorWith(t, { keeper, wrong: {} });
  assert.deepEqual(transport, ["stdio", "http", "sse"]);
  assert.match(
    editor.complaints,
    /no MCP servers of other agents are used: agents\.wrong needs a command or a url/,
  );
});

test("without agents in the config the transport is not announced", patience, async (t) => {
  const { transport } = await editorWith(t, {});
  assert.deepEqual(transport, ["stdio", "http", "sse"]);
});
