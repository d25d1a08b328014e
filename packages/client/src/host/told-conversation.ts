// The conversation of a session as text, for an agent that does not remember it.

import { type ContentBlock, type Entry, textOf } from "@parley/acp";
import type { AttachedText } from "../prompt-input/chat-input.ts";

/** An agent has to read it with its first prompt. */
const mostChars = 40_000;

export interface ToldConversation {
  /** Undefined if nothing was said. */
  readonly told: AttachedText | undefined;
  /** How many characters of the beginning are not in it. */
  readonly leftOut: number;
}

interface Part {
  readonly name: string;
  text: string;
}

/** Keeps the end of a long conversation. */
export async function toldConversation(entries: AsyncIterable<Entry>): Promise<ToldConversation> {
  const parts = new Map<string, Part>();
  let chars = 0;
  let leftOut = 0;
  const add = (key: string, name: string, text: string, replaces: boolean): void => {
    const part = parts.get(key) ?? { name, text: "" };
    const before = part.text.length;
    part.text = replaces ? text : part.text + text;
    parts.set(key, part);
    chars += part.text.length - before;
    for (const [first, { text: oldest }] of parts) {
      if (chars <= 2 * mostChars || first === key) break;
      parts.delete(first);
      chars -= oldest.length;
      leftOut += oldest.length;
    }
  };
  for await (const entry of entries) read(entry, add);
  const lines = [...parts.values()].filter(({ text }) => text.trim() !== "");
  if (lines.length === 0) return { told: undefined, leftOut: 0 };
  const whole = lines.map(({ name, text }) => `${name}: ${text.trim()}`).join("\n\n");
  const end = whole.length <= mostChars ? whole : whole.slice(-mostChars).replace(/^[\udc00-\udfff]/, "");
  leftOut += whole.length - end.length;
  const about =
    "This is the conversation so far, up to the message above. It was held in another session, which you do not remember.";
  const missing =
    leftOut === 0 ? "" : ` Its first ${leftOut.toLocaleString("en-US")} characters are left out.`;
  return { told: { name: "the conversation so far", text: `${about}${missing}\n\n${end}` }, leftOut };
}

type Add = (key: string, name: string, text: string, replaces: boolean) => void;

function read(entry: Entry, add: Add): void {
  if (entry.kind === "prompt" || entry.kind === "inbox")
    return add(`user ${entry.messageId}`, "User", textIn(entry.prompt), true);
  if (entry.kind !== "update") return;
  const { update } = entry;
  switch (update.sessionUpdate) {
    case "user_message":
      return add(`user ${update.messageId}`, "User", textIn(update.content ?? []), true);
    case "user_message_chunk":
      return add(`user ${update.messageId}`, "User", textOf(update.content), false);
    case "agent_message":
      return add(`agent ${update.messageId}`, "Assistant", textIn(update.content ?? []), true);
    case "agent_message_chunk":
      return add(`agent ${update.messageId}`, "Assistant", textOf(update.content), false);
    case "tool_call_update":
      if (update.title != null) add(`tool ${update.toolCallId}`, "Tool call", update.title, true);
      return;
    default:
      return;
  }
}

function textIn(content: readonly ContentBlock[]): string {
  return content.map((block) => textOf(block)).join("\n");
}
