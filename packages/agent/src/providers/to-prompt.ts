// Converts model messages to AI SDK prompts, with the differences between providers.

import { isObject, optional } from "@parley/acp/jsonrpc";
import { nearestEffort } from "../model/efforts.ts";
import { mediaNote, mediaProblem } from "../model/media.ts";
import type {
  Effort,
  MediaPart,
  ModelFacts,
  ModelMessage,
  ModelRequest,
  TextPart,
  ToolOutcome,
} from "../model/model.ts";
import { familyOf } from "../model/model-family.ts";
import { type CallOptions, optionsName, type PromptMessage, type ProviderOptions } from "./language-model.ts";
import type { Endpoint } from "./provider-config.ts";
import { signedOptions } from "./signature.ts";

type SdkUserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
type SdkAssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type SdkToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];

export function callOptions(
  request: ModelRequest,
  endpoint: Endpoint,
  facts: ModelFacts,
  /** False when a request is retried because its thinking was refused. */
  sendThoughts: boolean,
): { readonly options: CallOptions; readonly names: ToolNames } {
  const names = toolNames([...request.tools.map(({ name }) => name), ...calledTools(request.messages)]);
  const context: Context = { endpoint, facts, names, sendThoughts };
  const prompt = request.messages.flatMap((message) => promptMessages(message, context));
  const system: PromptMessage[] = request.system === "" ? [] : [{ role: "system", content: request.system }];
  const effort = nearestEffort(request.effort, facts.efforts ?? []);
  // the SDK's own scale for Bedrock ends at high
  const isAboveHigh = endpoint.kind === "bedrock" && (effort === "xhigh" || effort === "max");
  const options: CallOptions = {
    prompt: withCacheMarks([...system, ...prompt], endpoint),
    ...optional({ maxOutputTokens: maxOutputOf(request, facts) }),
    ...optional({ reasoning: isAboveHigh ? "high" : effort }),
    ...(request.tools.length > 0 && { tools: request.tools.map((tool) => wireTool(tool, context)) }),
    ...providerOptions(endpoint, facts, request.cacheKey, isAboveHigh ? effort : undefined),
  };
  return { options, names };
}

/** The wanted length, at most what the model can. */
function maxOutputOf({ maxTokens }: ModelRequest, { maxOutput }: ModelFacts): number | undefined {
  const limits = [maxTokens, maxOutput].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

interface Context {
  readonly endpoint: Endpoint;
  readonly facts: ModelFacts;
  readonly names: ToolNames;
  readonly sendThoughts: boolean;
}

function calledTools(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
  });
}

function wireTool(
  tool: ModelRequest["tools"][number],
  { endpoint, names }: Context,
): NonNullable<CallOptions["tools"]>[number] {
  return {
    type: "function",
    name: names.toWire(tool.name),
    description: tool.description,
    inputSchema: tool.inputSchema,
    // strict mode refuses optional fields; we check arguments anyway
    ...(/^(?:openai|azure)/.test(endpoint.kind) && { strict: false }),
  };
}

function providerOptions(
  endpoint: Endpoint,
  { id, efforts = [] }: ModelFacts,
  cacheKey: string | undefined,
  maxReasoningEffort: Effort | undefined,
): { providerOptions?: ProviderOptions } {
  const { kind, apiVersion } = endpoint;
  const thinks = efforts.length > 0;
  const cached = cacheKey === undefined ? {} : { promptCacheKey: cacheKey };
  // the SDK cannot know from the name of a deployment whether it thinks
  const forced = kind === "azure" ? { forceReasoning: thinks } : {};
  const isChat = kind === "openai-chat" || (kind === "azure" && apiVersion !== undefined);
  if (isChat) return { providerOptions: { openai: { ...cached, ...forced } } };
  // OpenAI must not store conversations, so thinking comes back encrypted
  if (kind === "openai" || kind === "azure")
    return { providerOptions: { openai: { store: false, ...cached, ...forced } } };
  // gateways with Chat Completions: Claude caches nothing without a mark, and this one stands for the end of the conversation
  if (kind === "compatible" && familyOf(id) === "claude")
    return { providerOptions: { [optionsName(endpoint)]: { cache_control: { type: "ephemeral" } } } };
  if (maxReasoningEffort !== undefined)
    return { providerOptions: { bedrock: { reasoningConfig: { maxReasoningEffort } } } };
  if ((kind === "google" || kind === "vertex") && thinks) {
    return { providerOptions: { [optionsName(endpoint)]: { thinkingConfig: { includeThoughts: true } } } };
  }
  return {};
}

/**
 * Anthropic caches up to a mark: after the system prompt, at the end of the conversation, and where the last request ended.
 * It looks back only 20 blocks from a mark, and an answer with many calls has more.
 */
function withCacheMarks(prompt: PromptMessage[], endpoint: Endpoint): PromptMessage[] {
  const mark = cacheMark(endpoint);
  if (mark === undefined) return prompt;
  const before = prompt.findLastIndex(({ role }) => role === "assistant") - 1;
  return prompt.map((message, index) => {
    const isMarked = message.role === "system" || index === prompt.length - 1 || index === before;
    return isMarked ? { ...message, providerOptions: mark } : message;
  });
}

function cacheMark({ kind }: Endpoint): ProviderOptions | undefined {
  if (kind === "anthropic") return { anthropic: { cacheControl: { type: "ephemeral" } } };
  return kind === "bedrock" ? { bedrock: { cachePoint: { type: "default" } } } : undefined;
}

function promptMessages(message: ModelMessage, context: Context): PromptMessage[] {
  switch (message.role) {
    case "user": {
      const content = message.content.flatMap((part) => userPart(part, context));
      return content.length === 0 ? [] : [{ role: "user", content }];
    }
    case "assistant": {
      const content = message.content.flatMap((part) => assistantPart(part, context));
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool":
      return toolMessages(message.outcomes, context);
  }
}

/** Drops empty texts, which providers refuse. */
function userPart(part: TextPart | MediaPart, { facts }: Context): SdkUserPart[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  const problem = mediaProblem(part, facts);
  if (problem !== undefined) return [{ type: "text", text: mediaNote(part, problem).text }];
  // OpenAI wants a name for documents, and shows it to the model
  const filename = part.type === "document" && part.name ? basename(part.name) : undefined;
  const data = { type: "data" as const, data: part.data };
  return [{ type: "file", mediaType: part.mediaType, data, ...optional({ filename }) }];
}

/** The last part of an address or path, decoded. */
function basename(name: string): string {
  const last =
    name
      .replace(/[?#].*$/, "")
      .split(/[\\/]/)
      .at(-1) ?? "";
  try {
    return decodeURIComponent(last) || "document.pdf";
  } catch {
    return last;
  }
}

function assistantPart(
  part: Extract<ModelMessage, { role: "assistant" }>["content"][number],
  { endpoint, facts, names, sendThoughts }: Context,
): SdkAssistantPart[] {
  const own = signedOptions(facts.id, optionsName(endpoint), part.signature);
  const signed = own && sendThoughts ? { providerOptions: own } : {};
  switch (part.type) {
    case "text":
      return part.text === "" && own === undefined ? [] : [{ type: "text", text: part.text, ...signed }];
    case "thinking": {
      // Chat Completions servers do not sign, and expect their thinking back
      const isOwn = own !== undefined || (endpoint.kind === "compatible" && part.signature === undefined);
      return isOwn && sendThoughts ? [{ type: "reasoning", text: part.text, ...signed }] : [];
    }
    case "tool_call":
      return [
        {
          type: "tool-call",
          toolCallId: part.id,
          toolName: names.toWire(part.name),
          input: callInput(part.input),
          ...signed,
        },
      ];
  }
}

/** Providers accept only objects; the model has already got an error for anything else. */
function callInput(input: unknown): unknown {
  return isObject(input) ? input : { unreadable: input ?? null };
}

/** Chat Completions has no images in tool results: they follow in a user message. */
function toolMessages(outcomes: readonly ToolOutcome[], context: Context): PromptMessage[] {
  const { kind, apiVersion } = context.endpoint;
  const isInline = kind !== "openai-chat" && kind !== "compatible" && apiVersion === undefined;
  const content = outcomes.map((outcome) => toolPart(outcome, isInline, context));
  const messages: PromptMessage[] = content.length === 0 ? [] : [{ role: "tool", content }];
  if (isInline) return messages;
  const media = outcomes.flatMap((outcome) =>
    mediaOf(outcome).flatMap((part): SdkUserPart[] => [
      { type: "text", text: `${part.type} of the tool call ${outcome.callId} (${outcome.name}):` },
      ...userPart(part, context),
    ]),
  );
  return media.length === 0 ? messages : [...messages, { role: "user", content: media }];
}

function toolPart(outcome: ToolOutcome, isInline: boolean, context: Context): SdkToolPart {
  const media = outcome.isError ? [] : mediaOf(outcome);
  const texts = outcome.content.flatMap((part) =>
    part.type === "text" && part.text !== "" ? [part.text] : [],
  );
  const notes = isInline ? [] : media.map((part) => `[the ${part.type} follows]`);
  const text = [...texts, ...notes].join("\n") || "(no output)";
  const shared = {
    type: "tool-result" as const,
    toolCallId: outcome.callId,
    toolName: context.names.toWire(outcome.name),
  };
  if (outcome.isError) {
    // the other APIs have an error flag
    const value = context.endpoint.kind === "compatible" ? `Error: ${text}` : text;
    return { ...shared, output: { type: "error-text", value } };
  }
  if (media.length === 0 || !isInline) return { ...shared, output: { type: "text", value: text } };
  const value = outcome.content.flatMap((part) => userPart(part, context));
  return { ...shared, output: { type: "content", value } };
}

function mediaOf({ content }: ToolOutcome): MediaPart[] {
  return content.flatMap((part) => (part.type === "text" ? [] : [part]));
}

const limit = 64;

export type ToolNames = ReturnType<typeof toolNames>;

/** Maps tool names to names that every provider accepts: letters, digits, _ and -, at most 64 characters. */
function toolNames(names: Iterable<string>) {
  const toWire = new Map<string, string>();
  const fromWire = new Map<string, string>();
  const add = (name: string): string => {
    const known = toWire.get(name);
    if (known !== undefined) return known;
    const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, limit) || "_";
    // Gemini requires a letter or an underscore first
    const base = /^[0-9-]/.test(plain) ? `_${plain}`.slice(0, limit) : plain;
    let wire = base;
    for (let count = 2; fromWire.has(wire); count++) {
      const suffix = `_${count}`;
      wire = base.slice(0, limit - suffix.length) + suffix;
    }
    toWire.set(name, wire);
    fromWire.set(wire, name);
    return wire;
  };
  for (const name of names) add(name);
  return { toWire: add, fromWire: (name: string) => fromWire.get(name) ?? name };
}
