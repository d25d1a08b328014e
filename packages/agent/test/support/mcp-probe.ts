// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// MCP servers for tests: real ones from npm, and small ones that misbehave.

import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { SessionUpdate } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import { type ScriptedModel, type Talk, type TalkOptions, talk, toolUpdates } from "./agent-probe.ts";

const programs = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
} as const;

export function program(name: keyof typeof programs): string {
  return fileURLToPath(programs[name]);
}

interface StdioMore {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Fields beside those of the schema. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export function realServer(name: keyof typeof programs, more: StdioMore = {}): McpServer {
  return stdioServer(name, program(name), more);
}

export function stdioServer(
  name: string,
  path: string,
  { args = [], env = {}, more = {} }: StdioMore = {},
): McpServer {
  return {
    type: "stdio",
    name,
    command: process.execPath,
    args: [path, ...args],
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ...more,
  };
}

export function remoteServer(
  type: "http" | "sse",
  url: string,
  headers: readonly { readonly name: string; readonly value: string }[] = [],
): McpServer {
  return { type, name: "remote", url, headers };
}

/**
 * A server in a few lines of JavaScript: `answer(method, params, id)` gives a result, or nothing for no answer at all;
 * `notify` tells the client something, `ask` asks it and gives the whole answer.
 */
export function scriptServer(folder: string, name: string, source: string, more: StdioMore = {}): McpServer {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, `${scriptFrame}\n${source}\n`);
  return stdioServer(name, path, more);
}

/** One whose tools are all that there is to it: for each the lines of `(params, id) => { ... }`. */
export function toolServer(
  folder: string,
  name: string,
  tools: Readonly<Record<string, string>>,
  more: StdioMore & { readonly also?: string } = {},
): McpServer {
  const { also = "", ...rest } = more;
  const bodies = Object.entries(tools).map(
    ([tool, lines]) => `${JSON.stringify(tool)}: (params, id) => { ${lines} }`,
  );
  const source = `const tools = { ${bodies.join(", ")} };
    const answer = (method, params, id) => {
      if (method === "initialize") return hello({ tools: {} });
      if (method === "tools/list") return { tools: Object.keys(tools).map((name) => tool(name)) };
      if (method === "tools/call") return tools[params.name](params, id);
      ${also}
    };`;
  return scriptServer(folder, name, source, rest);
}

const scriptFrame = `
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const notify = (method, params = {}) => write({ method, params });
const hello = (capabilities) => ({
  protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "script", version: "1" },
});
const waiting = new Map();
const ask = (method, params) => new Promise((resolve) => {
  waiting.set("ask-" + waiting.size, resolve);
  write({ id: "ask-" + (waiting.size - 1), method, params });
});
const tool = (name, more = {}) => ({ name, description: name, inputSchema: { type: "object" }, ...more });
const said = (text, more = {}) => ({ content: [{ type: "text", text }], ...more });
createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (method === undefined) return waiting.get(id)?.(message);
  const result = await answer(method, params, id);
  if (id !== undefined && result !== undefined) write({ id, result });
}).on("close", () => process.exit(0));
`;

/** The everything server on a port of this machine. Ends with the test. */
export async function servedEverything(
  context: TestContext,
  transport: "streamableHttp" | "sse",
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, [program("everything"), transport], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await new Promise<void>((resolve, reject) => {
    const look = (text: Buffer) => /listening|running on port/i.test(String(text)) && resolve();
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", (code) => reject(new Error(`the server exited with code ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`, child };
}

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** What the model was told of its calls, in order. */
export function outcomesOf(model: ScriptedModel): string[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  return messages
    .flatMap((message) => (message.role === "tool" ? message.outcomes : []))
    .map(({ content }) =>
      content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n"),
    );
}

/** The types of what a call shows in the end. */
export function shownBy(updates: readonly SessionUpdate[], title: string): string[] {
  const all = toolUpdates(updates);
  const id = all.find((update) => update.title === title)?.toolCallId;
  const shown = all.filter(({ toolCallId, content }) => toolCallId === id && content != null).at(-1);
  return (shown?.content ?? []).map((item) => (item.type === "content" ? item.content.type : item.type));
}

/** A test that fails must not leave its servers behind. */
export async function talkUntilEnd(context: TestContext, options: TalkOptions): Promise<Talk> {
  const link = await talk(options);
  context.after(() => link.end());
  return link;
}
