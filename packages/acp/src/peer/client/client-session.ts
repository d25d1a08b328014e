// The interfaces of a session and a prompt at the client.

import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import type { PromptResult, SessionUpdate } from "../../model/update.ts";

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
  /** Called for every update, in order. Earlier updates are kept for the first listener, within bounds. */
  onUpdate(listener: (update: SessionUpdate) => void): () => void;
  /**
   * Called for every entry, as a view or a history needs them: prompts, updates, questions, answers, outcomes. `seq`
   * counts from 1 for the lifetime of this object.
   */
  onEntry(listener: (entry: Entry) => void): () => void;
  /**
   * Sends a prompt. On version 1 prompts wait for one another here. Throws a TypeError for content that the agent does not
   * support, and for an empty prompt.
   */
  prompt(content: string | readonly ContentBlock[], options?: { readonly _meta?: Meta }): Prompt;
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
  setMode(mode: string): Promise<void>;
  close(): Promise<void>;
}

/** An open prompt. */
export interface Prompt extends AsyncIterable<SessionUpdate> {
  /** The id of the message, once the agent has accepted it. Rejects when it never does. */
  readonly accepted: Promise<string>;
  /**
   * The result of the prompt. A cancel is an outcome, and so is an error that the agent reports, with stop reason "error".
   * Rejects only when there is no answer: the agent crashed or the connection ended.
   */
  readonly result: Promise<PromptResult>;
  /** Cancels the work on this prompt, or withdraws it while it waits. Its outcome is "cancelled". */
  cancel(): void;
  /**
   * All updates of the session while this prompt is open. Ends with the outcome. A loop that falls too far behind
   * (`maxUnreadUpdates`, `maxUnreadChars`) fails with "overflow" instead of skipping updates.
   */
  [Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void>;
}
