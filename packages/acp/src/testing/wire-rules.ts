// The rules by which a scripted agent or client changes its messages on the wire.

/** Text is sent unchanged, anything else as JSON. */
export type RawMessage = string | object;

export interface ScriptedError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Changes the answers to requests of one method; without `nth`, to all of them. */
export interface ReplyRule {
  readonly method: string;
  /** 1 for the first request of that method on a connection. */
  readonly nth?: number;
  /** Sent before and after the answer. */
  readonly before?: readonly RawMessage[];
  readonly after?: readonly RawMessage[];
  /** Answers with this, without the peer's own code. */
  readonly error?: ScriptedError;
  readonly result?: unknown;
  /** Merged into the result: objects by key, null removes, everything else replaces. */
  readonly patch?: object;
  /** Answers never, twice, without an id, or with the id as text. */
  readonly answer?: "never" | "twice" | "no-id" | "text-id";
}

/** Changes outgoing requests and notifications of one method. */
export interface SendRule {
  readonly method: string;
  /** 1 for the first one of that method on a connection. */
  readonly nth?: number;
  /** Merged into the params. */
  readonly patch: object;
}

/** Reacts to input instead of the peer's own code. */
export interface InputRule {
  /** A batch, a line that is not JSON, or a message with this text. */
  readonly when: "batch" | "broken" | { readonly contains: string };
  readonly write?: readonly RawMessage[];
  readonly crash?: Crash;
}

/** How a peer crashes. `half` is written first, without a line end. */
export interface Crash {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly half?: string;
}

/** The rules of one peer. */
export interface WireRules {
  /** Written first: banners, byte order marks, log lines. */
  readonly greeting?: readonly RawMessage[];
  readonly replies?: readonly ReplyRule[];
  readonly sends?: readonly SendRule[];
  readonly inputs?: readonly InputRule[];
}
