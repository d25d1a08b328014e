// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Minimal tools for tests of the loop.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textDiff } from "@parley/acp/internal";
import { type RunContext, type Tool, ToolError } from "../../src/tools/base/tool.ts";

const schema = { type: "object", properties: { path: { type: "string" } } } as const;

function field(input: unknown, name: string): string {
  const value = (input as Record<string, unknown> | null)?.[name];
  if (typeof value !== "string")
    throw new ToolError(`${name} must be a string, got ${JSON.stringify(value)}`);
  return value;
}

const text = (value: string) => [{ type: "text" as const, text: value }];

export const stubRead: Tool = {
  name: "read",
  description: "reads",
  inputSchema: schema,
  isReadOnly: true,
  draft: { title: "Read", kind: "read" },
  async prepare(input, { cwd }) {
    const path = join(cwd, field(input, "path"));
    return {
      presentation: { title: `Read ${field(input, "path")}`, kind: "read", locations: [{ path, line: 1 }] },
      access: { type: "read", paths: [path] },
      async run() {
        return { content: text(readFileSync(path, "utf8")), rawOutput: { bytes: 1 } };
      },
    };
  },
};

export const stubWrite: Tool = {
  name: "write",
  description: "writes",
  inputSchema: schema,
  isReadOnly: false,
  draft: { title: "Write", kind: "edit" },
  async prepare(input, { cwd }) {
    const path = join(cwd, field(input, "path"));
    const content = field(input, "content");
    return {
      presentation: {
        title: `Write ${field(input, "path")}`,
        kind: "edit",
        locations: [{ path }],
        content: [{ type: "diff", ...textDiff({ path: path, newText: content }) }],
      },
      access: { type: "write", paths: [path] },
      async run() {
        writeFileSync(path, content);
        return { content: text(`wrote ${content.length} characters`) };
      },
    };
  },
};

export const stubRun: Tool = {
  name: "bash",
  description: "runs",
  inputSchema: schema,
  isReadOnly: false,
  draft: { title: "Run a command", kind: "execute" },
  async prepare(input, { cwd }) {
    const command = field(input, "command");
    return {
      presentation: { title: command, kind: "execute" },
      access: { type: "run", command, cwd },
      async run() {
        return { content: text(`ran ${command}`) };
      },
    };
  },
};

/** A tool with an implementation of the test. */
export function customTool(
  name: string,
  run: (context: RunContext, input: unknown) => Promise<string>,
  isReadOnly = false,
): Tool {
  return {
    name,
    description: name,
    inputSchema: schema,
    isReadOnly,
    prepare: async (input) => ({
      presentation: { title: name, kind: "other" },
      access: { type: "none" },
      run: async (context) => ({ content: text(await run(context, input)) }),
    }),
  };
}
