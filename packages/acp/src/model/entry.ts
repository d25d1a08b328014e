// The one record that session stores, history, traces and the view share.

import type { ElicitationRequest, ElicitationResponse, PermissionOutcome, PermissionRequest } from "./ask.ts";
import type { ContentBlock } from "./content.ts";
import type { PromptResult, SessionUpdate } from "./update.ts";

/** The content of an entry: an update, a prompt, a question or its answer, or the end of the work on a prompt. */
export type EntryBody =
  | { readonly kind: "update"; readonly update: SessionUpdate }
  /** The user's message, as it was accepted. */
  | { readonly kind: "prompt"; readonly messageId: string; readonly prompt: readonly ContentBlock[] }
  | { readonly kind: "ask"; readonly askId: string; readonly permission: PermissionRequest }
  | { readonly kind: "ask"; readonly askId: string; readonly elicitation: ElicitationRequest }
  | { readonly kind: "answer"; readonly askId: string; readonly permission: PermissionOutcome }
  | { readonly kind: "answer"; readonly askId: string; readonly elicitation: ElicitationResponse }
  /** The end of the work on a prompt. */
  | { readonly kind: "result"; readonly messageId: string; readonly result: PromptResult };

/** One event of a session: an update, a prompt, a question, an answer or a result. More kinds will be added: give a `switch` over `kind` a `default:`. */
export type Entry = {
  /** The version of the entry's format. `upgradeEntry` converts older formats. */
  readonly format: 1;
  /** Counts from 1 without gaps. Order entries by `seq`, never by time. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
} & EntryBody;
