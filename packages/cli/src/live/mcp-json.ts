// What reads lists of MCP servers, in a file of its own: a part of a package that is loaded by its entry point brings all of it.

export { ConfigError } from "@parley/client/config";
export { mcpJsonServers } from "@parley/client/internal";
