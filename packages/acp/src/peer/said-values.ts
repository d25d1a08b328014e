// Words that an app may say: the model's own, or its own with a leading underscore (X8). Version 2's schema refuses all
// others; version 1 has fewer words and would leave them out without a sound, so they are refused here for both. An
// agent is written once, and what is wrong is wrong whichever client comes.

import type { ContentBlock, PlanEntry, ToolCallStatus, ToolKind } from "../model/content.ts";
import type { StopReason, ToolCallContent, Update } from "../model/update.ts";
import type { UnknownTag } from "../wire/unknown-tag.ts";

/** The words of a union, without those that anybody may add. */
type Known<Word extends string> = Word extends UnknownTag ? never : string extends Word ? never : Word;
/** A word too many, or one that is missing, is an error of the compiler. */
type Words<Word extends string> = Readonly<Record<Known<Word>, true>>;
type Tag<Item> = Item extends { readonly type: infer Type extends string } ? Known<Type> : never;

const blocks: Words<Tag<ContentBlock>> = {
  text: true,
  image: true,
  audio: true,
  resource_link: true,
  resource: true,
};
const contents: Words<Tag<ToolCallContent>> = { content: true, diff: true, terminal: true };
const kinds: Words<ToolKind> = {
  read: true,
  edit: true,
  delete: true,
  move: true,
  search: true,
  execute: true,
  think: true,
  fetch: true,
  switch_mode: true,
  other: true,
};
const statuses: Words<ToolCallStatus> = {
  pending: true,
  in_progress: true,
  paused: true,
  completed: true,
  failed: true,
  cancelled: true,
};
const progress: Words<PlanEntry["status"]> = {
  pending: true,
  in_progress: true,
  completed: true,
  cancelled: true,
};
const reasons: Words<StopReason> = {
  end_turn: true,
  max_tokens: true,
  max_turn_requests: true,
  refusal: true,
  cancelled: true,
  error: true,
};

export function checkBlock(block: ContentBlock): void {
  checkWord("content must be an object whose type is", block?.type, blocks);
}

export function checkStopReason(reason: string): void {
  checkWord("a stop reason must be", reason, reasons);
}

/** The words of an update; what surrounds them is the schema's business. */
export function checkWords(update: Update): void {
  switch (update.sessionUpdate) {
    case "tool_call_update":
      if (update.kind != null) checkWord("the kind of a tool call must be", update.kind, kinds);
      if (update.status != null) checkWord("the status of a tool call must be", update.status, statuses);
      for (const item of update.content ?? []) checkContent(item);
      return;
    case "tool_call_content_chunk":
      return checkContent(update.content);
    case "plan_update":
      if (update.plan.type !== "items" || !Array.isArray(update.plan.entries)) return;
      for (const { status } of update.plan.entries as readonly PlanEntry[])
        checkWord("the status of a plan's entry must be", status, progress);
      return;
    default:
  }
}

function checkContent(item: ToolCallContent): void {
  checkWord("content of a tool call must be an object whose type is", item?.type, contents);
  if (item.type === "content") checkBlock((item as { content: ContentBlock }).content); // by its tag
}

function checkWord(what: string, word: unknown, words: Readonly<Record<string, true>>): void {
  if (typeof word === "string" && (word.startsWith("_") || Object.hasOwn(words, word))) return;
  const known = Object.keys(words).join(", ");
  throw new TypeError(`${what} ${known}, or begin with "_"; got ${JSON.stringify(word)}`);
}
