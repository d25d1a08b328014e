// The interfaces of a session and a prompt at the client, and of the context of a question.

import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../../model/content.ts";
import type { Entry } from "../../../model/entry.ts";
import type { PromptResult, SessionUpdate } from "../../../model/update.ts";

/**
 * Called in order with everything that happens. It returns no promise: an async function would get the next value before
 * it has finished with this one.
 *
 * @inline
 */
export type SessionListener<Value> = (value: Value) => NoPromise;

/** What a listener returns is ignored, so anything but a promise will do, as the number that `push` returns. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement; `void` alone takes promises
type NoPromise = undefined | void | null | boolean | number | string | (object & { readonly then?: never });

/** One session at the client: the source of its events, in and outside turns. */
export interface ClientSession {
  readonly sessionId: string;
  /** The first of the roots. */
  readonly cwd: string;
  /** The directories that the agent was given: the working directory first. */
  readonly roots: readonly string[];
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
  /** "idle", "running", "requires_action", or another state of the agent; anything but "idle" is busy. */
  readonly state: string;
  /** `_meta` of the answer that opened it. */
  readonly _meta: Meta | undefined;
  /** For the app. */
  data: unknown;
  /**
   * Calls the listener for every update, in order. Earlier updates are kept for the first listener, within bounds. Returns
   * a function that removes it. Throws a TypeError for a listener that is registered already.
   */
  onUpdate(listener: SessionListener<SessionUpdate>): () => void;
  /**
   * The same for every entry, as a view or a history needs them: prompts, updates, questions, answers, results. `seq`
   * counts from 1 for the lifetime of this object.
   */
  onEntry(listener: SessionListener<Entry>): () => void;
  /**
   * Sends a prompt. Await it for its result, or iterate it for the updates until then. On v1 prompts wait for one another
   * here. Throws a TypeError for an empty prompt and for content that the agent does not support, and a ConnectionError
   * after `close`.
   */
  prompt(content: string | readonly ContentBlock[], options?: PromptOptions): Prompt;
  /**
   * Cancels the work of the agent. Open prompts and questions end as cancelled, open tool calls are shown as cancelled at
   * once; later updates are still delivered.
   */
  cancel(): void;
  /** Cancels one tool call, where the agent supports that for the call; its end arrives as an update. */
  cancelToolCall(toolCallId: string): Promise<void>;
  /** Cancels one terminal that the agent shows. */
  cancelTerminal(terminalId: string): Promise<void>;
  /** Sets an option. */
  setConfigOption(configId: string, value: string | boolean): Promise<void>;
  /** Sets the mode by its id. */
  setMode(modeId: string): Promise<void>;
  /** Closes the session at the agent. Afterwards nothing can be sent for it. */
  close(): Promise<void>;
}

export interface PromptOptions {
  /** Cancels this prompt when it aborts. */
  readonly signal?: AbortSignal;
  readonly _meta?: Meta;
}

/**
 * An open prompt. `await prompt` gives its result, and then no updates are kept for a loop. `for await (const update of
 * prompt)` gives the updates of the session while the prompt is open, once.
 */
export interface Prompt extends PromiseLike<PromptResult>, AsyncIterable<SessionUpdate> {
  /** The id of the message, once the agent has accepted it. Rejects when it never does. */
  readonly accepted: Promise<string>;
  /**
   * The result of the prompt. A cancel is a result, and so is an error that the agent reports, with stop reason "error".
   * Rejects only when there is no answer: the agent crashed or the connection ended.
   */
  readonly result: Promise<PromptResult>;
  /**
   * Reads the prompt to its end and gives the text of the agent's answer; a line break stands between two messages.
   * Rejects when `result` does. Throws a TypeError when the updates of the prompt are read already.
   */
  text(): Promise<string>;
  /** Cancels the work on this prompt, or withdraws it while it waits. Its result is "cancelled". */
  cancel(): void;
  /**
   * All updates of the session while this prompt is open. Ends with the result. A loop that falls too far behind
   * (`maxUnreadUpdates`, `maxUnreadChars`) fails with "overflow" instead of skipping updates. Throws a TypeError for a
   * second loop, and for one that begins after the prompt was awaited.
   */
  [Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void>;
}

/** The context of a question. */
export interface RequestContext {
  /** Undefined when the question belongs to no session. */
  readonly session: ClientSession | undefined;
  /** Our request that the form or address belongs to, where it belongs to no session. */
  readonly requestId?: number | string;
  /** Aborts when the user cancels, the agent withdraws the question, or the connection ends. */
  readonly signal: AbortSignal;
}
