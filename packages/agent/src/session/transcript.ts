// What the model has been told and has said. Whatever happens to a turn, it stays a conversation that every model
// takes: each call of a tool has exactly one outcome, before anything else is said.

import type {
  MediaPart,
  ModelMessage,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolOutcome,
} from "../model/model.ts";

export type SpokenPart = TextPart | ThinkingPart | ToolCallPart;

export class Transcript {
  #messages: ModelMessage[] = [];
  /** Calls of the last message that have no outcome yet, in their order. */
  #open: readonly ToolCallPart[] = [];
  readonly #outcomes = new Map<string, ToolOutcome>();

  /** As a model takes it. Calls that still run are not part of it. */
  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** False where nothing was said: no provider takes an empty message. */
  addUser(content: readonly (TextPart | MediaPart)[]): boolean {
    if (!content.some((part) => part.type !== "text" || part.text.trim() !== "")) return false;
    this.settle("It was not run: the user spoke first.");
    this.#messages.push({ role: "user", content });
    return true;
  }

  /** What the model said in one go, also when it was cut short. */
  addAssistant(content: readonly SpokenPart[]): void {
    this.settle("It was not run.");
    if (content.length === 0) return;
    this.#messages.push({ role: "assistant", content });
    this.#open = content.filter((part) => part.type === "tool_call");
  }

  /** The first outcome of a call counts. */
  addOutcome(outcome: ToolOutcome): void {
    if (!this.#open.some(({ id }) => id === outcome.callId) || this.#outcomes.has(outcome.callId)) return;
    this.#outcomes.set(outcome.callId, outcome);
    if (this.#outcomes.size === this.#open.length) this.#close();
  }

  /** Gives every call that has no outcome this one. */
  settle(reason: string): void {
    for (const { id, name } of this.#open) {
      this.addOutcome({ callId: id, name, content: [{ type: "text", text: reason }], isError: true });
    }
  }

  /** Puts another message in the place of the user's last one. False where `change` gives the same. */
  changeRequest(change: (message: Extract<ModelMessage, { role: "user" }>) => ModelMessage): boolean {
    const at = this.#messages.findLastIndex(({ role }) => role === "user");
    const message = this.#messages[at];
    if (message?.role !== "user") return false;
    const changed = change(message);
    if (changed === message) return false;
    this.#messages[at] = changed;
    return true;
  }

  clear(): void {
    this.#messages = [];
    this.#open = [];
    this.#outcomes.clear();
  }

  /** Puts a summary in the place of everything before the last `kept` messages. */
  compact(summary: string, kept: number): void {
    this.settle("It was not run.");
    const tail = kept === 0 ? [] : this.#messages.slice(-kept);
    // an outcome without its call is no conversation
    while (tail[0]?.role === "tool") tail.shift();
    this.#messages = [{ role: "user", content: [{ type: "text", text: summary }] }, ...tail];
  }

  #close(): void {
    const outcomes = this.#open.flatMap(({ id }) => this.#outcomes.get(id) ?? []);
    this.#messages.push({ role: "tool", outcomes });
    this.#open = [];
    this.#outcomes.clear();
  }
}
