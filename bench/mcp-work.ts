// Calls a tool of another process many times, one call after the other, and prints the mean time. The floor is the official
// client of MCP and an official server over stdio. The others are an agent and the client whose tool it calls: over ACP ("ours"), or
// through the bridge ("sdk") with the official client of MCP.

import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio as serveMcp } from "@modelcontextprotocol/server/stdio";
import { agent, client, type SessionMcpServer } from "@parley/acp";
import { serveStdio, spawnTransport } from "@parley/acp/node";
import { mcpKit, tool } from "@parley/mcp";
import type { Entrant } from "./benchmark.ts";

/** What the program is given as JSON. */
export interface McpTask {
  readonly entrant: Entrant;
  readonly count: number;
  /** What a child of the program is. */
  readonly part?: "server" | "agent";
}

/** What it prints as JSON: per call, of both processes, and until the answer is there. */
export interface McpSample {
  readonly cpuUs: number;
  readonly wallUs: number;
}

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const echo = {
  name: "echo",
  arguments: { text: "sixty characters of text, as a tool of an editor may well get" },
};
const described = { description: "Says it again.", schema };

const task: McpTask = JSON.parse(process.argv[2] ?? "");
const { entrant, count, part } = task;

/** The arguments of Node for a child. */
const child = (child: McpTask["part"]) => [
  "--conditions=parley-source",
  fileURLToPath(import.meta.url),
  JSON.stringify({ ...task, part: child }),
];

/** The CPU time of this process, in microseconds. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The mean of `count` calls, after as many. The other process has a tool that says its CPU time. */
async function measured(
  once: (call: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>,
): Promise<McpSample> {
  const both = async () => {
    const { content } = (await once({ name: "cpu", arguments: {} })) as { content: { text: string }[] };
    return cpu() + Number(content[0]?.text);
  };
  for (let i = 0; i < count; i += 1) await once(echo);
  const before = await both();
  const started = performance.now();
  for (let i = 0; i < count; i += 1) await once(echo);
  const wallUs = ((performance.now() - started) / count) * 1_000;
  return { cpuUs: ((await both()) - before) / count, wallUs };
}

async function overStdio(): Promise<McpSample> {
  const official = new Client({ name: "bench", version: "1.0.0" });
  await official.connect(new StdioClientTransport({ command: process.execPath, args: child("server") }));
  const sample = await measured((call) => official.callTool(call));
  await official.close();
  return sample;
}

async function overHttp({ url, headers }: { url: string; headers: { name: string; value: string }[] }) {
  const official = new Client({ name: "bench", version: "1.0.0" });
  const requestInit = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  await official.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const sample = await measured((call) => official.callTool(call));
  await official.close();
  return sample;
}

async function overAcp(server: SessionMcpServer): Promise<McpSample> {
  await using channel = await server.connect();
  // awaited here, because the channel closes at the end
  return await measured((call) => channel.request("tools/call", call));
}

/** A client whose agent calls its tool. */
async function byAgent(): Promise<McpSample> {
  const app = client({ name: "bench", version: "1.0.0", mcp: mcpKit(), unstable: ["mcp_over_acp"] });
  const connected = await app.connect(spawnTransport(process.execPath, child("agent")));
  const tools = [
    tool({ name: "echo", ...described, run: ({ text }) => text }),
    tool({ name: "cpu", description: "Says the CPU time.", run: () => String(cpu()) }),
  ];
  const session = await connected.newSession({ cwd: process.cwd(), tools });
  const said = await session.prompt("measure").text();
  await connected.close();
  return JSON.parse(said);
}

if (part === "server") {
  serveMcp(() => {
    const server = new McpServer({ name: "bench", version: "1.0.0" });
    const config = {
      description: described.description,
      inputSchema: fromJsonSchema<{ text: string }>(schema),
    };
    server.registerTool("echo", config, ({ text }) => ({ content: [{ type: "text", text }] }));
    server.registerTool("cpu", {}, () => ({ content: [{ type: "text", text: String(cpu()) }] }));
    return server;
  });
} else if (part === "agent") {
  const isNative = entrant === "ours";
  const served = agent({
    name: "bench",
    version: "1.0.0",
    mcp: mcpKit(),
    ...(isNative && { unstable: ["mcp_over_acp"] as const }),
    async prompt(turn) {
      const [server] = turn.session.mcpServers;
      if (server === undefined) throw new Error("the session has no MCP server");
      // as: what a bridge declares has an address
      const sample = isNative ? await overAcp(server) : await overHttp(server as never);
      await turn.say(JSON.stringify(sample));
    },
  });
  await serveStdio(served);
} else process.stdout.write(JSON.stringify(entrant === "floor" ? await overStdio() : await byAgent()));
