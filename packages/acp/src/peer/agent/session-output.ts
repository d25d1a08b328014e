// What leaves a session, in the order in which it is stored: what waits for the store keeps back what was said
// after it, so that a replay shows what was seen live.

import type { AgentSessionEdition } from "../../edition/agent-edition.ts";
import type { Entry } from "../../model/entry.ts";
import type { Update } from "../../model/update.ts";
import type { AgentLink } from "./agent-link.ts";

interface Item {
  /** Checked and ready to send. */
  messages: readonly object[];
  /** Said while history is being sent: encoded when that is over, since the client begins anew. */
  update: Update | undefined;
  readonly isHistory: boolean;
  isReady: boolean;
}

/** Shows what was held, or drops it. */
export type Release = (show: boolean) => Promise<void> | undefined;

export class SessionOutput {
  readonly #link: AgentLink;
  readonly #sessionId: string;
  readonly #newEdition: () => AgentSessionEdition;
  readonly #clientTerminals = new Set<string>();
  #edition: AgentSessionEdition;
  #queue: Item[] = [];
  #isReplaying = false;
  #isSending = false;
  #isClosed = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(link: AgentLink, sessionId: string, edition: () => AgentSessionEdition) {
    this.#link = link;
    this.#sessionId = sessionId;
    this.#newEdition = edition;
    this.#edition = edition();
  }

  /** Sends it, behind whatever waits. Throws when it is not valid. */
  show(update: Update): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#queue.length === 0) return this.#send(update);
    this.#queue.push(this.#item(update, true));
    return this.#untilDrained();
  }

  /** Throws when it is not valid. */
  check(update: Update): void {
    this.#checked(this.#newEdition(), update);
  }

  /** Takes the next place in line without being sent yet. Throws when the update is not valid. */
  hold(update: Update): Release {
    const item = this.#item(update, false);
    this.#queue.push(item);
    return (show) => {
      if (!show) {
        item.messages = [];
        item.update = undefined;
      }
      item.isReady = true;
      return this.#pump();
    };
  }

  /** Sends it before whatever waits: a state that is true now, whenever the rest is shown. */
  showNow(update: Update): void {
    if (!this.#isClosed) void this.#send(update);
  }

  /** Resolves when nothing waits any more; nothing when that is so now. */
  get drained(): Promise<void> | undefined {
    return this.#queue.length === 0 ? undefined : this.#untilDrained();
  }

  /**
   * Sends the history, whole and in order. `ready` is when it is all stored. What is said meanwhile waits until the
   * caller says that it may follow: a client takes what comes before the answer for history.
   */
  async replay(
    ready: Promise<void>,
    history: () => AsyncIterable<readonly Entry[]>,
    endSeq: number,
  ): Promise<() => void> {
    const place: Item = { messages: [], update: undefined, isHistory: false, isReady: true };
    this.#queue.push(place);
    this.#isReplaying = true;
    const over = () => {
      this.#isReplaying = false;
      void this.#pump();
    };
    try {
      await ready;
      // what waited is part of the history by now
      for (const item of this.#queue.splice(0, this.#queue.indexOf(place))) {
        if (!item.isHistory) void this.#sendItem(item);
      }
      this.#edition = this.#newEdition();
      for (const terminalId of this.#clientTerminals) this.#edition.addClientTerminal(terminalId);
      for await (const page of history()) {
        for (const entry of page) {
          const update = entry.seq >= endSeq ? undefined : replayed(entry);
          const slow = update && this.#sendStored(update);
          if (slow !== undefined) await slow;
        }
        if ((page.at(-1)?.seq ?? 0) >= endSeq) break;
      }
      return over;
    } catch (error) {
      over();
      throw error;
    }
  }

  /** What waits for history to be sent waits no longer: nobody will read the answer that it should follow. */
  goOn(): void {
    this.#isReplaying = false;
    void this.#pump();
  }

  addClientTerminal(terminalId: string): void {
    this.#clientTerminals.add(terminalId);
    this.#edition.addClientTerminal(terminalId);
  }

  /** Nothing leaves any more. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#drained?.resolve();
  }

  #item(update: Update, isReady: boolean): Item {
    const { sessionUpdate } = update;
    const isHistory = sessionUpdate !== "state_update" && sessionUpdate !== "notice";
    const edition = this.#isReplaying ? this.#newEdition() : this.#edition;
    const messages = this.#checked(edition, update);
    return this.#isReplaying
      ? { messages: [], update, isHistory, isReady }
      : { messages, update: undefined, isHistory, isReady };
  }

  #checked(edition: AgentSessionEdition, update: Update): object[] {
    const encoded = [edition.encode(update) ?? []].flat();
    return encoded.map((message) => this.#link.checkUpdate(this.#sessionId, message));
  }

  #send(update: Update): Promise<void> | undefined {
    const encoded = this.#edition.encode(update);
    if (encoded === undefined) return undefined;
    if (!Array.isArray(encoded)) return this.#link.sendUpdate(this.#sessionId, encoded);
    let last: Promise<void> | undefined;
    for (const one of encoded) last = this.#link.sendUpdate(this.#sessionId, one as object) ?? last;
    return last;
  }

  #pump(): Promise<void> | undefined {
    // whoever is called by what is sent may say more: it is sent by the loop that runs
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

  #sendItem({ messages, update }: Item): Promise<void> | undefined {
    try {
      if (update !== undefined) return this.#send(update);
      let slow: Promise<void> | undefined;
      for (const params of messages) slow = this.#link.sendChecked(params) ?? slow;
      return slow;
    } catch (error) {
      // it was valid when it was said: one that is not any more must not keep the others back
      this.#link.log("error", "an update could not be sent", { sessionId: this.#sessionId, error });
      return undefined;
    }
  }

  /** One entry that cannot be shown, whoever stored it, must not keep the rest of the history from the client. */
  #sendStored(update: Update): Promise<void> | undefined {
    return this.#sendItem({ messages: [], update, isHistory: true, isReady: true });
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

/** What the client sees of one entry: messages and updates. Options and commands are what the answer says. */
function replayed(entry: Entry): Update | undefined {
  if (entry.kind === "prompt") {
    const { messageId, prompt } = entry;
    return { sessionUpdate: "user_message", messageId, content: [...prompt] };
  }
  if (entry.kind !== "update") return undefined;
  const { sessionUpdate } = entry.update;
  const isState = sessionUpdate === "config_option_update" || sessionUpdate === "available_commands_update";
  return isState ? undefined : entry.update;
}
