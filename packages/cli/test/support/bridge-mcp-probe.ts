// A program: a v2 agent that starts the MCP server "editor", calls the tools that a prompt lists as JSON, and says the
// results.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type AgentSession, agent } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";

interface Call {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

interface Editor {
  readonly mcp: Client;
  readonly pid: number | null;
}

const running = new Map<string, Promise<Editor>>();

async function start({ mcpServers }: AgentSession): Promise<Editor> {
  const server = mcpServers.find(({ name }) => name === "editor");
  if (server?.type !== "stdio") throw new Error(`no editor among ${JSON.stringify(mcpServers)}`);
  const { command, args = [], env = [] } = server;
  const mcp = new Client({ name: "probe", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
  });
  await mcp.connect(transport);
  return { mcp, pid: transport.pid };
}

await serveStdio(
  agent({
    name: "mcp-probe",
    version: "1.0.0",
    editions: ["v2"],
    async prompt(turn) {
      if (turn.text === "servers") return void (await turn.say(JSON.stringify(turn.session.mcpServers)));
      const { sessionId } = turn.session;
      const starting = running.get(sessionId) ?? start(turn.session);
      running.set(sessionId, starting);
      const { mcp, pid } = await starting;
      const results: unknown[] = [];
      for (const call of JSON.parse(turn.text) as Call[]) {
        if (call.name === "tools") {
          results.push((await mcp.listTools()).tools.map(({ name }) => name));
          continue;
        }
        if (call.name === "pids") {
          results.push([process.pid, pid]);
          continue;
        }
        const { content, isError } = await mcp.callTool(call, { signal: turn.signal });
        const [first] = content as { text?: string }[];
        results.push(isError === true ? { error: first?.text } : first?.text);
      }
      await turn.say(JSON.stringify(results));
    },
  }),
);
