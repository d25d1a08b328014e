// Estimates the tokens of requests that no provider has counted, and the cost of a request.

import type {
  MediaPart,
  ModelMessage,
  Price,
  TextPart,
  ThinkingPart,
  TokenUsage,
  ToolCallPart,
} from "./model.ts";

export const charactersPerToken = 4;
/** Roughly what providers charge for an image. */
const tokensPerMedia = 1_500;
/** A guess: the tokens of a document depend on its pages, which only the provider counts. */
const charactersPerDocumentToken = 50;
/** Overhead for role and separators. */
const tokensPerMessage = 8;

export function tokensOfText(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** Cache: messages are immutable, and a long conversation is counted for every request. */
const counted = new WeakMap<ModelMessage, number>();

export function tokensOfMessage(message: ModelMessage): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const parts =
    message.role === "tool" ? message.outcomes.flatMap(({ content }) => [...content]) : message.content;
  const tokens = parts.reduce((sum, part) => sum + tokensOfPart(part), tokensPerMessage);
  counted.set(message, tokens);
  return tokens;
}

export function tokensOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
}

function tokensOfPart(part: TextPart | MediaPart | ThinkingPart | ToolCallPart): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return tokensOfText(part.text);
    case "tool_call":
      return tokensOfText(part.name) + tokensOfText(JSON.stringify(part.input) ?? "");
    case "document":
      return Math.max(tokensPerMedia, Math.ceil(part.data.length / charactersPerDocumentToken));
    default:
      return tokensPerMedia;
  }
}

/** US dollars, or undefined when the price is unknown. */
export function costOf(price: Price | undefined, usage: TokenUsage): number | undefined {
  if (price === undefined) return undefined;
  const cached = usage.cachedInput ?? 0;
  const written = usage.cacheWrite ?? 0;
  const fresh = Math.max(0, usage.input - cached - written);
  const input =
    fresh * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input);
  const output = usage.output * price.output;
  const isLong = price.long !== undefined && usage.input > price.long.above;
  return isLong ? (input * price.long.input + output * price.long.output) / 1e6 : (input + output) / 1e6;
}
