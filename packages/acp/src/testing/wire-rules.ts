// How a scripted peer bends what its own library would send: shared by agents and clients.

/** Text is written as it is, whatever it says; anything else as JSON. */
export type RawMessage = string | object;

export interface ScriptedError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What happens to requests of one method and to their answers. Without `nth` to all of them. */
export interface ReplyRule {
  readonly method: string;
  /** 1 for the first request of that method on a connection. */
  readonly nth?: number;
  /** Written in front of the answer and behind it. */
  readonly before?: readonly RawMessage[];
  readonly after?: readonly RawMessage[];
  /** Answered like this, and never seen by the peer's own code. */
  readonly error?: ScriptedError;
  readonly result?: unknown;
  /** The answer is merged with this: objects by key, null removes, everything else replaces. */
  readonly patch?: object;
  /** "never" answers, answers "twice", without its id ("no-id"), or with the id as text ("text-id"). */
  readonly answer?: "never" | "twice" | "no-id" | "text-id";
}

/** What is done to requests and notifications of one method on their way out. */
export interface SendRule {
  readonly method: string;
  /** 1 for the first one of that method on a connection. */
  readonly nth?: number;
  /** The params are merged with this. */
  readonly patch: object;
}

/** What is done when something comes in, in place of the peer's own answer to it. */
export interface InputRule {
  /** An array, a line that is no JSON, or a message whose text has this in it. */
  readonly when: "batch" | "broken" | { readonly contains: string };
  readonly write?: readonly RawMessage[];
  readonly crash?: Crash;
}

/** How a peer dies. `half` is written before, without the end of its line. */
export interface Crash {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly half?: string;
}

/** How the wire of one peer is bent. */
export interface WireRules {
  /** Written before anything else: banners, byte order marks, other people's prints. */
  readonly greeting?: readonly RawMessage[];
  readonly replies?: readonly ReplyRule[];
  readonly sends?: readonly SendRule[];
  readonly inputs?: readonly InputRule[];
}
