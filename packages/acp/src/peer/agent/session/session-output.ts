// Sends the updates of one session in the order in which they are stored. An update that waits for the store holds
// back the updates after it, so that a replay shows what was seen live.

import type { AgentSessionEdition } from "../../../edition/agent-edition.ts";
import type { Entry } from "../../../model/entry.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { replayedHistory } from "./replayed-history.ts";
import type { SessionSender } from "./session-sender.ts";

interface Item {
  /** Undefined for one that was dropped, and for the mark of a replay. */
  update: SessionUpdate | undefined;
  /** Encoded and checked; undefined when it is to be encoded for the client that will be there. */
  messages: readonly object[] | undefined;
  isReady: boolean;
}

/** Shows a held update, or drops it. */
export type Release = (show: boolean) => Promise<void> | undefined;

export class SessionOutput {
  readonly #sessionId: string;
  readonly #clientTerminals = new Set<string>();
  sender: SessionSender;
  #edition: AgentSessionEdition;
  #queue: Item[] = [];
  #isReplaying = false;
  #isSending = false;
  #isClosed = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(sessionId: string, sender: SessionSender) {
    this.#sessionId = sessionId;
    this.sender = sender;
    this.#edition = this.#newEdition();
  }

  /** Sends by another connection from now on, also what waits. Its client knows no terminal of the one before. */
  attach(sender: SessionSender): void {
    this.sender = sender;
    this.#clientTerminals.clear();
    this.#edition = this.#newEdition();
    for (const item of this.#queue) if (item.update !== undefined) item.messages = undefined;
  }

  /** Sends an update behind whatever waits. Throws when it is not valid. */
  show(update: SessionUpdate): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#queue.length === 0) return this.#send(update);
    this.#queue.push(this.#item(update, true));
    return this.#untilDrained();
  }

  /** Throws when the update could not be sent, now or in a replay. */
  check(update: SessionUpdate): void {
    for (const message of [this.#newEdition().encode(update) ?? []].flat())
      this.sender.checkUpdate(this.#sessionId, message);
  }

  /** Queues an update that is sent once it is released. Throws when it is not valid. */
  hold(update: SessionUpdate): Release {
    const item = this.#item(update, false);
    this.#queue.push(item);
    return (show) => {
      if (!show) {
        item.update = undefined;
        item.messages = [];
      }
      item.isReady = true;
      return this.#pump();
    };
  }

  /** Sends an update before whatever waits: a state that is true now, whenever the rest is shown. */
  showNow(update: SessionUpdate): void {
    if (!this.#isClosed) void this.#send(update);
  }

  /** Resolves when nothing waits any more; undefined when that is so now. */
  get drained(): Promise<void> | undefined {
    return this.#queue.length === 0 ? undefined : this.#untilDrained();
  }

  /**
   * Sends the history, whole and in order. `ready` resolves when it is all stored. Updates that come meanwhile wait
   * until the returned function is called: a client takes what comes before the answer for history.
   */
  async replay(
    ready: Promise<void>,
    history: () => AsyncIterable<readonly Entry[]>,
    endSeq: number,
  ): Promise<() => void> {
    const mark: Item = { update: undefined, messages: [], isReady: true };
    this.#queue.push(mark);
    this.#isReplaying = true;
    try {
      await ready;
      // what waited is part of the history by now
      for (const item of this.#queue.splice(0, this.#queue.indexOf(mark)))
        if (!isHistory(item.update)) void this.#sendItem(item);
      this.#edition = this.#newEdition();
      for (const terminalId of this.#clientTerminals) this.#edition.addClientTerminal(terminalId);
      for await (const page of replayedHistory(history(), endSeq)) {
        for (const update of page) {
          const slow = this.#sendItem({ update, messages: undefined, isReady: true });
          if (slow !== undefined) await slow;
        }
      }
      return () => this.endReplay();
    } catch (error) {
      this.endReplay();
      throw error;
    }
  }

  /** Sends what waits for a replay: nobody will read the answer that it should follow. */
  endReplay(): void {
    this.#isReplaying = false;
    void this.#pump();
  }

  addClientTerminal(terminalId: string): void {
    this.#clientTerminals.add(terminalId);
    this.#edition.addClientTerminal(terminalId);
  }

  /** Sends nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#drained?.resolve();
  }

  #item(update: SessionUpdate, isReady: boolean): Item {
    const edition = this.#isReplaying ? this.#newEdition() : this.#edition;
    const encoded = [edition.encode(update) ?? []].flat();
    const messages = encoded.map((message) => this.sender.checkUpdate(this.#sessionId, message));
    // during a replay the client begins anew: encoded again when that is over
    return { update, messages: this.#isReplaying ? undefined : messages, isReady };
  }

  #newEdition(): AgentSessionEdition {
    const { edition, client } = this.sender;
    const setup = { sessionId: this.#sessionId, configOptions: [], availableCommands: [] };
    return edition.session(setup, client.capabilities);
  }

  #send(update: SessionUpdate): Promise<void> | undefined {
    const encoded = this.#edition.encode(update);
    if (encoded === undefined) return undefined;
    if (!Array.isArray(encoded)) return this.sender.sendUpdate(this.#sessionId, encoded);
    let last: Promise<void> | undefined;
    for (const one of encoded) last = this.sender.sendUpdate(this.#sessionId, one as object) ?? last;
    return last;
  }

  #pump(): Promise<void> | undefined {
    // sending may call back into the session: the loop that runs sends that too
    if (this.#isSending || this.#isReplaying || this.#isClosed) return undefined;
    this.#isSending = true;
    let slow: Promise<void> | undefined;
    let sent = 0;
    for (const item of this.#queue) {
      if (!item.isReady) break;
      sent++;
      slow = this.#sendItem(item) ?? slow;
    }
    this.#queue.splice(0, sent);
    this.#isSending = false;
    if (this.#queue.length === 0) this.#settle(slow);
    return slow;
  }

  /** One update that cannot be sent, also one of the history, must not hold back the others. */
  #sendItem({ messages, update }: Item): Promise<void> | undefined {
    try {
      if (messages === undefined) return update && this.#send(update);
      let slow: Promise<void> | undefined;
      for (const params of messages) slow = this.sender.sendChecked(params) ?? slow;
      return slow;
    } catch (error) {
      this.sender.log("error", "an update could not be sent", { sessionId: this.#sessionId, error });
      return undefined;
    }
  }

  #untilDrained(): Promise<void> {
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  #settle(slow: Promise<void> | undefined): void {
    const drained = this.#drained;
    if (drained === undefined) return;
    this.#drained = undefined;
    drained.resolve(slow);
  }
}

/** States follow from turns, and notices are not kept. */
function isHistory(update: SessionUpdate | undefined): boolean {
  return update?.sessionUpdate !== "state_update" && update?.sessionUpdate !== "notice";
}
