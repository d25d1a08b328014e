// The entry point for looking at MCP servers outside a session.

export { type LookOptions, lookAtServer, removeLogin, type ServerLook } from "./mcp/look-at-server.ts";
export type { BrowserLogin } from "./oauth/browser-login.ts";
