// One session at the agent: its face, its history, and its prompts, one turn at a time.

import { withTimeout } from "../../base/timeout.ts";
import type { AgentSessionEdition } from "../../edition/agent-edition.ts";
import type { Activation, ClientFeatures } from "../../edition/agent-ops.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  McpServer,
  SessionConfigOption,
  StateUpdate,
  SystemPrompt,
} from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import type { Outcome, Update } from "../../model/update.ts";
import { newId } from "../base/new-id.ts";
import type { TurnEnd } from "./agent-definition.ts";
import type { AgentLink } from "./agent-link.ts";
import { DisplayTerminal, type DisplayTerminalOptions } from "./display-terminal.ts";
import { PromptQueue, type PromptTicket } from "./prompt-queue.ts";
import { Questions } from "./questions.ts";
import { checkCommands, checkOptions } from "./said-rules.ts";
import type { SessionLog } from "./session-log.ts";
import { type Release, SessionOutput } from "./session-output.ts";
import { SessionParts } from "./session-parts.ts";
import { checkTool, runTool, ToolCall, type ToolCallStart } from "./tool-call.ts";
import type { Turn } from "./turn.ts";

/** What is said of a session as a whole. */
export type SessionState = Extract<StateUpdate, { state: "idle" | "running" | "requires_action" }>;

/** How long closing a session waits: for its turn, and for its store. */
const closeGraceMs = 5_000;

export class AgentSession {
  readonly sessionId: string;
  /** Yours: whatever you want to keep with the session while it lives. */
  data: unknown;
  /** @internal */ readonly link: AgentLink;
  /** @internal */ readonly log: SessionLog;
  /** @internal What it has announced and not ended. */ readonly parts = new SessionParts();
  readonly #output: SessionOutput;
  readonly #prompts = new PromptQueue(this);
  #activation: Activation;
  #state: SessionState = { state: "idle" };
  #options: readonly SessionConfigOption[] = [];
  #commands: readonly AvailableCommand[] = [];
  #closed = false;
  /** Aborts with the session: what runs beside the conversation ends then. */
  readonly #ending = new AbortController();
  readonly #background = new Set<Promise<unknown>>();
  #idPrefix: string | undefined;
  #ids = 0;

  /** @internal */
  constructor(
    sessionId: string,
    activation: Activation,
    parts: {
      readonly link: AgentLink;
      readonly log: SessionLog;
      readonly edition: () => AgentSessionEdition;
    },
  ) {
    this.sessionId = sessionId;
    this.#activation = activation;
    this.link = parts.link;
    this.log = parts.log;
    this.#output = new SessionOutput(parts.link, sessionId, parts.edition);
  }

  get cwd(): string {
    return this.#activation.cwd;
  }

  /** The directories that the client allows: the working directory first. */
  get roots(): readonly string[] {
    return [this.#activation.cwd, ...this.#activation.additionalDirectories];
  }

  get mcpServers(): readonly McpServer[] {
    return this.#activation.mcpServers;
  }

  get systemPrompt(): SystemPrompt | undefined {
    return this.#activation.systemPrompt;
  }

  /** What the client offers. In a turn, `turn.client` has its files and terminals. */
  get clientFeatures(): ClientFeatures {
    return this.link.features;
  }

  get options(): readonly SessionConfigOption[] {
    return this.#options;
  }

  get commands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  /** The turn that runs now. */
  get turn(): Turn | undefined {
    return this.#prompts.turn;
  }

  /** The current value of an option. */
  option(configId: string): string | boolean | undefined {
    const option = this.#options.find((each) => each.configId === configId);
    return option?.type === "select" || option?.type === "boolean" ? option.currentValue : undefined;
  }

  /** The flow behind a URL elicitation is over: the client need not wait for the user any longer. */
  completeElicitation(elicitationId: string): void {
    if (!this.link.elicitations.delete(elicitationId)) {
      const got = JSON.stringify(elicitationId);
      throw new TypeError(
        `completeElicitation: this client was asked for no elicitation ${got}, or it is over`,
      );
    }
    this.link.tell("elicitation/complete", { elicitationId });
  }

  /** Sets the whole list, and tells the client when it has seen another one. */
  setOptions(options: readonly SessionConfigOption[]): void {
    this.link.checkSaid({ sessionUpdate: "config_option_update", configOptions: options as never });
    checkOptions(options);
    this.#options = options;
    this.link.saveOptions(this);
    if (this.link.isAnnounced(this)) {
      void this.update({ sessionUpdate: "config_option_update", configOptions: [...options] });
    }
  }

  setCommands(commands: readonly AvailableCommand[]): void {
    this.link.checkSaid({ sessionUpdate: "available_commands_update", availableCommands: commands as never });
    checkCommands(commands);
    this.#commands = commands;
    if (this.link.isAnnounced(this)) {
      void this.update({ sessionUpdate: "available_commands_update", availableCommands: [...commands] });
    }
  }

  /**
   * The whole list of what runs beside the conversation (v2). What is listed has been announced before, what is no
   * longer listed has ended.
   */
  setBackground(work: readonly BackgroundWork[]): void {
    this.link.checkSaid({ sessionUpdate: "state_update", state: "running", background: work as never });
    this.parts.setBackground(work);
    void this.show(this.#stateNow());
  }

  /**
   * Reports a tool call and runs it beside the conversation: turns end and begin meanwhile. The client may cancel it
   * (v2), closing the session does. Its status ends like that of `turn.tool`.
   */
  background<Result>(
    start: ToolCallStart,
    run: (tool: ToolCall) => Promise<Result> | Result,
  ): Promise<Result> {
    checkTool("session.background", start, run);
    const { signal } = this.#ending;
    const questions = new Questions(this, signal, { isForeground: false });
    const host = { session: this, signal, update: (update: Update) => this.update(update) };
    const tool = new ToolCall(host, { cancellable: true, ...start }, questions);
    const { toolCallId } = tool;
    this.setBackground([...this.parts.runningBackground, { type: "tool_call", toolCallId }]);
    const running = runTool(tool, run).finally(() => {
      this.#background.delete(running);
      const isOther = (item: BackgroundWork) => item.type !== "tool_call" || item.toolCallId !== toolCallId;
      if (!this.#closed) this.setBackground(this.parts.runningBackground.filter(isOther));
    });
    this.#background.add(running);
    running.catch(() => undefined);
    return running;
  }

  /** A terminal that outlives its turn; the client only shows it. Its process is yours. */
  terminal(options: DisplayTerminalOptions = {}): DisplayTerminal {
    return new DisplayTerminal(this, options);
  }

  /**
   * Work that no prompt asked for: a turn of its own, in line with the prompts. Never rejects: what goes wrong is the
   * outcome.
   */
  work(run: (turn: Turn) => Promise<TurnEnd> | TurnEnd): Promise<Outcome> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve({ stopReason: "cancelled" });
      this.#prompts.addWork({
        prompt: [],
        messageId: newId(),
        run,
        inserted: () => undefined,
        ended: resolve,
        refused: () => resolve({ stopReason: "cancelled" }),
      });
    });
  }

  /** Names the session, for lists and windows. */
  setTitle(title: string): void {
    void this.update({ sessionUpdate: "session_info_update", title });
    this.link.saveTitle(this, title);
  }

  /**
   * Sends one update, in or outside a turn, and keeps it in the history. Throws when it is not valid, and when so
   * much waits for the store that no more can. Returns a promise only when the client or the store is slow.
   */
  update(update: Update): Promise<void> | undefined {
    if (this.#closed) return undefined;
    this.log.checkRoom();
    return this.updateEnd(update);
  }

  /** @internal As `update`, for what must be said however much waits: the end of something. */
  updateEnd(update: Update): Promise<void> | undefined {
    if (this.#closed) return undefined;
    const isText =
      update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk";
    // plain text is checked when it is sent, the same in both versions
    if (!isText || update.content?.type !== "text" || typeof update.messageId !== "string")
      this.link.checkSaid(update);
    if (!isText) this.parts.check(update);
    const sent = this.#output.show(update);
    this.log.update(update);
    if (!isText) this.parts.apply(update);
    return sent;
  }

  /**
   * @internal A new id for a message, a tool call, a terminal or a question. One random prefix per activation
   * and a counter: unique in the session's history, and a fiftieth of the cost of random bits for each.
   */
  newId(): string {
    this.#idPrefix ??= newId().slice(0, 10);
    this.#ids++;
    return `${this.#idPrefix}${this.#ids.toString(36)}`;
  }

  /**
   * @internal Keeps it first, and shows it when it is stored: for what must not be shown and then forgotten. Throws
   * at once when it is not valid; the promise does not reject.
   */
  updateStored(update: Update): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.link.checkSaid(update);
    this.parts.check(update);
    const release = this.#output.hold(update);
    try {
      this.log.update(update);
    } catch (error) {
      // what no JSON can say must not keep its place in line for ever
      void release(false);
      throw error;
    }
    this.parts.apply(update);
    // a store that fails must not keep a tool's end from whoever looks at it
    const stored = this.log.flush().catch((error: unknown) => this.storeFailed(error));
    return stored.then(() => release(true));
  }

  /**
   * @internal A place in line for the echo of a message, where this version has one. Throws when the message could
   * not be shown, now or later.
   */
  holdPrompt(echo: Update): Release | undefined {
    if (this.link.edition.prompts.answersAtInsertion) return this.#output.hold(echo);
    this.#output.check(echo);
    return undefined;
  }

  /** @internal */
  storeFailed(error: unknown): void {
    this.link.log("error", "the session's store failed", { sessionId: this.sessionId, error });
  }

  /** @internal Sends without keeping. */
  show(update: Update): Promise<void> | undefined {
    return this.#output.show(update);
  }

  /** @internal What the session does now, for the client to know and to be told again when it comes back (A30). */
  setState(state: SessionState): void {
    this.#state = state;
    void this.show({ sessionUpdate: "state_update", ...state, ...this.#backgroundWork() });
  }

  /** Once it has been reported it is part of every state (A65). */
  #backgroundWork(): { background?: BackgroundWork[] } {
    const { background } = this.parts;
    return background === undefined ? {} : { background: [...background] };
  }

  /** What is true now. The end of a turn says why it ended; later it is only known that nothing runs. */
  #stateNow(): Update {
    const { state } = this.#state;
    const now: SessionState = state === "idle" ? { state } : { state };
    return { sessionUpdate: "state_update", ...now, ...this.#backgroundWork() };
  }

  /** @internal Resolves when nothing that was said waits any more; nothing when that is so now. */
  get shown(): Promise<void> | undefined {
    return this.#output.drained;
  }

  /**
   * @internal Sends what a client that comes back must see before its answer: the history, if it wants it, and the
   * state. What happens meanwhile waits until the function that it gives is called.
   */
  async comeBack(history: (() => AsyncIterable<readonly Entry[]>) | undefined): Promise<() => void> {
    const now = this.#stateNow();
    if (history === undefined) {
      this.#output.showNow(now);
      return () => undefined;
    }
    const end = this.log.mark();
    const over = await this.#output.replay(this.log.flush(), history, end);
    this.#output.showNow(now);
    return over;
  }

  /** @internal */
  addClientTerminal(terminalId: string): void {
    this.#output.addClientTerminal(terminalId);
  }

  /** @internal */
  reactivate(activation: Activation): void {
    this.#activation = activation;
  }

  /** @internal */
  prompt(ticket: PromptTicket): void {
    this.#prompts.add(ticket);
  }

  /** @internal A prompt that was withdrawn before its turn began. */
  withdraw(ticket: PromptTicket): boolean {
    return this.#prompts.withdraw(ticket);
  }

  /** @internal */
  cancel(): void {
    this.#prompts.cancel();
  }

  /** @internal */
  async close(): Promise<void> {
    this.cancel();
    this.#ending.abort(new DOMException("the session was closed", "AbortError"));
    this.#output.goOn();
    // a handler that does not heed its signal is left to itself
    const running = Promise.allSettled([this.#prompts.running, ...this.#background]);
    if ((await withTimeout(closeGraceMs, running)) === undefined) {
      this.link.log("warn", "a handler goes on after its session was closed", {
        sessionId: this.sessionId,
      });
      await withTimeout(closeGraceMs, this.#prompts.abandon());
    }
    this.#closed = true;
    this.#output.close();
    const stored = this.log.close().catch((error: unknown) => this.storeFailed(error));
    await withTimeout(closeGraceMs, stored);
  }
}
