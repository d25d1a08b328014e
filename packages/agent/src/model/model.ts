// Defines the interface between the agent's loop and a language model, and its messages and events.

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** Opaque data to send back to the provider. */
  readonly signature?: string;
}

/** An image or audio, base64. */
export interface MediaPart {
  readonly type: "image" | "audio";
  readonly mediaType: string;
  readonly data: string;
}

export interface ThinkingPart {
  readonly type: "thinking";
  /** Empty when the provider gives only the signature. */
  readonly text: string;
  /** Opaque data to send back to the provider. It names its model and is never sent to another one. */
  readonly signature?: string;
}

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** As the model wrote it (a string if it is not JSON); checked against the tool's schema before the tool runs. */
  readonly input: unknown;
  /** Opaque data to send back to the provider. */
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
  /** Every call of the preceding assistant message has exactly one outcome, aborted calls included. */
  | { readonly role: "tool"; readonly outcomes: readonly ToolOutcome[] };

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
  /** Called before every pause that a retry makes. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

export interface Wait {
  readonly kind: ModelErrorKind;
  /** The reason, for the user. */
  readonly reason: string;
  readonly delayMs: number;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
}

export interface TokenUsage {
  /** All input tokens, including cache reads and writes. */
  readonly input: number;
  /** All output tokens, including thinking. */
  readonly output: number;
  readonly cachedInput?: number;
  /** Tokens written to the cache; some providers charge more for them. */
  readonly cacheWrite?: number;
  readonly thinking?: number;
}

export type StopCause = "stop" | "tool_calls" | "length" | "refusal";

/**
 * The stream of a model's answer. The last event is `end`; a failure is thrown as ModelError. A signature ends the text or
 * thinking that it comes with (often in an event without text). `assistantMessage` builds the message from the events.
 */
export type ModelEvent =
  | TextPart
  | ThinkingPart
  /** A complete call. Calls come right before `end`, so that no call of an interrupted answer runs. */
  | ToolCallPart
  /** A piece of the JSON arguments of a call; the first may be empty. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  | { readonly type: "end"; readonly cause: StopCause; readonly usage: TokenUsage | undefined };

export interface ModelFacts {
  /** `anthropic/claude-sonnet-5` or `offline`: the id in options and config files. */
  readonly id: string;
  readonly name: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly takesImages: boolean;
  readonly takesAudio: boolean;
  readonly thinks: boolean;
  readonly price?: Price;
}

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: the input price. */
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  /** Multipliers for a whole request with more input tokens than `above`. */
  readonly long?: { readonly above: number; readonly input: number; readonly output: number };
}

export interface Model {
  readonly facts: ModelFacts;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** What went wrong with a model. */
export type ModelErrorKind =
  | "auth"
  | "rate_limit"
  | "overflow"
  | "refused"
  | "unavailable"
  | "cut_off"
  | "bad_request"
  | "aborted";

/** A failure to show to the user, thrown after all retries. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  /** Set when the provider named a delay. */
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
