// An MCP server, of the official package, that has tools.

import type { CallToolResult, McpServer, StandardSchemaWithJSON } from "@modelcontextprotocol/server";

import { sessionKey } from "@parley/acp/extensions";
import type { Tool, ToolResult } from "./tool.ts";

/** Loads the server package, which takes 100 ms. */
export async function toolServer(tools: readonly Tool[], name: string): Promise<McpServer> {
  const { McpServer, fromJsonSchema } = await import("@modelcontextprotocol/server");
  const server = new McpServer({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
  for (const { name, title, description, schema, isReadOnly: readOnly, run } of tools) {
    const given = schema ?? { type: "object" };
    // as: `tool` has checked what the schema is
    const inputSchema = (
      "~standard" in given ? given : fromJsonSchema(given as never)
    ) as StandardSchemaWithJSON;
    const config = {
      ...(title !== undefined && { title }),
      description,
      inputSchema,
      annotations: { readOnlyHint: readOnly },
    };
    server.registerTool(name, config, async (input, { mcpReq }) => {
      const { progressToken, [sessionKey]: sessionId } = mcpReq._meta ?? {};
      const result = await run(input as never, {
        // set by the provider
        sessionId: sessionId as string | undefined,
        signal: mcpReq.signal,
        progress(progress, total, message) {
          if (progressToken === undefined) return;
          const more = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
          // a lane sends at once, and never fails
          void mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, ...more },
          });
        },
      });
      return resultOf(name, result);
    });
  }
  return server;
}

function resultOf(name: string, result: ToolResult): CallToolResult {
  if (result === undefined) return { content: [] };
  if (typeof result === "string") return { content: [{ type: "text", text: result }] };
  // as: the blocks of ACP are those of MCP
  if (Array.isArray(result)) return { content: result as CallToolResult["content"] };
  if (typeof result === "object" && "content" in result && Array.isArray(result.content)) {
    return result as CallToolResult;
  }
  throw new TypeError(`tool ${name}: expected run to return text, content or nothing, got ${typeof result}`);
}
