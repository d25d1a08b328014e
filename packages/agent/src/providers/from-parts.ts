// Converts the AI SDK's stream parts to model events; calls are held back until the end of the answer.

import { isObject } from "@parley/acp/jsonrpc";
import type { ModelEvent, StopCause, TokenUsage } from "../model/model.ts";
import type { ProviderKind } from "./builtin-providers.ts";
import type { StreamPart } from "./language-model.ts";
import { type SignedPart, sign } from "./signature.ts";
import type { ToolNames } from "./to-prompt.ts";

type Metadata = Record<string, unknown>;
type Finish = Extract<StreamPart, { type: "finish" }>;
type Call = Extract<ModelEvent, { type: "tool_call" }> & { readonly text: string };

export interface PartContext {
  readonly model: string;
  readonly kind: ProviderKind;
  readonly optionsName: string;
  readonly names: ToolNames;
}

/** An answer without an end, or with an invalid one. */
export class UnfinishedAnswer extends Error {
  readonly isMalformed: boolean;

  constructor(reason: string, isMalformed: boolean) {
    super(reason);
    this.isMalformed = isMalformed;
  }
}

/** More than a model can write. */
const maxArgumentCharacters = 16 * 1024 * 1024;

/** An answer that is too large to be one of a model. */
export class OversizedAnswer extends Error {}

/** Converts parts in order; `finish` yields the calls and `end`. */
export function partReader(context: PartContext): (part: StreamPart) => readonly ModelEvent[] {
  const metadata = new Map<string, Metadata>();
  const names = new Map<string, string>();
  const calls: Call[] = [];
  let hasOpenThought = false;
  let written = 0;

  const count = (text: string): void => {
    written += text.length;
    if (written > maxArgumentCharacters)
      throw new OversizedAnswer(
        `the arguments of its calls have more than ${maxArgumentCharacters / 2 ** 20} million characters`,
      );
  };
  const note = (id: string, given: Readonly<Record<string, unknown>> | undefined): void => {
    const own = given?.[context.optionsName];
    if (isObject(own)) metadata.set(id, { ...metadata.get(id), ...own });
  };
  const close = (id: string, type: SignedPart): { signature: string } | undefined => {
    const signature = sign(context.model, context.kind, type, metadata.get(id));
    metadata.delete(id);
    return signature === undefined ? undefined : { signature };
  };
  const thought = (text: string): ModelEvent[] => {
    if (text !== "") hasOpenThought = true;
    return text === "" ? [] : [{ type: "thinking", text }];
  };

  return (part) => {
    switch (part.type) {
      case "text-start":
      case "text-delta":
        note(part.id, part.providerMetadata);
        hasOpenThought = false;
        return part.type === "text-delta" && part.delta !== "" ? [{ type: "text", text: part.delta }] : [];
      case "text-end": {
        note(part.id, part.providerMetadata);
        const signed = close(part.id, "text");
        return signed === undefined ? [] : [{ type: "text", text: "", ...signed }];
      }
      case "reasoning-start":
        note(part.id, part.providerMetadata);
        // paragraphs of one summary are one part, since only the last one is signed
        return hasOpenThought ? thought("\n\n") : [];
      case "reasoning-delta":
        note(part.id, part.providerMetadata);
        return thought(part.delta);
      case "reasoning-end": {
        note(part.id, part.providerMetadata);
        const signed = close(part.id, "thinking");
        if (signed === undefined) return [];
        hasOpenThought = false;
        return [{ type: "thinking", text: "", ...signed }];
      }
      case "tool-input-start": {
        const name = context.names.fromWire(part.toolName);
        names.set(part.id, name);
        return [{ type: "tool_input", id: part.id, name, text: "" }];
      }
      case "tool-input-delta":
        count(part.delta);
        return part.delta === ""
          ? []
          : [{ type: "tool_input", id: part.id, name: names.get(part.id) ?? "", text: part.delta }];
      case "tool-call": {
        if (part.providerExecuted === true) return [];
        // some providers send no pieces
        if (!names.has(part.toolCallId)) count(part.input);
        note(part.toolCallId, part.providerMetadata);
        const name = context.names.fromWire(part.toolName);
        const signed = close(part.toolCallId, "call");
        calls.push({ type: "tool_call", id: part.toolCallId, name, ...parsed(part.input), ...signed });
        return [];
      }
      case "finish":
        return ending(part, calls);
      default:
        return [];
    }
  };
}

function parsed(text: string): { readonly input: unknown; readonly text: string } {
  if (text.trim() === "") return { input: {}, text };
  try {
    return { input: JSON.parse(text), text };
  } catch {
    return { input: text, text };
  }
}

function ending({ finishReason, usage }: Finish, calls: readonly Call[]): ModelEvent[] {
  const { unified, raw } = finishReason;
  // Bedrock's SDK has this reason until the server names one
  const isUnnamed = unified === "other" && raw === undefined;
  if (unified === "interrupted" || isUnnamed) throw new UnfinishedAnswer("the stream ended too early", false);
  if (unified === "error") throw new UnfinishedAnswer(raw ?? "the answer ended with an error", true);
  const cause = causeOf(unified, calls.length > 0);
  // an incomplete answer may have incomplete calls: drop those
  const whole = cause === "tool_calls" ? calls : calls.filter(isWhole);
  const events = cause === "refusal" ? [] : whole.map(({ text: _, ...event }) => event);
  return [...events, { type: "end", cause, usage: tokens(usage) }];
}

function isWhole({ input, text }: Call): boolean {
  return typeof input === "object" && text.trim() !== "";
}

/** Some servers report `stop` after calls. */
function causeOf(unified: Finish["finishReason"]["unified"], hasCalls: boolean): StopCause {
  switch (unified) {
    case "length":
      return "length";
    case "content-filter":
      return "refusal";
    default:
      return hasCalls ? "tool_calls" : "stop";
  }
}

/** Undefined when the server reported nothing: zero would count as known. */
function tokens({ inputTokens, outputTokens }: Finish["usage"]): TokenUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    input: inputTokens.total ?? 0,
    output: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead && { cachedInput: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite && { cacheWrite: inputTokens.cacheWrite }),
    ...(outputTokens.reasoning && { thinking: outputTokens.reasoning }),
  };
}
