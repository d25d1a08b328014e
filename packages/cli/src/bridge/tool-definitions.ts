// Definitions of the MCP tools that give a v2 agent a v1 editor's files and terminals.

import type { ClientToolServices } from "@parley/acp/relay";

export interface ClientTool {
  readonly name: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  isOffered(services: Pick<ClientToolServices, "canRead" | "canWrite" | "canRunCommands">): boolean;
}

/** MCP clients time out after a minute by default. */
export const defaultTimeoutMs = 50_000;
const maxTimeoutMs = 3_600_000;

const path = { type: "string", description: "absolute path" };
const terminalId = { type: "string", description: "as run_command returned it" };
const timeoutMs = { type: "integer", minimum: 0, maximum: maxTimeoutMs };

const schema = (
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): ClientTool["inputSchema"] => ({ type: "object", properties, required, additionalProperties: false });

const commands: ClientTool["isOffered"] = ({ canRunCommands }) => canRunCommands;
const oneTerminal = schema({ terminalId }, ["terminalId"]);

export const clientTools: readonly ClientTool[] = [
  {
    name: "read_text_file",
    description:
      "Reads a text file as the user's editor has it, changes that are not saved yet included. Prefer it to reading from disk.",
    isReadOnly: true,
    inputSchema: schema(
      {
        path,
        line: { type: "integer", minimum: 1, description: "the first line, counted from 1; default 1" },
        limit: { type: "integer", minimum: 1, description: "how many lines; default all" },
      },
      ["path"],
    ),
    isOffered: ({ canRead }) => canRead,
  },
  {
    name: "write_text_file",
    description:
      "Writes a text file through the user's editor, which shows it at once. Creates or replaces it.",
    isReadOnly: false,
    inputSchema: schema({ path, content: { type: "string" } }, ["path", "content"]),
    isOffered: ({ canWrite }) => canWrite,
  },
  {
    name: "run_command",
    description:
      "Runs a command in the user's editor and waits for its end. If it goes on for longer than timeoutMs, it keeps running and a terminalId is returned.",
    isReadOnly: false,
    inputSchema: schema(
      {
        command: { type: "string", minLength: 1, description: "the program; this is not a shell line" },
        args: { type: "array", items: { type: "string" } },
        cwd: { type: "string", description: "absolute path; default: the session's directory" },
        env: { type: "object", additionalProperties: { type: "string" } },
        timeoutMs: { ...timeoutMs, description: `how long to wait for its end; default ${defaultTimeoutMs}` },
      },
      ["command"],
    ),
    isOffered: commands,
  },
  {
    name: "terminal_output",
    description: "What a command that keeps running has printed so far. Does not wait.",
    isReadOnly: true,
    inputSchema: oneTerminal,
    isOffered: commands,
  },
  {
    name: "terminal_wait",
    description: "Waits for the end of a command that keeps running, and returns its output.",
    isReadOnly: true,
    inputSchema: schema(
      { terminalId, timeoutMs: { ...timeoutMs, description: `default ${defaultTimeoutMs}` } },
      ["terminalId"],
    ),
    isOffered: commands,
  },
  {
    name: "terminal_kill",
    description: "Ends a command. Its output can still be read.",
    isReadOnly: false,
    inputSchema: oneTerminal,
    isOffered: commands,
  },
  {
    name: "terminal_release",
    description: "Ends a command if it still runs, and forgets its terminal.",
    isReadOnly: false,
    inputSchema: oneTerminal,
    isOffered: commands,
  },
];
