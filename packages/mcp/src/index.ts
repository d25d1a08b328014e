// @parley/mcp: tools, the bridge and a client for MCP over ACP.

export { connectMcp, type McpConnection, type McpHost } from "./connect/connect.ts";
export { type McpKitOptions, mcpKit } from "./kit.ts";
export {
  type ObjectSchema,
  type StandardSchema,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolInput,
  type ToolResult,
  tool,
} from "./tools/tool.ts";
