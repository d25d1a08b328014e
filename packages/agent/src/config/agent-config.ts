// What a config file may say about the coding agent, once: as a type, and as the shape that files are checked against.

import type { Effort } from "../model/model.ts";
import type { AutoApproval, Mode } from "../permissions/modes.ts";
import type { ModelConfig } from "../providers/provider-config.ts";

/** The section `agent`. */
export interface AgentConfig extends ModelConfig {
  readonly mode?: Mode;
  readonly effort?: Effort;
  readonly autoApprove?: AutoApproval;
  readonly maxTurnRequests?: number;
  readonly privateHosts?: readonly string[];
}

const dollars = { type: "number", minimum: 0 } as const;

const price = {
  type: "object",
  description: "US dollars per million tokens",
  properties: {
    input: dollars,
    output: dollars,
    cachedInput: { ...dollars, description: "Default: as other input" },
    cacheWrite: dollars,
    long: {
      type: "object",
      description: "A request with more input than `above` costs so many times as much, all of it",
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
  description: "What is said here replaces what is known of the model",
  properties: {
    name: { type: "string", minLength: 1, description: "As users see it" },
    contextWindow: { type: "integer", minimum: 1, description: "In tokens" },
    takesImages: { type: "boolean" },
    takesAudio: { type: "boolean" },
    thinks: { type: "boolean", description: "Whether `effort` means something to it" },
    price,
  },
  additionalProperties: false,
} as const;

const provider = {
  type: "object",
  properties: {
    kind: {
      type: "string",
      enum: ["anthropic", "openai", "openai-chat", "google", "compatible"],
      description: "How it is spoken to. Default: what its name says, else `compatible` (Chat Completions)",
    },
    baseUrl: {
      type: "string",
      minLength: 1,
      description: "With its version, such as http://127.0.0.1:8000/v1",
    },
    apiKey: {
      type: "string",
      minLength: 1,
      description: "Better: apiKeyEnv, or parley agent login, which keep the key out of this file",
    },
    apiKeyEnv: {
      type: "string",
      minLength: 1,
      description: "The variable of the environment that has the key",
    },
    headers: { type: "object", additionalProperties: { type: "string" } },
    models: { type: "object", description: "By their names", additionalProperties: model },
  },
  additionalProperties: false,
} as const;

/** The part of JSON Schema that describes it: files are checked by it, and editors complete by it. */
export const agentConfigShape = {
  type: "object",
  description: "The coding agent: parley agent",
  properties: {
    model: {
      type: "string",
      minLength: 1,
      description: "provider/name, provider, or offline. PARLEY_MODEL and --model count for more",
    },
    providers: { type: "object", description: "By their names", additionalProperties: provider },
    mode: {
      type: "string",
      enum: ["ask", "code", "architect", "chat"],
      description: "How sessions begin. PARLEY_MODE and --mode count for more",
    },
    effort: {
      type: "string",
      enum: ["none", "low", "medium", "high"],
      description: "How much a model thinks, where it can",
    },
    autoApprove: {
      type: "string",
      enum: ["off", "reads", "edits"],
      description: "What mode ask does not ask about",
    },
    maxTurnRequests: {
      type: "integer",
      minimum: 1,
      description: "How often the model may be asked in one turn. Default 200",
    },
    privateHosts: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description:
        "Hosts of this machine or a private network that may be fetched, such as localhost:3000; * is all. You are asked all the same",
    },
  },
  additionalProperties: false,
} as const;
