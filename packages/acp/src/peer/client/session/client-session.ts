// The interfaces of a session and a prompt at the client, and of the context of a question.

import type { NoPromise } from "../../../base/no-promise.ts";
import type { ConnectionError } from "../../../jsonrpc/errors.ts";
import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../../model/content.ts";
import type { JsonValue } from "../../../model/custom-types.ts";
import type { Entry } from "../../../model/entry.ts";
import type { PromptResult, SessionUpdate } from "../../../model/update.ts";

/**
 * Called with every value, in order. It must not be async: an async function would get the next value before it has
 * finished with this one. Anything else that it returns is ignored, as the number of `push`.
 */
export type SessionListener<Value> = (value: Value) => NoPromise;

/**
 * The custom data of a request.
 *
 * @inline
 */
export interface MetaOptions {
  /** Custom data of the request. */
  readonly _meta?: Meta | undefined;
}

/**
 * The signal and the custom data of one request.
 */
export interface CallOptions extends MetaOptions {
  /** Aborting it cancels the request; the call rejects with ConnectionError "aborted". */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names the call in snapshots of the connection, for `pending(key)` of the restored connection. No other open call may
   * have the same. Without a key, nobody gets the answer there.
   */
  readonly key?: string | undefined;
}

/**
 * The answer to a request that has no other result.
 */
export interface CallResult {
  /** Custom data of the answer. */
  readonly _meta?: Meta;
}

/**
 * A title that was set.
 *
 * @inline
 */
export interface TitleResult extends CallResult {
  /** The title that the agent has stored. */
  readonly title: string;
}

/**
 * What the agent does: nothing; work; it waits for an answer of the user; or it does not say. Custom states begin with `_`.
 */
export type SessionState = "idle" | "running" | "requires_action" | "unknown" | `_${string}`;

/**
 * Why a session ended. "closed": this client closed, deleted or archived it. "taken": another client has taken it over.
 * "disconnected": the connection ended; `error` says why.
 */
export type SessionEnd =
  | { readonly reason: "closed" }
  | { readonly reason: "taken" | "disconnected"; readonly error: ConnectionError };

/** One session of a client. It sends prompts, and receives updates inside and outside turns. */
export interface ClientSession {
  /** The id of the session. Keep it to load or resume the session later. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** The directories that the agent may work in, as absolute paths: `cwd`, then the additional ones. */
  readonly roots: readonly string[];
  /** The options that the agent offers, such as mode and model, with their values. `setConfigOption` changes one. */
  readonly configOptions: readonly SessionConfigOption[];
  /** The slash commands that the agent offers. Send one as the text of a prompt: "/name input". */
  readonly availableCommands: readonly AvailableCommand[];
  /** What the agent does. Every state but "idle" means busy. */
  readonly state: SessionState;
  /** The open prompts, oldest first: those at the agent and those that wait. A restored connection has handles of its own. */
  readonly prompts: readonly Prompt[];
  /**
   * Resolves when the session has ended for this client, with the reason; never rejects. `load` or `resume` opens the
   * session again.
   *
   * @example
   * import type { ClientSession } from "@parley/acp";
   *
   * export async function watch(session: ClientSession): Promise<void> {
   *   const end = await session.closed;
   *   if (end.reason === "taken") console.error("another client has taken the session");
   *   else if (end.reason === "disconnected") console.error(end.error.message);
   * }
   */
  readonly closed: Promise<SessionEnd>;
  /** Custom data of the answer that opened the session. */
  readonly _meta: Meta | undefined;
  /** Data of your application. The library does not use it. */
  data: unknown;
  /**
   * Calls the listener for every update of the session, in order. The first listener also gets earlier updates, at most
   * 1,024. A listener must not be async. Returns a function that removes the listener.
   *
   * @throws {TypeError} When the listener is not a function, or is already registered.
   */
  onUpdate(listener: SessionListener<SessionUpdate>): () => void;
  /**
   * Calls the listener for every entry, in order: prompts, updates, questions, answers and results. A view or a history
   * needs all of them. `seq` counts from 1 for this object. Otherwise the same as `onUpdate`.
   */
  onEntry(listener: SessionListener<Entry>): () => void;
  /**
   * Sends a prompt. `await` waits for its result; `for await` yields the updates until then. You may send a second prompt
   * while one is open: v1 agents get it after the first has ended, v2 agents at once.
   *
   * @throws {TypeError} When the prompt is empty, or has content that the agent does not support.
   * @throws {ConnectionError} When the session is closed.
   * @example
   * import { type ClientSession, textOf } from "@parley/acp";
   *
   * export async function ask(session: ClientSession, question: string): Promise<string> {
   *   const prompt = session.prompt(question);
   *   let answer = "";
   *   for await (const update of prompt) {
   *     if (update.sessionUpdate === "agent_message_chunk") answer += textOf(update.content);
   *   }
   *   const { stopReason, error } = await prompt;
   *   if (stopReason !== "end_turn") throw new Error(error?.message ?? `stopped: ${stopReason}`);
   *   return answer;
   * }
   */
  prompt(content: string | readonly ContentBlock[], options?: PromptOptions): Prompt;
  /**
   * Sends a message to the work that is running, without waiting for its end. If nothing runs it is a prompt. A message
   * that joins the work gets its result, with `joined`. The agent decides: a v2 agent may also make it the next turn, and
   * a v1 agent may begin other work with it, whose end it does not report (stop reason "_detached"). Needs
   * `capabilities.steer`.
   *
   * @throws {TypeError} When the agent takes no messages while it works, and for what `prompt` refuses.
   * @throws {ConnectionError} When the session is closed.
   * @example
   * import type { ClientSession } from "@parley/acp";
   *
   * export async function fix(session: ClientSession): Promise<void> {
   *   const prompt = session.prompt("Fix all failing tests");
   *   await session.steer("Leave the slow ones out").accepted;
   *   console.log((await prompt).stopReason);
   * }
   */
  steer(content: string | readonly ContentBlock[], options?: PromptOptions): Prompt;
  /**
   * Cancels everything that the agent does in this session. Open prompts and questions end as cancelled, and open tool
   * calls are shown as cancelled at once. Later updates are still delivered.
   */
  cancel(options?: MetaOptions): void;
  /**
   * Cancels one tool call; its end arrives as an update. Only v2 agents support this, and only for calls with
   * `capabilities.cancel`.
   *
   * @throws {TypeError} When the call cannot be cancelled alone (as a rejection).
   */
  cancelToolCall(toolCallId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Cancels one terminal that the agent shows; its end arrives as an update. Only v2 agents support this, and only for
   * terminals with `capabilities.cancel`.
   *
   * @throws {TypeError} When the terminal cannot be cancelled (as a rejection).
   */
  cancelTerminal(terminalId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Sets an option of the session: to one of the values of a choice, to true or false, or, for an option of type `_json`,
   * to any JSON value. Resolves when the agent has accepted the value.
   *
   * @throws {TypeError} When the session has no such option (as a rejection).
   */
  setConfigOption(configId: string, value: JsonValue, options?: CallOptions): Promise<CallResult>;
  /**
   * Sets the mode: a shorter form of `setConfigOption` for the option of category "mode".
   *
   * @throws {TypeError} When the session has no modes (as a rejection).
   */
  setMode(modeId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Sets the title. Resolves with the `title` that the agent has stored; it arrives as a `session_info_update` too. Needs
   * `capabilities.setTitle` and the unstable feature "session_title".
   *
   * @throws {TypeError} When the agent does not offer it (as a rejection).
   * @experimental
   */
  setTitle(title: string, options?: CallOptions): Promise<TitleResult>;
  /**
   * Cancels the work of the session and closes it at the agent, which keeps the stored data. Afterwards nothing can be sent. A
   * signal that aborts ends the wait only.
   */
  close(options?: CallOptions): Promise<CallResult>;
  /** The same as `close`, for `await using`. Does nothing if the session has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The methods of a session, which also work without it, as after `const { prompt } = session`. */
export const clientSessionMethods = [
  "onUpdate",
  "onEntry",
  "prompt",
  "steer",
  "cancel",
  "cancelToolCall",
  "cancelTerminal",
  "setConfigOption",
  "setMode",
  "setTitle",
  "close",
] as const satisfies readonly (keyof ClientSession)[];

/** Options of a prompt. */
export interface PromptOptions extends MetaOptions {
  /** Aborting it cancels the prompt. Its result is then "cancelled"; nothing rejects. */
  readonly signal?: AbortSignal | undefined;
  /** Names the prompt in snapshots of the connection. No other open call may have the same. Default: it has no name. */
  readonly key?: string | undefined;
}

/**
 * A prompt that was sent. `await prompt` waits for its result. `for await (const update of prompt)` yields the updates of
 * the session while the prompt is open; one loop per prompt. To do both, iterate first, then await. Updates that a v1 agent
 * sends after its answer reach `session.onUpdate` only, not the loop and not `text()`.
 */
export interface Prompt extends PromiseLike<PromptResult>, AsyncIterable<SessionUpdate> {
  /** The `key` that it was sent with. */
  readonly key?: string | undefined;
  /** Handles a failure, as `catch` of a promise. */
  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<PromptResult | Rejected>;
  /** Calls the function when the prompt has its result or has failed, as `finally` of a promise. */
  finally(onFinally?: (() => void) | null): Promise<PromptResult>;
  /** Resolves with the id of the message when the agent has accepted it. Rejects if it never does. */
  readonly accepted: Promise<string>;
  /**
   * The result of the prompt. "cancelled" is a result, and so is an error that the agent reports: stop reason "error".
   * Rejects with a ConnectionError if there is no answer, because the agent crashed or the connection ended.
   */
  readonly result: Promise<PromptResult>;
  /**
   * Reads the prompt to its end and returns the text of the agent's answer, with a line break between messages. Rejects
   * when `result` does, and when too many updates are unread (`maxUnreadUpdates`, `maxUnreadChars`).
   *
   * @throws {TypeError} When a loop or `text` already reads the prompt, or the prompt was awaited before.
   *
   * @example
   * import type { ClientSession } from "@parley/acp";
   *
   * export async function ask(session: ClientSession, question: string): Promise<string> {
   *   return await session.prompt(question).text();
   * }
   */
  text(): Promise<string>;
  /** Cancels the work on this prompt, or withdraws it if it is queued. Its result is then "cancelled". */
  cancel(): void;
  /**
   * The updates of the session while this prompt is open. Ends when the prompt has its result.
   *
   * @throws {ConnectionError} Of kind "overflow", when the loop falls too far behind (`maxUnreadUpdates`, `maxUnreadChars`).
   * @throws {TypeError} For a second loop, and for one that begins after the prompt was awaited.
   */
  [Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void>;
}

/** The session and the signal of a question. */
export interface RequestContext {
  /** The session that the question belongs to; undefined if it belongs to none. */
  readonly session: ClientSession | undefined;
  /** The id of the client's own request that a form or URL belongs to, if it belongs to no session. */
  readonly requestId?: number | string;
  /** Aborts when the user cancels, the agent withdraws the question, or the connection ends. Close the dialog then. */
  readonly signal: AbortSignal;
}
