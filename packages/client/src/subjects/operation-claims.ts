// Reads a question about an operation on a resource, as agents of the dialect "scoped" ask it.

import type { OperationPermissionSubject, ToolCallUpdate } from "@parley/acp/model";

type Call = Partial<Omit<ToolCallUpdate, "toolCallId">>;

/** The call that says exactly this, in fields whose meaning is known. */
export function callOfOperation({ operation, resource }: OperationPermissionSubject): Call {
  switch (operation) {
    case "file_read":
      return { kind: "read", rawInput: { path: resource } };
    case "file_write":
      return { kind: "edit", rawInput: { path: resource } };
    case "file_delete":
      return { kind: "delete", rawInput: { path: resource } };
    case "terminal_execute":
      return { kind: "execute", rawInput: { command: resource } };
    case "network_access":
      return { kind: "fetch", rawInput: { url: resource } };
    case "mcp_tool": {
      const [, server, tool] = /^(?:mcp__)?([^/]+?)(?:__|\/)(.+)$/.exec(resource) ?? [];
      // without its server it could be a tool of any
      return server === undefined ? { kind: "other", title: resource } : { rawInput: { server, tool } };
    }
    default:
      return { kind: "other", title: `${operation}: ${resource}` };
  }
}
