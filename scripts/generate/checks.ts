// What the protocol demands in prose and JSON Schema does not say: absolute paths (X11), 1-based lines (X11),
// strings that an operating system can take (N015, N017). One table, keyed by definition and field.

import type { Definitions, SchemaPair, Version } from "./schema.ts";

/**
 * - `actPath`: names something to act upon. Absolute and clean, whoever sent it.
 * - `path`: is shown to people. Absolute in what we send; received as it is, because agents do send relative
 *   ones, and losing the update would be worse.
 * - `text`: goes to the operating system or to a router. Free of NUL and lone surrogates, whoever sent it.
 *   An MCP server's command is one of them: the documentation asks for an absolute path, but every client lets
 *   people write `npx`, and only the agent knows its own PATH.
 * - `line`: 1-based in what we send.
 */
export type Check = "actPath" | "path" | "text" | "line";

const both: Record<string, Check> = {
  "NewSessionRequest.cwd": "actPath",
  "NewSessionRequest.additionalDirectories": "actPath",
  "ResumeSessionRequest.cwd": "actPath",
  "ResumeSessionRequest.additionalDirectories": "actPath",
  "ForkSessionRequest.cwd": "actPath",
  "ForkSessionRequest.additionalDirectories": "actPath",
  "ListSessionsRequest.cwd": "actPath",
  "McpServerStdio.command": "text",
  "McpServerStdio.args": "text",
  "EnvVariable.name": "text",
  "EnvVariable.value": "text",
  "AuthMethodTerminal.args": "text",
  "MessageMcpRequest.method": "text",
  "MessageMcpNotification.method": "text",
  "ProxySuccessorRequest.method": "text",
  "ProxySuccessorNotification.method": "text",
  "SessionInfo.cwd": "path",
  "SessionInfo.additionalDirectories": "path",
  "SubagentUpdate.cwd": "path",
  "SubagentUpdate.additionalDirectories": "path",
  "ToolCallLocation.path": "path",
};

const only: Record<Version, Record<string, Check>> = {
  v1: {
    "LoadSessionRequest.cwd": "actPath",
    "LoadSessionRequest.additionalDirectories": "actPath",
    "ReadTextFileRequest.path": "actPath",
    "WriteTextFileRequest.path": "actPath",
    "CreateTerminalRequest.cwd": "actPath",
    "CreateTerminalRequest.command": "text",
    "CreateTerminalRequest.args": "text",
    "AuthMethodTerminal.env": "text",
    "Diff.path": "path",
    "ReadTextFileRequest.line": "line",
    "ToolCallLocation.line": "line",
  },
  v2: {
    "DiffPathChange.path": "path",
    "DiffPathPairChange.path": "path",
    "DiffPathPairChange.oldPath": "path",
    "CommandPermissionSubject.cwd": "path",
    "TerminalUpdate.cwd": "path",
  },
};

/** The table of one version, after making sure that it names only what exists and forgets no absolute path. */
export function checksFor(
  version: SchemaPair["version"],
  definitions: Definitions,
  more: Readonly<Record<string, Check>> = {},
): ReadonlyMap<string, Check> {
  const table = new Map(
    version === "v1" || version === "v2" ? Object.entries({ ...both, ...only[version], ...more }) : [],
  );
  const known = new Set<string>();
  for (const [name, schema] of Object.entries(definitions)) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const key = `${name}.${field}`;
      known.add(key);
      if (property["x-check"] !== undefined) table.set(key, property["x-check"]);
      if (property.mentionsAbsolute && !table.has(key)) {
        throw new Error(
          `${version} ${key}: the schema calls it an absolute path, but checks.ts does not list it`,
        );
      }
    }
  }
  for (const key of table.keys()) {
    if (!known.has(key))
      throw new Error(`${version} ${key}: checks.ts lists it, but the schema does not have it`);
  }
  return table;
}
