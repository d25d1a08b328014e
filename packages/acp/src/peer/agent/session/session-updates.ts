// Checks, stores and sends the updates of one session.

import { unwritableError } from "../../../base/unwritable.ts";
import type { LogWriter } from "../../../log/log-writer.ts";
import { isPlainText, type PlainText, plainTextHead } from "../../../log/plain-text.ts";
import type { PermissionRequest } from "../../../model/ask.ts";
import type { BackgroundWork, StateUpdate } from "../../../model/content.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { newId } from "../../base/new-id.ts";
import { AnnouncedWork } from "./announced-work.ts";
import { ClientRequests } from "./client-requests.ts";
import { type StoredHistory, unavailable } from "./guarded-store.ts";
import { describeWrong } from "./output-rules.ts";
import { SessionOutput } from "./session-output.ts";
import type { SessionSender } from "./session-sender.ts";

export type ReportedState = Extract<StateUpdate, { state: "idle" | "running" | "requires_action" }>;

/** The promise of everything that needs no waiting: one for all, since most updates are sent at once. */
export const sentAtOnce: Promise<void> = Promise.resolve();

/** Kinds of v1 that the model has under another name, and what to write instead. */
const otherKinds: Readonly<Record<string, string>> = {
  tool_call: 'a call begins with "tool_call_update" and a new toolCallId; turn.tool() sends it for you',
  plan: "it is called plan_update; turn.plan() sends it for you",
  current_mode_update: "a mode is a config option of category mode; use session.setConfigOptions()",
};

export class SessionUpdates {
  readonly sessionId: string;
  readonly log: LogWriter;
  readonly work = new AnnouncedWork();
  /** For updates that are not part of the history. */
  readonly output: SessionOutput;
  readonly client: ClientRequests;
  #state: ReportedState = { state: "idle" };
  isClosed = false;
  #idPrefix: string | undefined;
  #ids = 0;
  /** The message of the last chunk, and the JSON of its chunks up to their text. */
  #text = { sessionUpdate: "", messageId: "", head: "" };
  /** Most sessions have nothing to warn of: they need no set. */
  #warnings: Set<string> | undefined;

  constructor(sessionId: string, sender: SessionSender, log: LogWriter) {
    this.sessionId = sessionId;
    this.log = log;
    this.output = new SessionOutput(sessionId, sender);
    this.client = new ClientRequests(sender);
  }

  get sender(): SessionSender {
    return this.output.sender;
  }

  /** Another client has the session from now on. */
  attach(sender: SessionSender): void {
    this.output.attach(sender);
    this.client.replace(sender);
  }

  /**
   * Sends one update, in or outside a turn, and keeps it in the history. Throws when it is not valid, and when so
   * much waits for the store that no more can. Returns a promise only when the client or the store is slow.
   */
  update(update: SessionUpdate): Promise<void> | undefined {
    if (this.isClosed) return undefined;
    this.log.checkRoom();
    return this.updateEnd(update);
  }

  /** As `update`, for the end of something: it is taken however much waits for the store. */
  updateEnd(update: SessionUpdate): Promise<void> | undefined {
    if (this.isClosed) return undefined;
    this.checkSchema(update);
    if (isPlainText(update)) {
      const head = this.#textHead(update);
      const json = JSON.stringify(update.content.text);
      const sent = this.output.showText(update, head, json);
      this.log.text(update.sessionUpdate, head, json);
      return sent;
    }
    this.work.check(update);
    // made once: it is the copy of what was said, the entry, and mostly the message
    const text = jsonOf(update);
    const sent = this.output.show(update, text);
    this.#keep(update, text);
    this.work.apply(update);
    return sent;
  }

  #keep(update: SessionUpdate, text: string): void {
    const { sessionUpdate: tag } = update;
    // states follow from prompts and outcomes, and notices are not history (A32)
    if (tag !== "state_update" && tag !== "notice") this.log.update(tag, text, update);
  }

  /** The same for all chunks of a message. */
  #textHead(update: PlainText): string {
    const { sessionUpdate, messageId } = this.#text;
    if (update.messageId !== messageId || update.sessionUpdate !== sessionUpdate)
      this.#text = {
        sessionUpdate: update.sessionUpdate,
        messageId: update.messageId,
        head: plainTextHead(update),
      };
    return this.#text.head;
  }

  /**
   * Stores an update before it is shown, so that it cannot be shown and then forgotten. Throws at once when it is not
   * valid; the promise does not reject.
   */
  updateStored(update: SessionUpdate): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.check(update);
    const text = jsonOf(update);
    const release = this.output.hold(update, text);
    this.#keep(update, text);
    this.work.apply(update);
    // a store that fails must not keep a tool's end from the client
    const stored = this.log.flush().catch((error: unknown) => this.storeFailed(error));
    return stored.then(() => release(true));
  }

  /** Throws a TypeError for an update that breaks a rule. */
  check(update: SessionUpdate): void {
    this.checkSchema(update);
    this.work.check(update);
  }

  /** Throws a TypeError for what the model does not have, whichever version the client speaks. */
  checkSchema(update: SessionUpdate): void {
    const failure = this.sender.rules?.update(update);
    if (failure === undefined) return;
    const kind = (update as { sessionUpdate?: unknown } | null)?.sessionUpdate;
    const instead =
      typeof kind === "string" && Object.hasOwn(otherKinds, kind) ? otherKinds[kind] : undefined;
    if (instead !== undefined) throw new TypeError(`update ${JSON.stringify(kind)}: ${instead}`);
    const tag = JSON.stringify(kind);
    throw new TypeError(describeWrong(`update ${tag ?? "without a kind"}`, failure));
  }

  checkAsk(ask: PermissionRequest): void {
    const failure = this.sender.rules?.permission(ask);
    if (failure !== undefined) throw new TypeError(describeWrong("permission", failure));
  }

  /** Warns of a mistake in the agent's code, once per session. */
  warnOnce(message: string): void {
    this.#warnings ??= new Set();
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.sender.log("warn", message, { sessionId: this.sessionId });
  }

  /** Logs a call that comes too late. The promise rejects, and need not be awaited: a timer must not end the process. */
  late(error: Error): Promise<never> {
    this.warnOnce(error.message);
    const failed = Promise.reject(error);
    failed.catch(() => undefined);
    return failed;
  }

  /** Stores the user's answer before the agent acts on it. Rejects with "unavailable" if the store fails, as a prompt does. */
  async answered(): Promise<void> {
    try {
      await this.log.flush({ isSynced: true });
    } catch (error) {
      this.storeFailed(error);
      throw unavailable();
    }
  }

  storeFailed(error: unknown): void {
    this.sender.log("error", "the session's store failed", { sessionId: this.sessionId, error });
  }

  /** Reports the state of the session. A client that comes back gets it again. Throws when it is not valid. */
  setState(state: ReportedState): void {
    const update: SessionUpdate = { sessionUpdate: "state_update", ...state, ...this.#background() };
    // the app has a say in the end of a turn alone
    if (state.state === "idle") this.checkSchema(update);
    this.#state = state;
    void this.output.show(update);
  }

  setBackground(work: readonly BackgroundWork[]): void {
    this.checkSchema({ sessionUpdate: "state_update", state: "running", background: work });
    this.work.setBackground(work);
    void this.output.show(this.#stateNow());
  }

  /** Once background work has been reported it is part of every state. */
  #background(): { background?: BackgroundWork[] } {
    const { background } = this.work;
    return background === undefined ? {} : { background: [...background] };
  }

  /** The current state. Only the end of a turn says why it ended. */
  get snapshot(): ReportedState {
    const { state } = this.#state;
    const now: ReportedState = state === "idle" ? { state } : { state };
    return { ...now, ...this.#background() };
  }

  #stateNow(): SessionUpdate {
    return { sessionUpdate: "state_update", ...this.snapshot };
  }

  /**
   * Sends what a client that comes back must see before its answer: the history, if it wants it, and the state.
   * Updates that come meanwhile wait until the returned function is called, and so do questions for a client that is new.
   */
  async comeBack(
    history: StoredHistory | undefined,
    { isNewClient }: { readonly isNewClient: boolean },
  ): Promise<() => void> {
    const now = this.#stateNow();
    const askAgain = isNewClient ? this.client.hold() : undefined;
    let over: (() => void) | undefined;
    if (history !== undefined) {
      const end = this.log.mark();
      over = await this.output.replay(this.log.flush(), history, end).catch((error: unknown) => {
        askAgain?.();
        throw error;
      });
    }
    this.output.showNow(now);
    return () => {
      over?.();
      askAgain?.();
    };
  }

  /**
   * A new id for a message, a tool call, a terminal or a question. One random prefix per activation and a counter:
   * unique in the session's history, and a fiftieth of the cost of random bits for each.
   */
  newId(): string {
    this.#idPrefix ??= newId().slice(0, 10);
    this.#ids++;
    return `${this.#idPrefix}${this.#ids.toString(36)}`;
  }

  /** Sends and stores nothing any more. Resolves when what waits is stored. */
  close(): Promise<void> {
    this.isClosed = true;
    this.output.close();
    return this.log.close().catch((error: unknown) => this.storeFailed(error));
  }
}

function jsonOf(update: SessionUpdate): string {
  try {
    return JSON.stringify(update);
  } catch (error) {
    throw unwritableError(`update ${JSON.stringify(update.sessionUpdate)}`, update, error);
  }
}
