// The tools that the user gives to the agent: modules named with --tools.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AgentCapabilities, ClientDefinition, McpReceipt, UnstableFeatures } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import { mcpKit, type ToolDefinition, tool } from "@parley/mcp";
import { usageError } from "../command/command.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import { exitCodes, LiveError } from "./live-error.ts";

/** The default export of a module: one tool, one MCP server, or a list of them. Rejects with a usage error. */
export async function toolsFrom(file: string): Promise<readonly object[]> {
  const wrong = (message: string) =>
    usageError(`--tools: ${escapedLine(file)}: ${safeLine(message)}`, "docs/tools.md shows such a file");
  const path = resolve(file);
  if (!existsSync(path)) throw wrong("there is no such file");
  const loaded: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw wrong(error instanceof Error ? error.message : String(error));
  });
  const given = isObject(loaded) ? loaded["default"] : undefined;
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (all.length === 0) throw wrong("the list of tools is empty");
  return all.map((each) => {
    if (!isObject(each))
      throw wrong(`expected a default export of tools, got ${each === undefined ? "none" : typeof each}`);
    // made by tool(), an MCP server, or a provider
    if (["kind", "connect", "request"].some((key) => key in each)) return each;
    try {
      // as: it is checked
      return tool(each as unknown as ToolDefinition<{ type: "object" }>);
    } catch (error) {
      throw wrong((error as Error).message); // a TypeError
    }
  });
}

/** Tools for one agent. */
export interface GivenTools {
  readonly options: Pick<ClientDefinition, "mcp" | "mcpReceipt">;
  features(others?: UnstableFeatures): UnstableFeatures;
  /** Throws a LiveError for an agent that cannot reach them. */
  forSession(agent: AgentCapabilities, isRemote: boolean): { readonly tools: readonly object[] };
}

export interface ToolReceiver {
  /** The name of the agent. */
  readonly agent: string;
  tell(text: string): void;
  notice(text: string): void;
}

export function givenTools(tools: readonly object[], receiver: ToolReceiver): GivenTools {
  const { agent, tell, notice } = receiver;
  return {
    options: {
      mcp: mcpKit(),
      mcpReceipt: (receipt) => (receipt.state === "connected" ? tell : notice)(receiptText(agent, receipt)),
    },
    features: (others = []) => (others === "*" ? others : [...others, "mcp_over_acp"]),
    forSession({ mcpAcp }, isRemote) {
      if (mcpAcp || !isRemote) return { tools };
      throw new LiveError(
        exitCodes.usage,
        "not_offered",
        "--tools: the agent is on another machine and has no MCP over ACP, so it cannot reach tools of this one",
      );
    },
  };
}

/** Tools have the name of their client. */
const ours = "parley";

function receiptText(agent: string, { state, server, tools, afterMs }: McpReceipt): string {
  const which = server === ours ? "tools" : `tools of ${server}`;
  if (state === "connected")
    return `${which}: ${tools === undefined ? "" : `${tools} `}connected (${agent}, ${afterMs} ms)`;
  return `${which}: ${agent} has not used the MCP server ${server} within ${afterMs / 1000} s; it may do so later, or have dropped it`;
}
