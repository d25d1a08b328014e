// Converts prompt content to model message parts, and rejects content that the model does not accept.

import { type ContentBlock, RequestError } from "@parley/acp";
import { imageProblem } from "../model/image-limits.ts";
import type { MediaPart, ModelFacts, ModelMessage, TextPart } from "../model/model.ts";

type MediaSupport = Pick<ModelFacts, "name" | "takesImages" | "takesAudio">;

/** Throws RequestError "invalid_params" for content that the model does not accept. */
export function userParts(prompt: readonly ContentBlock[], facts: MediaSupport): (TextPart | MediaPart)[] {
  const parts: (TextPart | MediaPart)[] = [];
  let before: ContentBlock["type"] | undefined;
  for (const block of prompt) {
    if (!isForModel(block)) continue;
    const part = partOf(block, facts);
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

function partOf(block: ContentBlock, { name, takesImages, takesAudio }: MediaSupport): TextPart | MediaPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: String(block.text) };
    case "image":
      if (!takesImages) throw refused(name, "images");
      return { type: "image", mediaType: String(block.mimeType), data: String(block.data) };
    case "audio":
      if (!takesAudio) throw refused(name, "sound");
      return { type: "audio", mediaType: String(block.mimeType), data: String(block.data) };
    case "resource_link":
      return {
        type: "text",
        text: `[The user refers to ${block.uri} (${block.name}); read it if you need it.]`,
      };
    case "resource":
      return embedded(block, { name, takesImages, takesAudio });
    default:
      throw refused(name, `content of the type ${JSON.stringify(block.type)}`);
  }
}

interface EmbeddedResource {
  readonly uri?: unknown;
  readonly mimeType?: unknown;
  readonly text?: unknown;
  readonly blob?: unknown;
}

function embedded(block: ContentBlock, facts: MediaSupport): TextPart | MediaPart {
  const { uri, text, blob, mimeType } = (block as unknown as { resource: EmbeddedResource }).resource; // type "resource"
  if (typeof text === "string") {
    return { type: "text", text: `<resource uri=${JSON.stringify(String(uri))}>\n${text}\n</resource>` };
  }
  const mediaType = String(mimeType ?? "");
  const kind = (["image", "audio"] as const).find((each) => mediaType.startsWith(`${each}/`));
  const takes = kind === "image" ? facts.takesImages : kind === "audio" && facts.takesAudio;
  if (kind === undefined || !takes) throw refused(facts.name, `${String(uri)} (${mediaType || "binary"})`);
  return { type: kind, mediaType, data: String(blob) };
}

function refused(model: string, what: string): RequestError {
  const message = `${model} does not take ${what}: leave it out, or choose another model (/model)`;
  return new RequestError("invalid_params", message, {
    data: { reason: "unsupported_content", path: "/prompt" },
  });
}

/** Throws RequestError "invalid_params" for an image that is too large for every provider. */
export function checkImages(prompt: readonly ContentBlock[]): void {
  for (const [i, block] of prompt.entries()) {
    const data = block.type === "image" && isForModel(block) ? String(block.data) : undefined;
    const problem = data === undefined ? undefined : imageProblem(Buffer.from(data, "base64"));
    if (problem === undefined) continue;
    throw new RequestError("invalid_params", `the image cannot be sent: ${problem}`, {
      data: { reason: "image_too_large", path: `/prompt/${i}` },
    });
  }
}

/** Replaces media that this model does not accept by a note; they may have been sent to another model. */
export function withoutUnsupportedMedia(
  messages: readonly ModelMessage[],
  { takesImages, takesAudio }: Pick<ModelFacts, "takesImages" | "takesAudio">,
): readonly ModelMessage[] {
  const kept = (part: TextPart | MediaPart): TextPart | MediaPart => {
    if ((part.type === "image" && !takesImages) || (part.type === "audio" && !takesAudio))
      return { type: "text", text: `[${part.type} left out: this model does not take it]` };
    const problem = part.type === "image" ? imageProblem(Buffer.from(part.data, "base64")) : undefined;
    return problem === undefined ? part : { type: "text", text: `[image left out: ${problem}]` };
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
