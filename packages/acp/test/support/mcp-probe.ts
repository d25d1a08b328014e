// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// MCP servers by hand, a kit whose bridge stays in this process, and an agent that does what a test says.

import { type AgentDefinition, McpFailure, type Turn } from "../../src/index.ts";
import type {
  McpBridgeTarget,
  McpCall,
  McpChannel,
  McpConnectOptions,
  McpKit,
  McpProvider,
  McpServer,
} from "../../src/model.ts";
import type { Prompted } from "./peer-probe.ts";

export type ToolRun = (given: Readonly<Record<string, unknown>>, call: McpCall) => unknown;

/** A server with these tools. */
export function server(name: string, tools: Readonly<Record<string, ToolRun>>): McpProvider {
  return {
    name,
    async request(call) {
      const { name: tool, arguments: given } = call.params ?? {};
      if (call.method === "tools/list") return { tools: Object.keys(tools).map((each) => ({ name: each })) };
      const run = call.method === "tools/call" ? tools[String(tool)] : undefined;
      if (run === undefined)
        throw new McpFailure({ code: -32601, message: `no ${call.method} ${String(tool)}` });
      return run((given ?? {}) as Readonly<Record<string, unknown>>, call);
    },
  };
}

export const said = (text: string) => ({ content: [{ type: "text", text }] });

/** An agent that does this in each turn, and answers with what it returns, as JSON. */
export function doing(
  work: (turn: Turn, channels: readonly McpChannel[]) => unknown,
): Partial<AgentDefinition> & { readonly prompt: Prompted } {
  return {
    unstable: ["mcp_over_acp", "fork"],
    async prompt(turn) {
      const channels = await Promise.all(turn.session.mcpServers.map((each) => each.connect()));
      await turn.say(JSON.stringify(await work(turn, channels)) ?? "nothing");
    },
  };
}

export interface ToolOfKit {
  readonly tool: string;
  readonly run: ToolRun;
}

/** A kit that listens nowhere: `reach` is what a client of MCP would do with the address. */
export interface KitProbe extends McpKit {
  readonly log: string[];
  /** What the agent was given for each server, by its address. */
  readonly declared: Map<string, McpProvider>;
  reach(
    url: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  readonly connected: { readonly server: McpServer; readonly options: McpConnectOptions }[];
}

export function kitProbe(): KitProbe {
  const log: string[] = [];
  const declared = new Map<string, McpProvider>();
  const connected: KitProbe["connected"] = [];
  let last = 0;
  return {
    log,
    declared,
    connected,
    providers(tools, name) {
      const made = tools as readonly ToolOfKit[];
      log.push(`made ${name}`);
      const made_ = server(name, Object.fromEntries(made.map(({ tool, run }) => [tool, run])));
      return [{ ...made_, close: async () => void log.push(`ended ${name}`) }];
    },
    bridge: ({ http, stdio }: McpBridgeTarget) => ({
      async declare(provider, { cwd, sessionId }) {
        if (!http && !stdio) return undefined;
        if (provider.name === "broken") throw new Error("no port is free");
        const url = `http://127.0.0.1:1/${++last}`;
        const bridged: McpProvider = {
          name: provider.name,
          request: (call) => provider.request({ ...call, sessionId: sessionId() }),
        };
        declared.set(url, bridged);
        log.push(`declared ${provider.name} in ${cwd}`);
        const { name } = provider;
        return {
          server: http ? { type: "http", name, url, headers: [] } : { type: "stdio", name, command: url },
          async close() {
            declared.delete(url);
            log.push(`undeclared ${name}`);
          },
        };
      },
      close: async () => void log.push("bridge closed"),
    }),
    async reach(url, method, params, signal = new AbortController().signal) {
      const provider = declared.get(url);
      if (provider === undefined) throw new Error(`nothing listens at ${url}`);
      return provider.request({ method, params, sessionId: undefined, signal, notify: () => undefined });
    },
    async connect(server, options) {
      connected.push({ server, options });
      const close = async () => void log.push(`closed ${String(server.name)}`);
      return {
        request: async (method) => ({ method, of: server.type }),
        close,
        [Symbol.asyncDispose]: close,
      };
    },
  };
}
