// The small state that is stored with each log. Lists, and the end of a long session, can be shown without reading the log.

import { textOf } from "./content-text.ts";
import type { JsonValue } from "./custom-types.ts";
import { optionValue } from "./custom-types.ts";
import type { EntryBody } from "./entry.ts";
import type { SessionUpdate, UpdateOf } from "./update.ts";

/** A question that is open. */
export interface OpenQuestion {
  /** The id of the question. */
  readonly askId: string;
  /** Its title, on one line. */
  readonly title: string;
  /** The `seq` of its entry. */
  readonly seq: number;
}

/** A prompt that has not ended: the first runs, the others wait. */
export interface OpenPrompt {
  /** The id of the message. */
  readonly messageId: string;
  /** The beginning of its text, on one line. */
  readonly text: string;
  /** The `seq` of its entry. */
  readonly seq: number;
}

/** What a session is doing, as of its last entries. */
export interface HeadState {
  /** The last entry that is counted. */
  readonly seq: number;
  /** Everything that began at or before this entry has ended. A crash can only leave open what began after it. */
  readonly settledSeq: number;
  /** Only in a fork whose state does not count all entries: its prompts and questions up to this entry have no end, and are not open. */
  readonly forkedAt?: number;
  /** Whether a turn runs that was not started by a prompt. */
  readonly isBusy?: true;
  /** Prompts that have not ended. */
  readonly prompts: readonly OpenPrompt[];
  /** Questions without an answer. */
  readonly questions: readonly OpenQuestion[];
  /** The values of the config options, by id. */
  readonly config: Readonly<Record<string, JsonValue>>;
  /** The progress of the last plan. */
  readonly plan?: HeadPlan;
  /** The usage that the agent reported last. */
  readonly usage?: Pick<UpdateOf<"usage_update">, "used" | "size" | "cost">;
  /** The title that the agent gave last. */
  readonly title?: string;
}

/** The progress of a plan. */
export interface HeadPlan {
  /** How many steps it has. */
  readonly total: number;
  /** How many of them are done. */
  readonly completed: number;
  /** The step that is in progress. */
  readonly current?: string;
}

export const emptyHead: HeadState = { seq: 0, settledSeq: 0, prompts: [], questions: [], config: {} };

const longestText = 200;

/** The kinds of update that change the state. The others need not be shown to `foldHead`. */
const headTags: ReadonlySet<string> = new Set([
  "config_option_update",
  "plan_update",
  "plan_removed",
  "usage_update",
  "session_info_update",
]);

/** Whether an update of this kind may change the state of the head. */
export function isHeadTag(tag: string): boolean {
  return headTags.has(tag);
}

/**
 * Applies one entry to the state. The writer sets `seq` and `settledSeq`, because it knows what else is open.
 *
 * @param state The state before the entry.
 * @param body The content of the entry.
 * @param seq The number of the entry.
 * @returns The state after the entry; the same object if nothing has changed.
 * @example
 * import { emptyHead, type Entry, foldHead, type HeadState } from "@parley/acp/store";
 *
 * export function headOf(entries: readonly Entry[]): HeadState {
 *   return entries.reduce((state, entry) => foldHead(state, entry, entry.seq), emptyHead);
 * }
 */
export function foldHead(state: HeadState, body: EntryBody, seq: number): HeadState {
  switch (body.kind) {
    case "update":
      return foldUpdate(state, body.update);
    case "prompt": {
      const text = line(body.prompt.map((block) => textOf(block)).join(" "));
      return { ...state, prompts: [...state.prompts, { messageId: body.messageId, text, seq }] };
    }
    case "result":
      return { ...state, prompts: state.prompts.filter(({ messageId }) => messageId !== body.messageId) };
    case "ask": {
      const { title } = "permission" in body ? body.permission : { title: body.elicitation.message };
      const question = { askId: body.askId, title: line(title ?? ""), seq };
      return { ...state, questions: [...state.questions, question] };
    }
    case "answer":
      return withoutQuestion(state, body.askId);
    case "question":
      return body.state === "expired" ? withoutQuestion(state, body.askId) : state;
    default:
      return state;
  }
}

function withoutQuestion(state: HeadState, askId: string): HeadState {
  return { ...state, questions: state.questions.filter((each) => each.askId !== askId) };
}

function foldUpdate(state: HeadState, update: SessionUpdate): HeadState {
  switch (update.sessionUpdate) {
    case "config_option_update": {
      // as: an option of every type has a value that is JSON
      const values = update.configOptions.map((option) => [
        option.configId,
        optionValue(option) as JsonValue,
      ]);
      return { ...state, config: Object.fromEntries(values) };
    }
    case "plan_update":
      return withPlan(state, update.plan);
    case "plan_removed": {
      const { plan: _, ...rest } = state;
      return rest;
    }
    case "usage_update": {
      const { used, size, cost = state.usage?.cost } = update;
      return { ...state, usage: { used, size, ...(cost === undefined ? {} : { cost }) } };
    }
    case "session_info_update": {
      const { title: before, ...rest } = state;
      const title = update.title === undefined ? before : update.title;
      return title == null ? rest : { ...rest, title: line(title) };
    }
    default:
      return state;
  }
}

function withPlan(state: HeadState, plan: UpdateOf<"plan_update">["plan"]): HeadState {
  const entries = "entries" in plan && Array.isArray(plan.entries) ? plan.entries : undefined;
  if (entries === undefined) return state;
  const current = entries.find(({ status }) => status === "in_progress")?.content;
  return {
    ...state,
    plan: {
      total: entries.length,
      completed: entries.filter(({ status }) => status === "completed").length,
      ...(current === undefined ? {} : { current: line(String(current)) }),
    },
  };
}

function line(text: string): string {
  const short = text
    .trimStart()
    .slice(0, longestText + 1)
    .replaceAll(/\s+/g, " ")
    .trimEnd();
  return short.length > longestText ? `${short.slice(0, longestText - 1)}…` : short;
}
