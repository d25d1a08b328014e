// Defines the interface between the agent's loop and a language model, and its messages and events.

/** A piece of text. */
export interface TextPart {
  /** Always "text". */
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** Opaque data to send back to the provider. */
  readonly signature?: string;
}

/** An image, a sound or a document. */
export interface MediaPart {
  /** The kind of media. A document is a PDF file. */
  readonly type: "image" | "audio" | "document";
  /** The media type, such as "image/png". */
  readonly mediaType: string;
  /** The content in base64. */
  readonly data: string;
  /** The address or name of the file, if it has one. */
  readonly name?: string;
}

/** A piece of the model's thinking. */
export interface ThinkingPart {
  /** Always "thinking". */
  readonly type: "thinking";
  /** Empty when the provider gives only the signature. */
  readonly text: string;
  /** Opaque data to send back to the provider. It names its model and is never sent to another one. */
  readonly signature?: string;
}

/** A call of a tool by the model. */
export interface ToolCallPart {
  /** Always "tool_call". */
  readonly type: "tool_call";
  /** The id that the outcome refers to. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /**
   * The arguments as the model wrote them (a string if they are not JSON). They are checked against the tool's schema
   * before the tool runs.
   */
  readonly input: unknown;
  /** Opaque data to send back to the provider. */
  readonly signature?: string;
}

/** The outcome of a tool call, for the model. */
export interface ToolOutcome {
  /** The `id` of the call. */
  readonly callId: string;
  /** The name of the tool. */
  readonly name: string;
  /** The result, or the error message. */
  readonly content: readonly (TextPart | MediaPart)[];
  /** Whether the call failed. */
  readonly isError: boolean;
}

/** A message of the conversation with a model. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: readonly (TextPart | MediaPart)[] }
  | { readonly role: "assistant"; readonly content: readonly (TextPart | ThinkingPart | ToolCallPart)[] }
  /** Every call of the preceding assistant message has exactly one outcome, aborted calls included. */
  | { readonly role: "tool"; readonly outcomes: readonly ToolOutcome[] };

/** A tool as the model sees it. */
export interface ToolDescription {
  /** The name, unique among the tools of an agent. */
  readonly name: string;
  /** When and how to use it, written for the model. */
  readonly description: string;
  /** The JSON Schema of its arguments, which are an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** How much a model thinks before it answers. Few models have all levels. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** A request for the next answer of a model. */
export interface ModelRequest {
  /** The system prompt. */
  readonly system: string;
  /** The conversation so far, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** The tools that the model may call. */
  readonly tools: readonly ToolDescription[];
  /** How much to think. A model without this level takes the next one; a model without `efforts` ignores it. */
  readonly effort: Effort;
  /** The maximum number of output tokens. Undefined: the provider's default. */
  readonly maxTokens: number | undefined;
  /** The same for all requests of a conversation, so that a provider finds it in its cache. */
  readonly cacheKey?: string | undefined;
  /** Aborts the request. The stream then throws ModelError "aborted". */
  readonly signal: AbortSignal;
  /** Called before each pause of a retry. */
  readonly onWait?: ((wait: ModelWait) => void) | undefined;
}

/** A pause before a request is repeated. */
export interface ModelWait {
  /** The kind of the failure. */
  readonly kind: ModelErrorKind;
  /** The failure in words, for the user. */
  readonly reason: string;
  /** The length of the pause, in milliseconds. */
  readonly delayMs: number;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  /** The number of attempts after which the failure is final. */
  readonly attempts: number;
}

/** The number of tokens of one request. */
export interface TokenUsage {
  /** All input tokens, including cache reads and writes. */
  readonly input: number;
  /** All output tokens, including thinking. */
  readonly output: number;
  /** Input tokens that were read from the cache. */
  readonly cachedInput?: number;
  /** Input tokens that were written to the cache. Some providers charge more for them. */
  readonly cacheWrite?: number;
  /** Output tokens that were spent on thinking. */
  readonly thinking?: number;
}

/** Why a model stopped. "stop": it is done. "length": it has reached the token limit. */
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
  /**
   * The stream broke off, and the model is asked again. What it was writing is void; whole blocks before it stay, and the
   * events that follow continue them. `isAfterBlock`: it broke off between two blocks, so the last text is whole too.
   */
  | { readonly type: "interrupted"; readonly reason: string; readonly isAfterBlock: boolean }
  | { readonly type: "end"; readonly cause: StopCause; readonly usage: TokenUsage | undefined };

/** The facts about a model. */
export interface ModelFacts {
  /** The id in options and config files, such as `anthropic/claude-sonnet-5` or `offline`. */
  readonly id: string;
  /** The name to show. */
  readonly name: string;
  /** The size of its context window, in tokens. */
  readonly contextWindow: number;
  /** The most tokens of one answer, thinking included. Default: what the provider allows. */
  readonly maxOutput?: number;
  /** Whether messages may contain images. */
  readonly takesImages: boolean;
  /** Whether messages may contain audio. */
  readonly takesAudio: boolean;
  /** Whether messages may contain documents: PDF files. Default false. */
  readonly takesDocuments?: boolean;
  /** The efforts that it can be asked for, lowest first. Default: none, for a model without a choice. */
  readonly efforts?: readonly Effort[];
  /** Its price, to report costs. Default: no costs are reported. */
  readonly price?: Price;
}

/** Prices in US dollars per million tokens. */
export interface Price {
  /** Input tokens. */
  readonly input: number;
  /** Output tokens. */
  readonly output: number;
  /** Input tokens that are read from the cache. Default: `input`. */
  readonly cachedInput?: number;
  /** Input tokens that are written to the cache. Default: `input`. */
  readonly cacheWrite?: number;
  /** Multipliers for a whole request with more input tokens than `above`. */
  readonly long?: { readonly above: number; readonly input: number; readonly output: number };
}

/** A language model. Implement it to use one of your own. */
export interface Model {
  /** The model's id, name and abilities. */
  readonly facts: ModelFacts;
  /** Streams one answer. The last event is `end`; failures are thrown as ModelError. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/**
 * The cause of a ModelError. `auth`: no key, or a wrong one. `rate_limit`: too many requests, or no credit. `overflow`: the
 * conversation exceeds the context window. `refused`: the provider rejects the content. `unavailable`: the provider fails or
 * cannot be reached. `cut_off`: the answer ended early. `bad_request`: the provider does not accept the request. `aborted`:
 * the signal was aborted.
 */
export type ModelErrorKind =
  | "auth"
  | "rate_limit"
  | "overflow"
  | "refused"
  | "unavailable"
  | "cut_off"
  | "bad_request"
  | "aborted";

/** A failure of a model to show to the user, thrown after all retries. */
export class ModelError extends Error {
  /** The cause. */
  readonly kind: ModelErrorKind;
  /** The delay that the provider asks for, in milliseconds. */
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
