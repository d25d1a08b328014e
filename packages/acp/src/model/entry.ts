// The one record that session stores, history, traces and the view share.

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "./ask.ts";
import type { ContentBlock } from "./content.ts";
import type { Outcome, Update } from "./update.ts";

export type EntryBody =
  | { readonly kind: "update"; readonly update: Update }
  /** The user's message, as it was accepted. */
  | { readonly kind: "prompt"; readonly messageId: string; readonly prompt: readonly ContentBlock[] }
  | { readonly kind: "ask"; readonly askId: string; readonly permission: PermissionAsk }
  | { readonly kind: "ask"; readonly askId: string; readonly elicitation: ElicitationAsk }
  | { readonly kind: "answer"; readonly askId: string; readonly permission: PermissionAnswer }
  | { readonly kind: "answer"; readonly askId: string; readonly elicitation: ElicitationAnswer }
  /** The end of the work on a prompt. */
  | { readonly kind: "outcome"; readonly messageId: string; readonly outcome: Outcome };

/** One thing that happened in a session. `seq` counts from 1 without gaps; order is by `seq`, never by time. */
export type Entry = {
  readonly seq: number /** Milliseconds since 1970. */;
  readonly time: number;
} & EntryBody;
