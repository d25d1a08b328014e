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
