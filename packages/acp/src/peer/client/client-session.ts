// The interfaces of a session and a prompt at the client.

import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import type { Outcome, Update } from "../../model/update.ts";

/** One session at the client: the source of everything that happens in it, in and outside turns. */
export interface ClientSession {
  readonly sessionId: string;
  /** The first of the roots. */
  readonly cwd: string;
  /** The directories that the agent was given: the working directory first. */
  readonly roots: readonly string[];
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  /** "idle", "running", "requires_action", or what else the agent says; anything but "idle" is busy. */
  readonly state: string;
  /** `_meta` of the answer that opened it. */
  readonly meta: Meta | undefined;
  /** Yours. */
  data: unknown;
  /** Sees every update, in order. What came before the first listener is kept for it, within bounds. */
  onUpdate(listener: (update: Update) => void): () => void;
  /**
   * The same as records for a view or a history: prompts, updates, questions, answers, outcomes. `seq` counts from 1
   * for as long as this object lives, whoever listens.
   */
  onEntry(listener: (entry: Entry) => void): () => void;
  /**
   * Sends a prompt. On version 1 prompts wait for one another here, whatever the agent would do with two. Throws a
   * TypeError for content that the agent does not take, and for none.
   */
  prompt(content: string | readonly ContentBlock[], options?: { readonly meta?: Meta }): Prompt;
  /**
   * Ends what the agent is doing. Open prompts and questions end as cancelled, open tool calls are shown as cancelled
   * at once; late updates are still shown.
   */
  cancel(): void;
  /** Ends one tool call, where the agent offers it for that call; its end arrives as an update. */
  cancelToolCall(toolCallId: string): Promise<void>;
  /** The same for a terminal that the agent shows. */
  cancelTerminal(terminalId: string): Promise<void>;
  /** Chooses a value of an option. */
  setOption(configId: string, value: string | boolean): Promise<void>;
  /** Chooses a mode by its id. */
  setMode(mode: string): Promise<void>;
  close(): Promise<void>;
}

/** A prompt on its way, as its sender sees it. */
export interface Prompt extends AsyncIterable<Update> {
  /** The id of the message, once it is part of the conversation. Rejects when it never will be. */
  readonly accepted: Promise<string>;
  /**
   * How the work ended. A cancel is an outcome, and so is an error that the agent reports, with stop reason "error".
   * Rejects only when there is no answer: the agent has died or the connection has ended.
   */
  readonly outcome: Promise<Outcome>;
  /** Ends the work on this prompt, or withdraws it while it waits. Its outcome is "cancelled". */
  cancel(): void;
  /**
   * Everything that happens in the session while this prompt is open. Ends with its outcome. A loop that falls too far
   * behind (`maxUnreadUpdates`, `maxUnreadChars`) fails with "overflow" instead of leaving something out.
   */
  [Symbol.asyncIterator](): AsyncGenerator<Update, void>;
}
