// Keeps the conversation as the model sees it; every tool call has exactly one outcome before the next message.

import { noteStart } from "../model/agent-requests.ts";
import type { AssistantPart } from "../model/assistant-message.ts";
import type { MediaPart, ModelMessage, TextPart, ToolCallPart, ToolOutcome } from "../model/model.ts";
import { tokensOfMessage } from "../model/tokens.ts";

/** Begins the message that stands for an older part of the conversation. */
export const summaryTitle = "Summary of the conversation so far:";

export class Transcript {
  #messages: ModelMessage[] = [];
  /** Calls of the last message that have no outcome yet, in their order. */
  #open: readonly ToolCallPart[] = [];
  readonly #outcomes = new Map<string, ToolOutcome>();
  /** The messages before the current turn. */
  #before: readonly ModelMessage[] = [];

  /** The messages to send. Running calls are not included. */
  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** False when there is nothing to send: providers reject empty messages. */
  addUser(content: readonly (TextPart | MediaPart)[]): boolean {
    if (!content.some((part) => part.type !== "text" || part.text.trim() !== "")) return false;
    this.settle("This call was not run: the user sent another message first.");
    this.#messages.push({ role: "user", content });
    return true;
  }

  /** Tells the model something that the user did not say, with the user's message where that comes last. */
  addNote(text: string): void {
    const note = { type: "text" as const, text: `${noteStart}\n${text}\n</situation>` };
    const last = this.#messages.at(-1);
    if (last?.role !== "user") this.#messages.push({ role: "user", content: [note] });
    else this.#messages[this.#messages.length - 1] = { ...last, content: [...last.content, note] };
  }

  /** Adds one answer of the model, complete or cut short. */
  addAssistant(content: readonly AssistantPart[]): void {
    this.settle("This call was not run.");
    if (content.length === 0) return;
    this.#messages.push({ role: "assistant", content });
    this.#open = content.filter((part) => part.type === "tool_call");
  }

  /** The first outcome of a call counts; later ones are ignored. */
  addOutcome(outcome: ToolOutcome): void {
    if (!this.#open.some(({ id }) => id === outcome.callId) || this.#outcomes.has(outcome.callId)) return;
    this.#outcomes.set(outcome.callId, outcome);
    if (this.#outcomes.size === this.#open.length) this.#close();
  }

  /** Ends every open call with this error. */
  settle(reason: string): void {
    for (const { id, name } of this.#open) {
      this.addOutcome({ callId: id, name, content: [{ type: "text", text: reason }], isError: true });
    }
  }

  /** Replaces the user's last message. False when `change` returns it unchanged. */
  changeRequest(change: (message: Extract<ModelMessage, { role: "user" }>) => ModelMessage): boolean {
    const at = this.#messages.findLastIndex((each) => each.role === "user" && !isOnlyNote(each.content));
    const message = this.#messages[at];
    if (message?.role !== "user") return false;
    const changed = change(message);
    if (changed === message) return false;
    this.#messages[at] = changed;
    return true;
  }

  /** Call it before the message of the user that begins a turn. */
  beginTurn(): void {
    this.#before = this.#messages.slice();
  }

  /** Removes the message that began the turn, and everything after it. */
  forgetTurn(): void {
    const before = this.#before;
    this.clear();
    this.#before = before;
    this.#messages = before.slice();
  }

  clear(): void {
    this.#before = [];
    this.#messages = [];
    this.#open = [];
    this.#outcomes.clear();
  }

  /** The same messages with other contents. */
  replace(messages: readonly ModelMessage[]): void {
    this.#messages = messages.slice();
  }

  /**
   * Replaces everything before the last `kept` messages by a summary. What the user wrote stays word for word, the newest
   * first, up to `requestTokens`; attachments and earlier summaries do not.
   */
  compact(
    summary: string,
    { kept, requestTokens }: { readonly kept: number; readonly requestTokens: number },
  ): void {
    this.settle("This call was not run.");
    const tail = kept === 0 ? [] : this.#messages.slice(-kept);
    // an outcome needs its call before it
    while (tail[0]?.role === "tool") tail.shift();
    const older = this.#messages.slice(0, this.#messages.length - tail.length);
    const asked = requestsOf(older, requestTokens);
    this.#messages = [...asked, { role: "user", content: [{ type: "text", text: summary }] }, ...tail];
  }

  #close(): void {
    const outcomes = this.#open.flatMap(({ id }) => this.#outcomes.get(id) ?? []);
    this.#messages.push({ role: "tool", outcomes });
    this.#open = [];
    this.#outcomes.clear();
  }
}

/** The newest messages of the user that fit, without attachments. */
function requestsOf(messages: readonly ModelMessage[], budget: number): ModelMessage[] {
  let left = budget;
  return messages
    .toReversed()
    .flatMap((message) => {
      if (message.role !== "user") return [];
      const content = message.content.filter((part) => part.type === "text" && !isAttached(part.text));
      const [first] = content;
      if (first?.type !== "text" || first.text.startsWith(summaryTitle)) return [];
      const asked: ModelMessage = { role: "user", content };
      const tokens = tokensOfMessage(asked);
      if (tokens > left) return [];
      left -= tokens;
      return [asked];
    })
    .toReversed();
}

function isAttached(text: string): boolean {
  return text.startsWith("<resource ") || text.startsWith(noteStart);
}

function isOnlyNote(content: readonly (TextPart | MediaPart)[]): boolean {
  return content.every((part) => part.type === "text" && part.text.startsWith(noteStart));
}
