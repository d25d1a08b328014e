// Wraps the tools and resources of an MCP server as agent tools. A server's claims about its tools are not trusted.

import { createHash } from "node:crypto";
import type { Tool as McpTool, Progress } from "@modelcontextprotocol/client";
import { isObject } from "@parley/acp/jsonrpc";
import { oneLine, withoutControls } from "../text/safe-text.ts";
import { shownText, shownVerbatim } from "../tools/base/shown-content.ts";
import {
  type PreparedCall,
  type RunContext,
  type Tool,
  ToolError,
  type ToolResult,
} from "../tools/base/tool.ts";
import { headOf, maxBytes } from "../tools/base/truncation.ts";
import { mapContent, mapResource } from "./content.ts";
import type { CallOptions, ServerConnection } from "./server-connection.ts";

/** Minimum time between progress updates. */
const progressMs = 100;
/** Some descriptions are whole manuals. */
const maxDescription = 8 * 1024;
const maxResources = 500;

/** Returns the connection or throws ToolError. */
export type Connected = () => ServerConnection;

type Input = Record<string, unknown>;

/** The first ones; a model can use no more. */
export const mostTools = 500;
/** Larger arguments are a mistake of the model. */
const maxArgumentBytes = 8 * 1024 * 1024;

export function serverTools(server: string, tools: readonly McpTool[], connected: Connected): Tool[] {
  return tools.slice(0, mostTools).map(({ name, description, title, inputSchema, annotations }) =>
    tool({
      server,
      name,
      description: withoutControls(description ?? title ?? annotations?.title ?? name).slice(
        0,
        maxDescription,
      ),
      inputSchema: inputSchema as Input, // plain JSON
      async call(input, options) {
        const { content, structuredContent, isError } = await connected().callTool(name, input, options);
        const hasText = content.length > 0 || structuredContent === undefined;
        const { forModel, forUser } = mapContent(
          hasText ? content : [{ type: "text", text: JSON.stringify(structuredContent, null, 2) }],
        );
        if (isError === true) {
          const words = forModel.map((part) => (part.type === "text" ? part.text : "")).join("\n");
          throw new ToolError(words.trim() === "" ? `${server}/${name} failed and did not say why.` : words);
        }
        return { content: forModel, shown: forUser, ...rawOutput(structuredContent) };
      },
    }),
  );
}

/** Results refer to resources, so the model must be able to read them. */
export function resourceTools(server: string, connected: Connected): Tool[] {
  return [
    tool({
      server,
      name: "list_resources",
      description: `List the resources of the MCP server ${server}.`,
      inputSchema: { type: "object", properties: {} },
      async call(_, options) {
        const resources = await connected().resources(options);
        const lines = resources.slice(0, maxResources).map(({ uri, name, description }) => {
          return `${uri} (${name})${description === undefined ? "" : `: ${description}`}`;
        });
        const left = resources.length - lines.length;
        const text =
          [...lines, ...(left > 0 ? [`[${left} more]`] : [])].join("\n") || "There are no resources.";
        const { forModel, forUser } = mapContent([{ type: "text", text }]);
        return { content: forModel, shown: forUser };
      },
    }),
    tool({
      server,
      name: "read_resource",
      description: `Read a resource of the MCP server ${server} by its URI.`,
      inputSchema: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
      async call({ uri }, options) {
        if (typeof uri !== "string") throw new ToolError("uri must be a string: the URI of a resource.");
        const { forModel, forUser } = mapResource(await connected().resource(uri, options));
        return { content: forModel, shown: forUser };
      },
    }),
  ];
}

interface ServerToolOptions {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Input;
  call(input: Input, options: CallOptions): Promise<ToolResult>;
}

function tool({ server, name: named, description, inputSchema, call }: ServerToolOptions): Tool {
  const name = oneLine(named);
  const definition = createHash("sha256")
    .update(JSON.stringify([description, inputSchema]))
    .digest("hex")
    .slice(0, 12);
  return {
    name: `${server}/${name}`,
    description,
    inputSchema,
    isReadOnly: false,
    async prepare(input): Promise<PreparedCall> {
      const given = objectOf(input, `${server}/${name}`);
      const size = JSON.stringify(given).length;
      if (size > maxArgumentBytes)
        throw new ToolError(
          `The arguments of ${server}/${name} have ${size} characters; at most ${maxArgumentBytes} are sent.`,
        );
      const asked = Object.keys(given).length === 0 ? [] : [shownVerbatim(json(given), "arguments.json")];
      return {
        presentation: { title: `${server}/${name}`, kind: "other", content: asked },
        access: { type: "mcp", server, tool: name, definition },
        run: (context) =>
          withToolErrors(context, () => call(given, { signal: context.signal, onProgress: shown(context) })),
      };
      function shown({ call: toolCall }: RunContext): (progress: Progress) => void {
        let last = 0;
        return (progress) => {
          const now = performance.now();
          if (now - last < progressMs) return;
          last = now;
          void toolCall.update({ content: [...asked, shownText(progressText(progress))] });
        };
      }
    },
  };
}

/** Turns connection errors into tool errors. */
async function withToolErrors({ signal }: RunContext, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ToolError || !(error instanceof Error)
      ? error
      : new ToolError(error.message, { cause: error });
  }
}

function objectOf(input: unknown, name: string): Input {
  if (input === undefined || input === null) return {};
  if (isObject(input)) return input;
  const got = Array.isArray(input) ? "an array" : `${typeof input} ${JSON.stringify(input).slice(0, 100)}`;
  throw new ToolError(`The arguments of ${name} must be a JSON object, got ${got}.`);
}

function json(value: unknown): string {
  return headOf(JSON.stringify(value, null, 2), 1, { maxLines: 100, maxBytes: 8 * 1024 }).text;
}

function progressText({ progress, total, message }: Progress): string {
  const part =
    total === undefined || total <= 0 ? `${progress}` : `${Math.floor((100 * progress) / total)} %`;
  return message === undefined || message === "" ? part : `${part} ${message}`;
}

function rawOutput(structured: unknown): { rawOutput?: unknown } {
  if (structured === undefined || JSON.stringify(structured).length > maxBytes) return {};
  return { rawOutput: { structuredContent: structured } };
}
