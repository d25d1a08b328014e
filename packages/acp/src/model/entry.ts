// The one record that session stores, history, traces and the view share.

import type { ElicitationRequest, ElicitationResponse, PermissionOutcome, PermissionRequest } from "./ask.ts";
import type { ContentBlock } from "./content.ts";
import type { JsonValue } from "./custom-types.ts";
import type { PromptResult, SessionUpdate } from "./update.ts";

/** Who said something. */
export interface Author {
  /** The person. Absent: the one local user. */
  readonly principal?: string;
  /** The name of the program that the person used. */
  readonly client?: string;
}

/**
 * Who said something, and the key of the command with which it was sent.
 *
 * @inline
 */
interface Said {
  /** Who said it. */
  readonly author?: Author;
  /** The key of the command with which it was sent. */
  readonly key?: string;
}

/** The content of an entry: an update, a prompt, a question or its answer, the end of the work on a prompt, or an event of the session. */
export type EntryBody =
  | { readonly kind: "update"; readonly update: SessionUpdate }
  /** The user's message, as it was accepted. */
  | ({ readonly kind: "prompt"; readonly messageId: string; readonly prompt: readonly ContentBlock[] } & Said)
  /** A message of the user to a turn that already runs. */
  | ({ readonly kind: "inbox"; readonly messageId: string; readonly prompt: readonly ContentBlock[] } & Said)
  | { readonly kind: "ask"; readonly askId: string; readonly permission: PermissionRequest }
  | { readonly kind: "ask"; readonly askId: string; readonly elicitation: ElicitationRequest }
  | ({ readonly kind: "answer"; readonly askId: string; readonly permission: PermissionOutcome } & Said)
  | ({ readonly kind: "answer"; readonly askId: string; readonly elicitation: ElicitationResponse } & Said)
  /** Somebody has begun to answer a question, or nobody answered it in time. */
  | ({ readonly kind: "question"; readonly askId: string; readonly state: "claimed" | "expired" } & Said)
  /** The end of the work on a prompt. */
  | { readonly kind: "result"; readonly messageId: string; readonly result: PromptResult }
  /** A turn has begun, or was interrupted by a crash. Without a message, the agent works without a prompt. */
  | { readonly kind: "turn"; readonly state: "started" | "interrupted"; readonly messageId?: string }
  /** Somebody has joined or left the session. */
  | { readonly kind: "member"; readonly state: "joined" | "left"; readonly author: Author }
  /** The agent of the session has started or ended. */
  | {
      readonly kind: "agent";
      readonly state: "started" | "ended";
      readonly name?: string;
      readonly version?: string;
      readonly reason?: string;
    }
  /** The next `count` entries were not recorded when they happened. The agent replayed them later, from its own log. */
  | { readonly kind: "imported"; readonly count: number }
  /** Data that only its writer needs, such as the input of a model. It is never shown. */
  | { readonly kind: "private"; readonly name: string; readonly value: JsonValue }
  /** Data of an application. `name` begins with the application's domain. */
  | { readonly kind: "extension"; readonly name: string; readonly value: JsonValue };

/** One event of a session: an update, a prompt, a question, an answer or a result. More kinds will be added: give a `switch` over `kind` a `default:`. */
export type Entry = {
  /** The version of the entry's format. `upgradeEntry` converts older formats. */
  readonly format: 1;
  /** Counts from 1 without gaps. Order entries by `seq`, never by time. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
} & EntryBody;
