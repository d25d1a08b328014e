// The MCP servers that `.mcp.json` of a folder names, for our own agent, with what the user decided about them.

import type { McpServer } from "@parley/acp/model";
import type { FolderServers } from "@parley/agent";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { withOwnOrigin } from "./workspace-servers.ts";
import { foundSettings } from "./workspace-trust.ts";

const file = ".mcp.json";

/** `own` are the user's servers: their addresses may be used by a file of the folder too. */
export function folderServers(folder: string, own: readonly McpServer[]): FolderServers {
  const found = foundSettings(folder);
  if (found === undefined) return { servers: [], problems: [] };
  const { settings, trust, folders } = found;
  const items = settings.items.filter((item) => item.file === file);
  return {
    servers: settings.mcpServers.flatMap((server, at) => {
      const item = items[at];
      if (item === undefined) return [];
      return {
        server: inFolder(withOwnOrigin(server, own), settings.folder),
        lines: withoutSecrets(item.details),
        files: settings.files,
        decision: trust.state === "trusted" ? "always" : folders.decision(settings, item),
        remember: (decision) => folders.decide(settings, item, decision),
      };
    }),
    problems: settings.problems.filter((problem) => problem.includes(file)),
  };
}

/** A command runs in the folder that names it. */
function inFolder(server: McpServer, cwd: string): McpServer {
  if (server.type !== "stdio") return server;
  const { _meta } = server as { readonly _meta?: object }; // of the settings
  return { ...server, _meta: { ..._meta, cwd } };
}
