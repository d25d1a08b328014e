// Defines the `agent` section of the config file, as a type and as a schema.

import type { CommandHooks } from "../hooks/command-hooks.ts";
import type { Effort } from "../model/model.ts";
import type { AutoApproval, Mode } from "../permissions/modes.ts";
import type { ModelConfig } from "../providers/provider-config.ts";
import type { CommandSandbox } from "../tools/base/tool.ts";
import { type McpServerConfig, mcpServersShape } from "./mcp-config.ts";

/** The section `agent` of the config file. docs/config.md describes each setting. */
export interface AgentConfig extends ModelConfig {
  /** The mode of new sessions. */
  readonly mode?: Mode;
  /** How much a model thinks, if it can. */
  readonly effort?: Effort;
  /** The calls that mode `ask` allows without asking. */
  readonly autoApprove?: AutoApproval;
  /** The maximum number of model requests in one turn. Default 200. */
  readonly maxTurnRequests?: number;
  /** The share of the context window that a conversation may fill before it is shortened. */
  readonly compactAt?: number;
  /** Hosts on this machine or a private network that may be used. */
  readonly privateHosts?: readonly string[];
  /** The sandbox that commands run in. Default "workspace". */
  readonly sandbox?: CommandSandbox;
  /** Shell commands to run before and after tool calls. */
  readonly hooks?: CommandHooks;
  /** Whether commands get the PATH of the login shell. Default true. */
  readonly loginShell?: boolean;
  /** MCP servers by name. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const dollars = { type: "number", minimum: 0 } as const;

const price = {
  type: "object",
  description: "US dollars per million tokens",
  properties: {
    input: dollars,
    output: dollars,
    cachedInput: { ...dollars, description: "Default: the input price" },
    cacheWrite: dollars,
    long: {
      type: "object",
      description: "Multipliers for a whole request with more input tokens than `above`",
      properties: { above: { type: "integer", minimum: 1 }, input: dollars, output: dollars },
      required: ["above", "input", "output"],
      additionalProperties: false,
    },
  },
  required: ["input", "output"],
  additionalProperties: false,
} as const;

const model = {
  type: "object",
  description: "Overrides the built-in facts about the model",
  properties: {
    name: { type: "string", minLength: 1, description: "The name shown to users" },
    contextWindow: { type: "integer", minimum: 1, description: "In tokens" },
    maxOutput: { type: "integer", minimum: 1, description: "The maximum number of tokens in one answer" },
    takesImages: { type: "boolean" },
    takesAudio: { type: "boolean" },
    takesDocuments: { type: "boolean", description: "Whether the model accepts PDF files" },
    efforts: {
      type: "array",
      items: { type: "string", enum: efforts },
      description: "The levels of `effort` that the model supports, lowest first; [] if it supports none",
    },
    price,
  },
  additionalProperties: false,
} as const;

const provider = {
  type: "object",
  properties: {
    kind: {
      type: "string",
      enum: ["anthropic", "openai", "openai-chat", "google", "compatible", "bedrock", "vertex", "azure"],
      description:
        "The API of the provider. Default: that of the built-in provider with this name, else `compatible` (Chat Completions)",
    },
    baseUrl: {
      type: "string",
      minLength: 1,
      description: "Including the version, for example http://127.0.0.1:8000/v1",
    },
    apiKey: {
      type: "string",
      minLength: 1,
      description: "Prefer apiKeyEnv or `parley agent login`, which keep the key out of this file",
    },
    apiKeyEnv: { type: "string", minLength: 1, description: "The environment variable with the key" },
    headers: { type: "object", additionalProperties: { type: "string" } },
    timeout: {
      type: "number",
      minimum: 1,
      maximum: 86_400,
      description:
        "How many seconds the server may be silent before it is asked again. Default 300, but 1800 before the first bytes of an answer from your own server",
    },
    region: { type: "string", minLength: 1, description: "Of Bedrock. Default: AWS_REGION" },
    project: { type: "string", minLength: 1, description: "Of Vertex. Default: GOOGLE_VERTEX_PROJECT" },
    location: { type: "string", minLength: 1, description: "Of Vertex. Default: GOOGLE_VERTEX_LOCATION" },
    resource: { type: "string", minLength: 1, description: "Of Azure. Default: AZURE_RESOURCE_NAME" },
    apiVersion: {
      type: "string",
      minLength: 1,
      description: "Of Azure, for deployments with Chat Completions at their old addresses",
    },
    models: { type: "object", description: "By name", additionalProperties: model },
  },
  additionalProperties: false,
} as const;

const hooks = (description: string) =>
  ({
    type: "array",
    description,
    items: {
      type: "object",
      properties: {
        tools: {
          type: "string",
          minLength: 1,
          description: "The tools to run it for, such as bash|edit; * matches any text. Default: all",
        },
        command: {
          type: "string",
          minLength: 1,
          description: "A command line for sh, which gets the call as JSON on stdin",
        },
        timeout: { type: "number", minimum: 1, description: "In seconds. Default 60" },
      },
      required: ["command"],
      additionalProperties: false,
    },
  }) as const;

/** The JSON Schema of the section: checks config files and completes them in editors. */
export const agentConfigSchema = {
  type: "object",
  description: "The coding agent (`parley agent`)",
  properties: {
    model: {
      type: "string",
      minLength: 1,
      description: "provider/name, provider, or offline. PARLEY_MODEL and --model override it",
    },
    providers: { type: "object", description: "By name", additionalProperties: provider },
    localServers: {
      type: "boolean",
      description:
        "Whether to look for Ollama, LM Studio, llama.cpp and vLLM on this machine when a session begins. Default true",
    },
    registry: {
      type: "string",
      minLength: 1,
      description: "Where `parley agent models --refresh` gets facts about models. Default: models.dev",
    },
    mode: {
      type: "string",
      enum: ["ask", "code", "architect", "chat"],
      description: "The mode of new sessions. PARLEY_MODE and --mode override it",
    },
    effort: {
      type: "string",
      enum: efforts,
      description: "How much a model thinks, if it can; a model without this level uses the nearest one",
    },
    autoApprove: {
      type: "string",
      enum: ["off", "reads", "edits"],
      description: "What mode ask allows without asking",
    },
    maxTurnRequests: {
      type: "integer",
      minimum: 1,
      description: "Maximum number of model requests in one turn. Default 200",
    },
    compactAt: {
      type: "number",
      minimum: 0.1,
      maximum: 1,
      description:
        "The share of the context window that a conversation may fill before it is shortened, such as 0.8. Default: all of it, less the space for an answer",
    },
    sandbox: {
      type: "string",
      enum: ["workspace", "read-only", "strict", "off"],
      description: "The sandbox that commands run in. Default: workspace",
    },
    hooks: {
      type: "object",
      description: "Shell commands to run before and after tool calls",
      properties: {
        beforeTool: hooks("An exit code other than 0 refuses the call; the output is the reason"),
        afterTool: hooks("The model gets the output together with the result of the call"),
      },
      additionalProperties: false,
    },
    loginShell: {
      type: "boolean",
      description: "Take PATH for commands from the login shell. Default: true",
    },
    mcpServers: mcpServersShape,
    privateHosts: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description:
        "Hosts on this machine or a private network that fetch, the MCP servers of a workspace and logins to MCP servers may use, such as localhost:3000; * for all. You are still asked",
    },
  },
  additionalProperties: false,
} as const;
