// Lists how the model differs from version 2 of the protocol. Everything else is generated from v2's schema as it is.

import type { Check } from "./checks.ts";
import type { Schema } from "./schema.ts";

/** Names of definitions are v2's; places in them are written as in v2-basis.json. */
export interface ModelDifferences {
  /** The definitions that the model takes from v2, with all that they refer to. */
  readonly taken: readonly string[];
  /** Those of them that have an exported validator. */
  readonly validated: readonly string[];
  readonly renamed: Readonly<Record<string, string>>;
  /** Fields (`Notice.title`) and variants (`SessionUpdate[sessionUpdate=notice]`) that the model leaves out. */
  readonly removed: readonly string[];
  /** Fields and variants that v2 does not have, by definition, with their rules. */
  readonly added: Readonly<
    Record<string, Pick<Schema, "properties" | "required" | "dependentRequired" | "anyOf">>
  >;
  /** Whole definitions of our own, in place of v2's or beside them. */
  readonly defined: Readonly<Record<string, Schema>>;
  /** What checks.ts says for v2's fields, for the added ones. */
  readonly checks: Readonly<Record<string, Check>>;
  /** Unions whose variant for unknown tags is a type of model/unknown-update.ts. */
  readonly unknownVariants: Readonly<Record<string, string>>;
}

const validated = [
  "AuthMethod",
  "AvailableCommand",
  "ContentBlock",
  "ElicitationSchema",
  "PermissionOption",
  "PlanEntry",
  "RequestPermissionRequest",
  "SessionConfigOption",
  "SessionUpdate",
  "TerminalExitStatus",
  "ToolCallLocation",
  "Usage",
];

export const modelDifferences: ModelDifferences = {
  taken: [...validated, "Implementation", "McpServer", "SystemPrompt"],
  validated,
  renamed: {
    // names that are too general for a library, or hide a global of JavaScript
    Command: "SlashCommand",
    Content: "ToolCallContentBlock",
    Error: "TurnError",
    Role: "ContentAudience",
    Terminal: "ToolCallTerminal",
    RequestPermissionRequest: "PermissionRequest",
    RequestPermissionSubject: "PermissionSubject",
    TerminalExitStatus: "ExitStatus",
  },
  // a question belongs to the session that it is asked in
  removed: ["RequestPermissionRequest.sessionId"],
  added: {
    // v1 has the texts of one file where v2 has a list of changes and a patch
    Diff: {
      properties: {
        path: { type: "string" },
        newText: { type: "string" },
        oldText: { type: ["string", "null"] },
      },
      dependentRequired: { newText: ["path"], oldText: ["path"] },
    },
    // v1 has servers that stream events over HTTP; v2 has dropped them
    McpServer: {
      anyOf: [
        {
          type: "object",
          properties: { type: { type: "string", const: "sse" } },
          required: ["type"],
          allOf: [{ $ref: "#/$defs/McpServerSse" }],
        },
      ],
    },
  },
  defined: {
    McpServerSse: {
      type: "object",
      properties: {
        name: { type: "string" },
        url: { type: "string" },
        headers: { type: "array", items: { $ref: "#/$defs/HttpHeader" } },
        _meta: { type: "object", additionalProperties: true },
      },
      required: ["name", "url"],
    },
  },
  checks: { "Diff.path": "path" },
  unknownVariants: { SessionUpdate: "UnknownUpdate" },
};
