// Converts prompt content to model message parts; content that a model does not take becomes a note in its place.

import type { ContentBlock, Turn } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { withoutNotes } from "../model/agent-requests.ts";
import { type MediaFacts, mediaNote, mediaProblem, pdfType } from "../model/media.ts";
import type { MediaPart, ModelMessage, TextPart } from "../model/model.ts";
import { imageTypeOf, isBinary, isPdf } from "../tools/base/media-type.ts";
import { tell } from "./tell.ts";

/** Has media that the model may not take: another model may be chosen before the request is sent. */
export function userParts(prompt: readonly ContentBlock[]): (TextPart | MediaPart)[] {
  const parts: (TextPart | MediaPart)[] = [];
  let before: ContentBlock["type"] | undefined;
  for (const block of prompt) {
    if (!isForModel(block)) continue;
    const part = partOf(block);
    const last = parts.at(-1);
    // joins adjacent text blocks, but keeps attachments apart
    if (part.type === "text" && last?.type === "text" && block.type === "text" && before === "text") {
      parts[parts.length - 1] = { type: "text", text: `${last.text}\n\n${part.text}` };
    } else parts.push(part);
    before = block.type;
  }
  return parts;
}

/** False for content annotated for the user only. */
export function isForModel(block: ContentBlock): boolean {
  const audience = (block as { annotations?: { audience?: readonly string[] | null } | null }).annotations
    ?.audience;
  return audience == null || audience.length === 0 || audience.includes("assistant");
}

function partOf(block: ContentBlock): TextPart | MediaPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: String(block.text) };
    case "image":
    case "audio": {
      const { uri } = block as { uri?: unknown }; // only an image may have one
      const name = typeof uri === "string" ? uri : undefined;
      const { type, mimeType, data } = block;
      return { type, mediaType: String(mimeType), data: String(data), ...optional({ name }) };
    }
    case "resource_link":
      return {
        type: "text",
        text: `[The user refers to ${block.uri} (${block.name}); read it if you need it.]`,
      };
    case "resource":
      return embedded(block);
    default:
      return { type: "text", text: `[content left out: the type ${JSON.stringify(block.type)} is unknown]` };
  }
}

interface EmbeddedResource {
  readonly uri?: unknown;
  readonly mimeType?: unknown;
  readonly text?: unknown;
  readonly blob?: unknown;
}

function embedded(block: ContentBlock): TextPart | MediaPart {
  const { uri, text, blob, mimeType } = (block as unknown as { resource: EmbeddedResource }).resource; // type "resource"
  const name = String(uri);
  const quoted = (words: string): TextPart => ({
    type: "text",
    text: `<resource uri=${JSON.stringify(name)}>\n${withoutNotes(words)}\n</resource>`,
  });
  if (typeof text === "string") return quoted(text);
  const data = String(blob);
  const bytes = Buffer.from(data, "base64");
  const mediaType = typeof mimeType === "string" ? plainType(mimeType) : sniffedType(bytes);
  const type = (["image", "audio"] as const).find((each) => mediaType.startsWith(`${each}/`));
  if (type !== undefined) return { type, mediaType, data, name };
  const words = mediaType === pdfType ? undefined : utf8Of(bytes);
  return words === undefined ? { type: "document", mediaType, data, name } : quoted(words);
}

/** Without parameters such as a charset. */
function plainType(mimeType: string): string {
  return (mimeType.split(";")[0] ?? "").trim().toLowerCase();
}

function sniffedType(bytes: Uint8Array): string {
  return imageTypeOf(bytes) ?? (isPdf(bytes) ? pdfType : "");
}

/** Undefined for bytes that are not text. */
function utf8Of(bytes: Uint8Array): string | undefined {
  if (isBinary(bytes)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Makes images smaller that are too large for every provider. */
export async function withFittedImages(
  messages: readonly ModelMessage[],
  { takesImages }: MediaFacts,
): Promise<readonly ModelMessage[]> {
  if (!takesImages) return messages;
  return Promise.all(
    messages.map(async (message): Promise<ModelMessage> => {
      if (message.role === "user") return { ...message, content: await fittedParts(message.content) };
      if (message.role === "assistant") return message;
      const outcomes = message.outcomes.map(async (outcome) => ({
        ...outcome,
        content: await fittedParts(outcome.content),
      }));
      return { ...message, outcomes: await Promise.all(outcomes) };
    }),
  );
}

async function fittedParts(
  parts: readonly (TextPart | MediaPart)[],
): Promise<readonly (TextPart | MediaPart)[]> {
  if (!parts.some(({ type }) => type === "image")) return parts;
  // loaded on use, to keep startup fast
  const { fittedImage } = await import("../model/fit-image.ts");
  return Promise.all(parts.map(async (part) => (part.type === "image" ? fittedImage(part) : part)));
}

/** Tells the user which parts of the prompt the model will not get. */
export async function tellOfUnusedMedia(
  turn: Turn,
  parts: readonly (TextPart | MediaPart)[],
  facts: MediaFacts,
): Promise<void> {
  for (const part of facts.takesImages ? await fittedParts(parts) : parts) {
    const problem = part.type === "text" ? undefined : mediaProblem(part, facts);
    if (part.type === "text" || problem === undefined) continue;
    await tell(turn, `${part.name ?? `The ${part.type}`} was left out: ${problem}.`);
  }
}

/** Replaces media that this model does not take by a note; they may have been sent to another model. */
export function withoutUnusedMedia(
  messages: readonly ModelMessage[],
  facts: MediaFacts,
): readonly ModelMessage[] {
  const kept = (part: TextPart | MediaPart): TextPart | MediaPart => {
    const problem = part.type === "text" ? undefined : mediaProblem(part, facts);
    return part.type === "text" || problem === undefined ? part : mediaNote(part, problem);
  };
  return messages.map((message) => {
    if (message.role === "user") return { ...message, content: message.content.map(kept) };
    if (message.role === "assistant") return message;
    return {
      ...message,
      outcomes: message.outcomes.map((outcome) => ({ ...outcome, content: outcome.content.map(kept) })),
    };
  });
}
