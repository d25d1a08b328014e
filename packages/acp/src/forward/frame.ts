// What a forwarder shows of a message, what it must know of its protocol, and what may happen to the message.

import type { PassedAnswer } from "../jsonrpc/passed-call.ts";

export type Side = "client" | "agent";

export const otherSide = { client: "agent", agent: "client" } as const;

/** What a request opens: the connection, a new session, or the session that it names. */
export type Opens = "connection" | "session" | "named session";

/** What a forwarder must know of the protocol that it forwards. */
export interface Facts {
  /** The session that params or a result name. */
  session(value: unknown): string | undefined;
  opens(method: string): Opens | undefined;
  /** Whether a notification cancels what runs in its session. */
  cancels(method: string): boolean;
  /** The answer to a request that has not been passed on when its session is cancelled; undefined if that does not end it. */
  withdrawn(method: string): PassedAnswer | undefined;
}

/** A message that passes. */
export interface Frame {
  readonly kind: "request" | "notification" | "answer";
  /** The peer that sent it. */
  readonly from: Side;
  /** Of an answer, the method that it answers. */
  readonly method: string;
  /** The session that it names; of an answer, the one that its request named. */
  readonly session: string | undefined;
  readonly opens: Opens | undefined;
  /** The params; of an answer, those of its request as it was sent. */
  readonly params: unknown;
  /** Only of an answer. */
  readonly answer?: PassedAnswer;
  /** The message as it came; undefined if somebody changed it on the way. */
  readonly text: string | undefined;
  /** Of a request and of its answer: aborts when nobody waits for it any more. */
  readonly signal: AbortSignal | undefined;
  /** Of an answer: what was seen of its request. */
  readonly request?: Frame;
}

/** What happens to a message. Without an action it passes as it came. `afterwards` is called in the same step. */
export type FrameAction =
  | undefined
  /** Its params are replaced; of an answer, the answer. */
  | { readonly send: unknown; readonly afterwards?: () => void }
  /** A request goes no further and has this answer. */
  | { readonly answer: PassedAnswer; readonly afterwards?: () => void }
  /** A notification goes no further. A request is refused with the reason. */
  | { readonly drop: string }
  /** Decided later. Later messages of the same direction and session wait, except answers and cancels. */
  | { readonly hold: PromiseLike<FrameAction> }
  /** Decided later. Later messages do not wait. */
  | { readonly later: PromiseLike<FrameAction> };

/** An action that needs no waiting. */
export type ImmediateAction = Exclude<FrameAction, { readonly hold: unknown } | { readonly later: unknown }>;

export type Look = (frame: Frame) => FrameAction;
