// What the loop needs of a language model, whoever makes it: a provider over the network, the offline rules, or
// a recording. Messages and events are plain data, so that a transcript can be stored and told to any model.

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** What the provider wants back with it, unread. */
  readonly signature?: string;
}

/** An image or a sound, base64. */
export interface MediaPart {
  readonly type: "image" | "audio";
  readonly mediaType: string;
  readonly data: string;
}

export interface ThinkingPart {
  readonly type: "thinking";
  /** Empty where the provider keeps it to itself and gives the signature only. */
  readonly text: string;
  /** What the provider wants back with it, unread. It names its model: to any other it is not sent. */
  readonly signature?: string;
}

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** As the model gave it, a string where that is no JSON; checked against the tool's schema before anything runs. */
  readonly input: unknown;
  /** What the provider wants back with it, unread. */
  readonly signature?: string;
}

export interface ToolOutcome {
  readonly callId: string;
  readonly name: string;
  readonly content: readonly (TextPart | MediaPart)[];
  readonly isError: boolean;
}

export type ModelMessage =
  | { readonly role: "user"; readonly content: readonly (TextPart | MediaPart)[] }
  | { readonly role: "assistant"; readonly content: readonly (TextPart | ThinkingPart | ToolCallPart)[] }
  /** Every call of the assistant before it has exactly one outcome, also one that was aborted. */
  | { readonly role: "tool"; readonly outcomes: readonly ToolOutcome[] };

/** A tool as a model is told of it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type Effort = "none" | "low" | "medium" | "high";

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  readonly effort: Effort;
  readonly maxTokens: number | undefined;
  readonly signal: AbortSignal;
  /** Told before every pause that a retry makes, so that the user is not left wondering. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** A pause before the next attempt. */
export interface Wait {
  readonly kind: ModelErrorKind;
  /** Why, in words. */
  readonly reason: string;
  readonly delayMs: number;
  /** The attempt that failed: 1 for the first. */
  readonly attempt: number;
}

/** Tokens of one request. */
export interface TokenUsage {
  /** All of the input, that from and into the cache included. */
  readonly input: number;
  /** All of the output, thinking included. */
  readonly output: number;
  readonly cachedInput?: number;
  /** Written into the cache, which some providers charge more for. */
  readonly cacheWrite?: number;
  readonly thinking?: number;
}

/** Why a model stopped. */
export type StopCause = "stop" | "tool_calls" | "length" | "refusal";

/**
 * What a model says, as it says it. The last one is `end`; a failure is thrown as ModelError. A signature closes the
 * text or thinking that it comes with (often in an event without text): what follows is another part. `assistantMessage`
 * makes the message of them.
 */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string; readonly signature?: string }
  | { readonly type: "thinking"; readonly text: string; readonly signature?: string }
  /** A piece of the JSON text of a call that is being written; the first may be empty. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  /** A whole call. Calls come right before `end`, so that none is ever taken from an answer that broke off. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      readonly signature?: string;
    }
  | { readonly type: "end"; readonly cause: StopCause; readonly usage: TokenUsage | undefined };

/** What is known of a model beforehand. */
export interface ModelFacts {
  /** `anthropic/claude-sonnet-5`, `offline`: what an option shows and a config file names. */
  readonly id: string;
  readonly name: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly takesImages: boolean;
  readonly takesAudio: boolean;
  readonly thinks: boolean;
  /** US dollars per million tokens, where known. */
  readonly price?: Price;
}

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: as other input. */
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  /** A request with more input than this costs so many times as much, all of it. */
  readonly long?: { readonly above: number; readonly input: number; readonly output: number };
}

export interface Model {
  readonly facts: ModelFacts;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

export const modelErrorKinds = [
  "auth",
  "rate_limit",
  "overflow",
  "refused",
  "unavailable",
  "cut_off",
  "bad_request",
  "aborted",
] as const;

export type ModelErrorKind = (typeof modelErrorKinds)[number];

/** A failure that the user is told in words. Retries have been made by then. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  /** Milliseconds, where the provider said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelError";
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}
