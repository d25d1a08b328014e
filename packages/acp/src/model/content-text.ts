// Reads the text of content blocks, and that of the messages of an agent.

import type { ContentBlock } from "./content.ts";
import type { SessionUpdate } from "./update.ts";

/**
 * Gives the text of content: that of its text blocks, joined. Blocks of other types have none.
 *
 * @example
 * import { textOf } from "@parley/acp";
 *
 * textOf([{ type: "text", text: "Hello, " }, { type: "text", text: "world" }]); // "Hello, world"
 */
export function textOf(content: ContentBlock | readonly ContentBlock[]): string {
  // `in`: Array.isArray does not recognise a readonly list
  return "type" in content ? textIn(content) : content.map(textIn).join("");
}

function textIn(block: ContentBlock): string {
  return block.type === "text" && typeof block.text === "string" ? block.text : "";
}

/** The texts of messages by their ids, in the order in which they began. */
export type MessageTexts = Map<string, string>;

/** Adds what an update says to the messages of one kind: chunks append, whole messages replace. */
export function addMessageText(
  texts: MessageTexts,
  kind: "agent_message" | "agent_thought",
  update: SessionUpdate,
): void {
  const { sessionUpdate } = update;
  if (sessionUpdate === "agent_message_chunk" || sessionUpdate === "agent_thought_chunk") {
    if (sessionUpdate !== `${kind}_chunk`) return;
    texts.set(update.messageId, (texts.get(update.messageId) ?? "") + textIn(update.content));
  } else if (sessionUpdate === "agent_message" || sessionUpdate === "agent_thought") {
    if (sessionUpdate !== kind || update.content === undefined) return;
    texts.set(update.messageId, textOf(update.content ?? []));
  }
}

/** The messages as one text: a line break stands between two of them. */
export function joinMessages(texts: MessageTexts): string {
  return [...texts.values()].filter((text) => text !== "").join("\n");
}
