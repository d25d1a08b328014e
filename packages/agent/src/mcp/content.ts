// Converts MCP content for the model and for the user, following its audience annotation.

import type {
  GetPromptResult,
  ContentBlock as McpContent,
  ReadResourceResult,
} from "@modelcontextprotocol/client";
import type { ContentBlock } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { ToolCallContent } from "@parley/acp/model";
import { withoutNotes } from "../model/agent-requests.ts";
import type { MediaPart, TextPart } from "../model/model.ts";
import { textPart } from "../tools/base/define-tool.ts";
import { limitedContent } from "../tools/base/truncation.ts";

export interface MappedContent {
  readonly forModel: readonly (TextPart | MediaPart)[];
  readonly forUser: readonly ToolCallContent[];
}

/** Limit for base64 text: more helps no model and slows clients down. */
const maxMediaChars = 8 * 1024 * 1024;

export function mapContent(content: readonly McpContent[]): MappedContent {
  const forModel = content.filter((block) => isFor(block, "assistant")).map(partOf);
  const forUser = content.filter((block) => isFor(block, "user")).map(blockOf);
  return { forModel: limitedContent(forModel), forUser: limitedBlocks(forUser).map(asShown) };
}

export function mapResource({ contents }: ReadResourceResult): MappedContent {
  return mapContent(contents.map((resource) => ({ type: "resource", resource })));
}

function isFor(block: McpContent, who: "user" | "assistant"): boolean {
  const { audience } = block.annotations ?? {};
  return audience === undefined || audience.length === 0 || audience.includes(who);
}

function partOf(block: McpContent): TextPart | MediaPart {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
    case "audio":
      return media(block.type, block.mimeType, block.data);
    case "resource_link": {
      const { uri, name, description, mimeType } = block;
      const more = [description, mimeType].filter((each) => each !== undefined && each !== "").join(", ");
      return textPart(`[resource ${uri} (${name})${more === "" ? "" : `: ${more}`}]`);
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource) {
        return textPart(`<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>`);
      }
      const kind = /^(image|audio)\//.exec(resource.mimeType ?? "")?.[1];
      if (kind === "image" || kind === "audio") return media(kind, resource.mimeType ?? "", resource.blob);
      const type = resource.mimeType ?? "unknown type";
      return textPart(`[resource ${resource.uri}: ${bytesOf(resource.blob)} bytes of ${type}]`);
    }
  }
}

/** Marks the assistant's lines of a prompt, since all of it becomes one user message. */
export function promptBlocks({ messages }: GetPromptResult): ContentBlock[] {
  return messages.map(({ role, content }) => {
    const block = blockOf(content);
    if (block.type !== "text") return block;
    const text = withoutNotes(String(block.text));
    return { type: "text", text: role === "assistant" ? `Assistant: ${text}` : text };
  });
}

function blockOf(block: McpContent): ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      if (block.data.length > maxMediaChars) return { type: "text", text: tooLarge(block.type, block.data) };
      return { type: block.type, mimeType: block.mimeType, data: block.data };
    case "resource_link": {
      const { uri, name, title, description, mimeType, size } = block;
      return { type: "resource_link", uri, name, ...optional({ title, description, mimeType, size }) };
    }
    case "resource": {
      const { uri, mimeType } = block.resource;
      if ("text" in block.resource) {
        return { type: "resource", resource: { uri, text: block.resource.text, ...optional({ mimeType }) } };
      }
      const { blob } = block.resource;
      if (blob.length > maxMediaChars) return { type: "text", text: tooLarge(uri, blob) };
      return { type: "resource", resource: { uri, blob, ...optional({ mimeType }) } };
    }
  }
}

/** Limits the text for the user as for the model. */
function limitedBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  const limited = limitedContent(
    blocks.map((block) =>
      block.type === "text" ? textPart(String(block.text)) : textPart(embeddedText(block) ?? ""),
    ),
  );
  return blocks.map((block, i) => {
    const part = limited[i];
    const kept = part?.type === "text" ? part.text : "";
    if (block.type === "text") return { type: "text", text: kept };
    const whole = embeddedText(block);
    return whole === undefined || whole === kept ? block : { type: "text", text: kept };
  });
}

function embeddedText(block: ContentBlock): string | undefined {
  const { resource } = block as { resource?: { text?: unknown } }; // only type "resource" has it
  return typeof resource?.text === "string" ? resource.text : undefined;
}

function asShown(content: ContentBlock): ToolCallContent {
  return { type: "content", content };
}

function media(type: "image" | "audio", mediaType: string, data: string): TextPart | MediaPart {
  return data.length > maxMediaChars ? textPart(tooLarge(type, data)) : { type, mediaType, data };
}

function tooLarge(what: string, base64: string): string {
  return `[${what} left out: ${bytesOf(base64)} bytes is too large]`;
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
