// Finds out whether an agent uses the tools of its client: gives it one, and waits until it lists them.

import type { AgentCapabilities, ClientDefinition, McpReceipt } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { mcpKit, tool } from "@parley/mcp";

export interface ToolFacts {
  /**
   * "silent": it took the server and did not use it in time. "refused": it opens a session only without the server.
   * "none": it uses no MCP servers of its clients. "elsewhere": it runs on another machine, which has no way to the server.
   */
  readonly state: "connected" | "silent" | "refused" | "none" | "elsewhere";
  /** The name of the server that it was given. */
  readonly server: string;
  /** How it was to reach it: over the connection itself, at an address of this machine, or by a command. */
  readonly way?: "acp" | "http" | "stdio";
  /** How many tools it got. */
  readonly tools?: number;
  /** How long that took since the session was asked for, or how long it was waited for. */
  readonly afterMs?: number;
  /** Why it opened no session with the server. */
  readonly error?: string;
}

const longestMs = 10_000;

export interface ToolCheck {
  /** What the client is made with. */
  readonly definition: Pick<ClientDefinition, "mcp" | "mcpReceipt" | "unstable">;
  /** How long the agent may take. */
  readonly waitMs: number;
  /** Why the agent is given no tool; undefined if it is. */
  unable(agent: AgentCapabilities): ToolFacts | undefined;
  /** Waits for the first use. An agent that ends meanwhile has not used it. Never rejects. */
  facts(agent: AgentCapabilities, agentClosed: Promise<unknown>): Promise<ToolFacts>;
}

export function toolCheck({
  isRemote,
  isSandboxed,
  timeoutMs = longestMs,
}: {
  readonly isRemote: boolean;
  readonly isSandboxed: boolean;
  readonly timeoutMs?: number | undefined;
}): ToolCheck {
  const { promise, resolve } = Promise.withResolvers<McpReceipt | undefined>();
  return {
    definition: {
      unstable: ["mcp_over_acp"],
      mcp: mcpKit(),
      mcpReceipt: resolve,
    },
    waitMs: Math.min(longestMs, timeoutMs),
    unable({ mcpAcp, mcpHttp, mcpStdio }) {
      if (!mcpAcp && isRemote) return { state: "elsewhere", server };
      return mcpAcp || mcpHttp || mcpStdio ? undefined : { state: "none", server };
    },
    async facts({ mcpAcp, mcpHttp }, agentClosed) {
      const way = mcpAcp ? "acp" : mcpHttp && !isSandboxed ? "http" : "stdio";
      const receipt = await Promise.race([promise, agentClosed.then(() => undefined)]);
      const { state = "silent", tools, afterMs } = receipt ?? {};
      return { state, server, way, ...optional({ tools, afterMs }) };
    },
  };
}

/** Tools have the name of their client. */
const server = "parley";

export const checkTool = tool({
  name: "parley_check",
  description: "Part of a check whether you have the tools of your client. There is no need to call it.",
  readOnly: true,
  run: () => "The tools of the client can be called.",
});

/** What follows `tools:`. */
export function toolsText({ state, server: name, way = "acp", afterMs, error }: ToolFacts): string {
  if (state === "connected") return `connected (${name}, ${afterMs ?? 0} ms, ${ways[way]})`;
  if (state === "refused") return `refused: it opens no session with an MCP server (${error ?? "no reason"})`;
  if (state === "none") return "none: the agent uses no MCP servers of its clients";
  if (state === "elsewhere")
    return "not checked: the agent runs on another machine, where MCP over ACP alone would reach it";
  const when = afterMs === undefined ? "before it ended" : `within ${afterMs / 1000} s`;
  return `not connected: the agent did not use the MCP server ${name} ${when} (${ways[way]})`;
}

const ways = { acp: "over ACP", http: "by HTTP", stdio: "by a command" } as const;

/** What to do; undefined where nothing is wrong. */
export function toolsTodo({ state }: ToolFacts): string | undefined {
  if (state === "silent")
    return "it may connect with its first prompt; if tools are missing then, see whether its settings allow MCP servers of clients";
  return state === "refused" ? "update the agent, or ask whoever makes it" : undefined;
}
