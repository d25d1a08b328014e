// The interfaces of a session and a prompt at the client, and of the context of a question.

import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../../model/content.ts";
import type { Entry } from "../../../model/entry.ts";
import type { PromptResult, SessionUpdate } from "../../../model/update.ts";

/**
 * Called with every value, in order. It must not be async: an async function would get the next value before it has
 * finished with this one. Anything else that it returns is ignored, as the number of `push`.
 *
 * @inline
 */
export type SessionListener<Value> = (
  value: Value,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement; `void` alone takes promises
) => undefined | void | null | boolean | number | string | (object & { readonly then?: never });

/** One session at the client: prompts go in, updates come out, in and outside turns. */
export interface ClientSession {
  /** The id. Keep it to load or resume the session later. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** The directories that the agent may work in, as absolute paths: `cwd`, then the additional ones. */
  readonly roots: readonly string[];
  /** The options that the agent offers, such as mode and model, with their values. `setConfigOption` changes one. */
  readonly configOptions: readonly SessionConfigOption[];
  /** The slash commands that the agent offers. Send one as the text of a prompt: "/name input". */
  readonly availableCommands: readonly AvailableCommand[];
  /** "idle", "running", "requires_action" while the agent waits for an answer, or another state. Only "idle" is not busy. */
  readonly state: string;
  /** Custom data of the answer that opened the session. */
  readonly _meta: Meta | undefined;
  /** Whatever your app wants to keep with the session. The library does not use it. */
  data: unknown;
  /**
   * Calls the listener for every update of the session, in order. The first listener also gets the updates from before, at
   * most 1,024. A listener must not be async. Returns a function that removes it.
   *
   * @throws {TypeError} When the listener is no function, or is registered already.
   */
  onUpdate(listener: SessionListener<SessionUpdate>): () => void;
  /**
   * Calls the listener for everything that happens, in order: prompts, updates, questions, answers and results. A view or a
   * history needs them all. `seq` counts from 1 for this object. Otherwise the same as `onUpdate`.
   */
  onEntry(listener: SessionListener<Entry>): () => void;
  /**
   * Sends a prompt. `await` gives its result; `for await` gives the updates until then. A second prompt may be sent while
   * one is open: v1 agents get it after the first has ended, v2 agents at once.
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
   * Cancels everything that the agent does in this session. Open prompts and questions end as cancelled, and open tool
   * calls are shown as cancelled at once. Updates that come later are still delivered.
   */
  cancel(): void;
  /**
   * Cancels one tool call; its end arrives as an update. Only v2 agents can, and only for calls that say so
   * (`capabilities.cancel`).
   *
   * @throws {TypeError} When the call cannot be cancelled alone (as a rejection).
   */
  cancelToolCall(toolCallId: string): Promise<void>;
  /**
   * Cancels one terminal that the agent shows; its end arrives as an update. Only v2 agents can, and only for terminals
   * that say so (`capabilities.cancel`).
   *
   * @throws {TypeError} When the terminal cannot be cancelled (as a rejection).
   */
  cancelTerminal(terminalId: string): Promise<void>;
  /**
   * Sets an option of the session. Resolves when the agent has taken the value.
   *
   * @throws {TypeError} When the session has no such option (as a rejection).
   */
  setConfigOption(configId: string, value: string | boolean): Promise<void>;
  /**
   * Sets the mode: a shorter form of `setConfigOption` for the option of category "mode".
   *
   * @throws {TypeError} When the session has no modes (as a rejection).
   */
  setMode(modeId: string): Promise<void>;
  /** Cancels the work of the session and closes it at the agent, which keeps what it has stored. Nothing can be sent then. */
  close(): Promise<void>;
}

/** How a prompt is sent. */
export interface PromptOptions {
  /** Cancels this prompt when it aborts. Its result is then "cancelled"; nothing rejects. */
  readonly signal?: AbortSignal;
  /** Custom data of the request. */
  readonly _meta?: Meta;
}

/**
 * A prompt that was sent. `await prompt` gives its result. `for await (const update of prompt)` gives the updates of the
 * session while the prompt is open; one loop per prompt. For both, iterate first, then await.
 */
export interface Prompt extends PromiseLike<PromptResult>, AsyncIterable<SessionUpdate> {
  /** Resolves with the id of the message when the agent has accepted it. Rejects when it never does. */
  readonly accepted: Promise<string>;
  /**
   * The result of the prompt. "cancelled" is a result, and so is an error that the agent reports: stop reason "error".
   * Rejects with a ConnectionError when there is no answer, because the agent crashed or the connection ended.
   */
  readonly result: Promise<PromptResult>;
  /**
   * Reads the prompt to its end and gives the text of the agent's answer; a line break stands between two messages.
   * Rejects when `result` does, and when more waits than a loop may leave unread.
   *
   * @throws {TypeError} When a loop or `text` reads the prompt already, and after the prompt was awaited.
   *
   * @example
   * import type { ClientSession } from "@parley/acp";
   *
   * export async function ask(session: ClientSession, question: string): Promise<string> {
   *   return await session.prompt(question).text();
   * }
   */
  text(): Promise<string>;
  /** Cancels the work on this prompt, or withdraws it while it waits. Its result is then "cancelled". */
  cancel(): void;
  /**
   * The updates of the session while this prompt is open. Ends when the prompt has its result.
   *
   * @throws {ConnectionError} Of kind "overflow", when the loop falls too far behind (`maxUnreadUpdates`, `maxUnreadChars`).
   * @throws {TypeError} For a second loop, and for one that begins after the prompt was awaited.
   */
  [Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void>;
}

/** Where a question of the agent comes from, and when it is over. */
export interface RequestContext {
  /** The session that the question belongs to; undefined when it belongs to none. */
  readonly session: ClientSession | undefined;
  /** The id of the client's own request that a form or an address belongs to, where it belongs to no session. */
  readonly requestId?: number | string;
  /** Aborts when the user cancels, the agent withdraws the question, or the connection ends: close the dialog then. */
  readonly signal: AbortSignal;
}
