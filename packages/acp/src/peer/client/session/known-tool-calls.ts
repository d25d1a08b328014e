// Keeps what is known of the open tool calls of a session, for questions that name a call by its id.

import { isObject } from "../../../base/objects.ts";
import type { ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";

/** Characters of the messages that brought it. Then the oldest calls are forgotten. */
const maxChars = 32 * 1024 * 1024;

interface KnownCall {
  fields: Partial<ToolCallUpdate>;
  /** Here and not in the fields, since chunks are added to it. */
  content: ToolCallContent[];
  chars: number;
}

export class KnownToolCalls {
  readonly #calls = new Map<string, KnownCall>();
  #chars = 0;

  patch(update: ToolCallUpdate, chars: number): void {
    const { toolCallId, content } = update;
    const known = this.#call(toolCallId, chars);
    if (content !== undefined) known.content = [...(content ?? [])];
    known.fields = patched(known.fields, update);
    this.#forgetOldest();
  }

  append(toolCallId: string, content: ToolCallContent, chars: number): void {
    this.#call(toolCallId, chars).content.push(content);
    this.#forgetOldest();
  }

  forget(toolCallId: string): void {
    this.#chars -= this.#calls.get(toolCallId)?.chars ?? 0;
    this.#calls.delete(toolCallId);
  }

  clear(): void {
    this.#calls.clear();
    this.#chars = 0;
  }

  /** What is known of the call, changed by what a question says of it. Undefined when nothing is known. */
  find(toolCallId: string, said: Partial<ToolCallUpdate> = {}): ToolCallUpdate | undefined {
    const known = this.#calls.get(toolCallId);
    if (known === undefined && Object.keys(said).length === 0) return undefined;
    const { content, ...fields } = askedAbout({ ...known?.fields, content: known?.content ?? [] }, said);
    return { ...fields, toolCallId, ...(content?.length ? { content: [...content] } : {}) };
  }

  #call(toolCallId: string, chars: number): KnownCall {
    const known = this.#calls.get(toolCallId) ?? { fields: {}, content: [], chars: 0 };
    known.chars += chars;
    this.#chars += chars;
    this.#calls.set(toolCallId, known);
    return known;
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      if (this.#chars <= maxChars) return;
      this.forget(oldest);
    }
  }
}

/**
 * What is known of a call and what a question says of it. Agents say less in the question than in the updates before
 * it: what it leaves out or empty is still meant, also single fields of the input, such as the directory of a command.
 */
export function askedAbout(
  known: Partial<ToolCallUpdate>,
  said: Partial<ToolCallUpdate>,
): Partial<ToolCallUpdate> {
  const full = Object.entries(said).filter(([name, value]) =>
    name === "kind" && known.kind != null ? value !== "other" && value != null : !isEmpty(value),
  );
  const merged: Partial<ToolCallUpdate> = { ...known, ...Object.fromEntries(full) };
  if (!isObject(known.rawInput) || !isObject(said.rawInput)) return merged;
  return { ...merged, rawInput: { ...known.rawInput, ...said.rawInput } };
}

function isEmpty(value: unknown): boolean {
  return value == null || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Absent keeps, null clears. */
function patched(
  { ...fields }: Partial<ToolCallUpdate>,
  update: Partial<ToolCallUpdate>,
): Partial<ToolCallUpdate> {
  const { content: _, ...said } = update;
  for (const [name, value] of Object.entries(said)) {
    if (value === null)
      delete fields[name as keyof ToolCallUpdate]; // a key of what was said
    else if (value !== undefined) Object.assign(fields, { [name]: value });
  }
  return fields;
}
