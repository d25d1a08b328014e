import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { PermissionRequest } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  type TalkOptions,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";
import type { FolderServers, McpSources } from "./sources.ts";

/** An MCP server over HTTP with one tool. */
async function served(
  t: TestContext,
): Promise<{ readonly url: string; readonly host: string; readonly hits: string[] }> {
  const hits: string[] = [];
  const server = createServer(async (request, response) => {
    hits.push(`${request.method} ${request.url}`);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const tools = [
      { name: "look", inputSchema: { type: "object" } },
      { name: "list", inputSchema: { type: "object" } },
    ];
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "p", version: "1" },
      },
      "tools/list": { tools },
      "tools/call": { content: [{ type: "text", text: "seen" }] },
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}/mcp`, host, hits };
}

const named = (url: string, name = "db"): McpServer => ({ type: "http", name, url, headers: [] });

/** As the command line has it, in memory. */
function sources(servers: readonly McpServer[], problems: readonly string[] = []) {
  const decided = new Map<string, "always" | "never">();
  const ofFolder = (folder: string): FolderServers => ({
    problems,
    servers: servers.map((server) => {
      const key = `${folder} ${JSON.stringify(server)}`;
      const lines = [`${"url" in server ? server.url : ""} (http)`, "with the header X: \u202eevil"];
      return {
        server,
        lines,
        decision: decided.get(key),
        remember: (answer) => void decided.set(key, answer),
      };
    }),
  });
  return { ofFolder, decided } satisfies McpSources & { decided: unknown };
}

async function session(t: TestContext, options: TalkOptions) {
  const model = scriptedModel([says("one"), says("two"), says("three")]);
  const link = await talk({ models: [model], ...options });
  t.after(() => link.end());
  const names = () =>
    (model.requests.at(-1)?.tools ?? []).map(({ name }) => name).filter((name) => name.includes("/"));
  return { ...link, model, names };
}

function shown(ask: PermissionRequest | undefined): string {
  return JSON.stringify(ask);
}

inEveryVersion(
  "TH16 a server that .mcp.json names is asked about with the first prompt, and not touched before",
  {},
  async ({ version, cwd, context: t }) => {
    const { url, host, hits } = await served(t);
    const open = sources([named(url)]);
    const before: number[] = [];
    const {
      session: opened,
      names,
      asks,
    } = await session(t, {
      version,
      cwd,
      mcp: open,
      privateHosts: [host],
      clientDefinition: {
        requestPermission(ask) {
          asks.push(ask);
          before.push(hits.length);
          return "allow_once";
        },
      },
    });
    assert.equal(asks.length, 0);
    await opened.prompt("one").result;
    assert.deepEqual(before, [0]);
    assert.match(shown(asks[0]), /Start the MCP server db from \.mcp\.json/);
    assert.ok(shown(asks[0]).includes(url));
    // a character that reorders the line is shown as what it is
    assert.ok(shown(asks[0]).includes("u{202e}evil"));
    assert.deepEqual(names(), ["db/look", "db/list"]);
    await opened.prompt("two").result;
    assert.equal(asks.length, 1);
    assert.deepEqual([...open.decided], []);
  },
);

test("TH16 a no, a never, an unanswered question and a client without an answer start nothing, and say how to allow it", async (t) => {
  for (const [answer, reason] of [
    ["reject_once", "you did not allow it"],
    ["reject_always", "you did not allow it"],
    ["no_such_option", "nobody answered the question about it"],
    [undefined, "nobody answered the question about it"],
  ] as const) {
    const { url, host, hits } = await served(t);
    const open = sources([named(url)]);
    const cwd = temporaryFolder(t, {});
    const options = { version: 2 as const, cwd, mcp: open, privateHosts: [host] };
    const {
      session: opened,
      updates,
      names,
    } = await session(t, { ...options, answers: answer ? [answer] : [] });
    await opened.prompt("one").result;
    await opened.prompt("two").result;
    assert.deepEqual([hits, names()], [[], []]);
    const told = `The MCP server db from .mcp.json is not started: ${reason}. To allow it, run parley trust in ${cwd}, or add it to agent.mcpServers in your config.`;
    assert.equal(JSON.stringify(updates).split(told).length, 2, `${answer}: ${JSON.stringify(updates)}`);
    assert.deepEqual([...open.decided.values()], answer === "reject_always" ? ["never"] : []);
  }
});

test("TH16 always and never hold for the next session, until the entry changes", async (t) => {
  const first = await served(t);
  const second = await served(t);
  const cwd = temporaryFolder(t, {});
  const privateHosts = [first.host, second.host];
  const servers = [named(first.url, "yes"), named(first.url, "no")];
  const open = sources(servers);
  const run = async (answers: readonly string[]) => {
    const {
      session: opened,
      asks,
      names,
      end,
    } = await session(t, { version: 2, cwd, mcp: open, privateHosts, answers });
    await opened.prompt("one").result;
    const found = [asks.length, names()];
    await end();
    return found;
  };
  assert.deepEqual(await run(["allow_always", "reject_always"]), [2, ["yes/look", "yes/list"]]);
  assert.deepEqual(await run([]), [0, ["yes/look", "yes/list"]]);
  servers[0] = named(second.url, "yes");
  assert.deepEqual(await run(["reject_once"]), [1, []]);
  assert.deepEqual(second.hits, []);
});

test("servers of the client win over the user's own, and those over the ones of .mcp.json", async (t) => {
  const [editor, user, project] = [await served(t), await served(t), await served(t)];
  const {
    session: opened,
    asks,
    names,
  } = await session(t, {
    version: 2,
    cwd: temporaryFolder(t, {}),
    mcpServers: [named(editor.url, "a")],
    mcp: {
      servers: [named(user.url, "a"), named(user.url, "b")],
      ofFolder: sources([named(project.url, "a"), named(project.url, "b")]).ofFolder,
    },
  });
  await opened.prompt("one").result;
  assert.deepEqual(names().sort(), ["a/list", "a/look", "b/list", "b/look"]);
  assert.ok(editor.hits.length > 0 && user.hits.length > 0);
  assert.deepEqual([asks.length, project.hits], [0, []]);
});

test("a client that asks about the folder itself is not asked again", async (t) => {
  const { url, hits } = await served(t);
  const model = scriptedModel([says("one")]);
  const cwd = temporaryFolder(t, {});
  const link = await talk({ version: 2, cwd, models: [model], mcp: sources([named(url)]) });
  t.after(() => link.end());
  const opened = await link.agent.newSession({ cwd, _meta: { "_parley.dev/trust": "client" } });
  await opened.prompt("one").result;
  assert.deepEqual([link.asks.length, hits], [0, []]);
});

test("what is wrong with the servers is told once, and the session stays usable", async (t) => {
  const ofFolder = () => {
    throw new Error("it is gone");
  };
  for (const [mcp, told] of [
    [{ problems: ["The MCP server x is not started: y."] }, /The MCP server x is not started: y\./],
    [sources([], [".mcp.json is a symbolic link"]), /\.mcp\.json is a symbolic link/],
    [{ ofFolder }, /The MCP servers of .* are ignored: it is gone\./],
  ] as const) {
    const { session: opened, updates } = await session(t, { version: 2, cwd: temporaryFolder(t, {}), mcp });
    assert.equal((await opened.prompt("one").result).stopReason, "end_turn");
    await opened.prompt("two").result;
    assert.equal(JSON.stringify(updates).match(new RegExp(told, "g"))?.length, 1);
  }
});

test("an entry can name the only tools that are used", async (t) => {
  for (const [tools, wanted] of [
    [["look"], ["db/look"]],
    [["l*"], ["db/look", "db/list"]],
    [[], []],
  ] as const) {
    const { url } = await served(t);
    const server = { ...named(url), _meta: { tools } };
    const model = scriptedModel([calls(["db/list", {}]), says("done")]);
    const link = await talk({
      version: 2,
      cwd: temporaryFolder(t, {}),
      models: [model],
      mcp: { servers: [server] },
    });
    await link.session.prompt("one").result;
    await link.end();
    const names = (model.requests[0]?.tools ?? [])
      .map(({ name }) => name)
      .filter((name) => name.includes("/"));
    assert.deepEqual(names, wanted);
  }
});
