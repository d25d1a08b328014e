// Sends the updates of one session in the order in which they are stored. An update that waits for the store holds
// back the updates after it, so that a replay shows what was seen live.

import { valueKey } from "../../../base/parley-extensions.ts";
import type { AgentSessionEdition } from "../../../edition/agent-edition.ts";
import { understands } from "../../../edition/dialect.ts";
import { movesMeta } from "../../../edition/wire-fields.ts";
import type { PlainText } from "../../../log/plain-text.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { isOfTurn } from "../../base/taken-session.ts";
import type { StoredHistory } from "./guarded-store.ts";
import { parsed, type Replayed, replayedHistory } from "./replayed-history.ts";
import type { SessionSender } from "./session-sender.ts";

interface Item {
  /** The update as JSON: the object may be changed while it waits. Undefined for one that was dropped, and for a mark. */
  text: string | undefined;
  readonly tag: string;
  isReady: boolean;
}

/** A replay sends its lines when they have so many characters, and at the end of each page. */
const linesAtOnce = 64 * 1024;

/** Shows a held update, or drops it. */
export type Release = (show: boolean) => Promise<void> | undefined;

export class SessionOutput {
  readonly #sessionId: string;
  readonly #clientTerminals = new Set<string>();
  sender: SessionSender;
  /** What a turn says is not sent: it was asked for by another client, and would be taken for the answer to this one. */
  isMuted = false;
  #edition: AgentSessionEdition;
  /** A message up to the update in it. */
  readonly #head: string;
  /** The last update up to the text of a chunk, and the message up to there. */
  #chunk = { head: "", message: "" };
  #queue: Item[] = [];
  #isReplaying = false;
  #isSending = false;
  #isClosed = false;
  #drained: PromiseWithResolvers<void> | undefined;
  /** The wait for a client that is slow: it ends early when the client is replaced. */
  #slow: (PromiseWithResolvers<void> & { readonly of: Promise<void> }) | undefined;
  /** The last replay that began. */
  #replay: object | undefined;
  /** Lines of a replay that are not sent yet. */
  #lines = "";

  constructor(sessionId: string, sender: SessionSender) {
    this.#sessionId = sessionId;
    this.sender = sender;
    this.#edition = this.#newEdition();
    const id = JSON.stringify(sessionId);
    this.#head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${id},"update":`;
  }

  /** Sends by another connection from now on, also what waits. Its client knows no terminal of the one before. */
  attach(sender: SessionSender): void {
    this.sender = sender;
    this.isMuted = false;
    this.#clientTerminals.clear();
    this.#edition = this.#newEdition();
    this.#slow?.resolve();
    this.#slow = undefined;
  }

  /** Sends a valid update behind whatever waits. `text` is its JSON, where the caller has it already. */
  show(update: SessionUpdate, text?: string): Promise<void> | undefined {
    if (this.#isClosed || this.#isLeftOut(update.sessionUpdate)) return undefined;
    if (this.#queue.length === 0) return this.#send(update, text);
    this.#queue.push(this.#item(update, text, true));
    return this.#untilDrained();
  }

  /**
   * As `show`, for a chunk of plain text, whose JSON is the same in all versions. `head` is its JSON up to the text, `json` the
   * text as a JSON string.
   */
  showText(update: PlainText & SessionUpdate, head: string, json: string): Promise<void> | undefined {
    if (this.#queue.length > 0 || this.isMuted || this.#isClosed) return this.show(update);
    // joined: text that was added up is copied piece by piece for each chunk
    if (this.#chunk.head !== head) this.#chunk = { head, message: [this.#head, head].join("") };
    return this.#sent(this.sender.sendEncoded(this.#sessionId, update, `${this.#chunk.message}${json}}}}}`));
  }

  /** Throws when the echo of a message could not be sent, now or in a replay. Editions with an echo show it as it is. */
  check(update: SessionUpdate): void {
    for (const message of [this.#edition.encode(update) ?? []].flat())
      this.sender.checkUpdate(this.#sessionId, message);
  }

  /** Queues a valid update that is sent once it is released. */
  hold(update: SessionUpdate, text?: string): Release {
    const item = this.#item(update, text, false);
    this.#queue.push(item);
    return (show) => {
      if (!show) item.text = undefined;
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
  async replay(ready: Promise<void>, history: StoredHistory, endSeq: number): Promise<() => void> {
    const mark: Item = { text: undefined, tag: "", isReady: true };
    this.#queue.push(mark);
    this.#isReplaying = true;
    this.#replay = mark;
    try {
      await ready;
      // what waited is part of the history by now
      for (const item of this.#queue.splice(0, this.#queue.indexOf(mark)))
        if (!isHistory(item.tag)) void this.#sendItem(item);
      this.#edition = this.#newEdition();
      for (const terminalId of this.#clientTerminals) this.#edition.addClientTerminal(terminalId);
      for await (const page of replayedHistory(history, endSeq, this.sender)) {
        const rest = page.values();
        for (let slow = this.#showAgain(rest); slow !== undefined; slow = this.#showAgain(rest)) await slow;
      }
      return () => {
        // another client may have taken the session over meanwhile, and wait for a replay of its own
        if (this.#replay === mark) this.endReplay();
      };
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

  /** Throws when it is too large: by the time it is sent nobody could be told. */
  #item(update: SessionUpdate, text: string = JSON.stringify(update), isReady: boolean): Item {
    this.sender.checkSize(`${this.#head}${text}}}`);
    return { text, tag: update.sessionUpdate, isReady };
  }

  /** Sends updates of a replay until the client is slow. Most are joined to lines that are sent together. */
  #showAgain(updates: Iterable<Replayed>): Promise<void> | undefined {
    for (const each of updates) {
      let slow: Promise<void> | undefined;
      try {
        slow = this.#addLine(each);
      } catch (error) {
        this.#unsent(error);
      }
      if (slow !== undefined) return slow;
    }
    return this.#sendLines();
  }

  #addLine(replayed: Replayed): Promise<void> | undefined {
    const json = this.#jsonAgain(replayed);
    if (json === undefined || !this.sender.takesLines) {
      void this.#sendLines();
      return json === undefined ? this.#sendMessages(parsed(replayed)) : this.#sendJson(json);
    }
    const line = `${this.#head}${json}}}`;
    this.sender.checkSize(line);
    this.#lines += `${line}\n`;
    return this.#lines.length < linesAtOnce ? undefined : this.#sendLines();
  }

  #jsonAgain(replayed: Replayed): string | undefined {
    // plain text is the same JSON in all versions
    if (typeof replayed === "string") return replayed;
    if ("json" in replayed) return this.#edition.encodeToolCall(replayed);
    return this.#jsonOf(replayed.update, replayed.text);
  }

  #sendLines(): Promise<void> | undefined {
    const lines = this.#lines;
    this.#lines = "";
    return lines === "" ? undefined : this.#sent(this.sender.sendLines(lines));
  }

  #newEdition(): AgentSessionEdition {
    const { edition, client, dialect } = this.sender;
    const setup = { sessionId: this.#sessionId, configOptions: [], availableCommands: [] };
    return edition.session(setup, client.capabilities, understands(dialect, valueKey));
  }

  /** The JSON of the message for an update, if it follows from the JSON of the update. */
  #jsonOf(update: SessionUpdate, text: string | undefined): string | undefined {
    return text === undefined || movesMeta(update) ? undefined : this.#edition.encodeJson(update, text);
  }

  #sendJson(json: string): Promise<void> | undefined {
    return this.#sent(this.sender.sendEncoded(this.#sessionId, undefined, `${this.#head}${json}}}`));
  }

  #send(update: SessionUpdate, text?: string): Promise<void> | undefined {
    const json = this.#jsonOf(update, text);
    if (json === undefined) return this.#sendMessages(update, text);
    return json === text ? this.#sendMessage(update, text) : this.#sendJson(json);
  }

  #sendMessages(update: SessionUpdate, text?: string): Promise<void> | undefined {
    const encoded = this.#edition.encode(update);
    if (encoded === undefined) return undefined;
    if (encoded === update) return this.#sendMessage(update, text);
    if (!Array.isArray(encoded)) return this.#sendMessage(encoded);
    let last: Promise<void> | undefined;
    for (const one of encoded) last = this.#sendMessage(one as object) ?? last;
    return last;
  }

  #sendMessage(update: object, text: string = JSON.stringify(update)): Promise<void> | undefined {
    return this.#sent(this.sender.sendEncoded(this.#sessionId, update, `${this.#head}${text}}}`));
  }

  /** Nobody waits for room at a client that has the session no more. */
  #sent(slow: Promise<void> | undefined): Promise<void> | undefined {
    if (slow === undefined) return undefined;
    // one for all that wait for the same room
    if (this.#slow?.of !== slow) {
      const wait = Promise.withResolvers<void>();
      this.#slow = { of: slow, ...wait };
      void slow.then(wait.resolve);
    }
    return this.#slow.promise;
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

  #isLeftOut(tag: string): boolean {
    return this.isMuted && isOfTurn(tag);
  }

  #sendItem({ text, tag }: Item): Promise<void> | undefined {
    return text === undefined || this.#isLeftOut(tag) ? undefined : this.#sendAny(JSON.parse(text), text);
  }

  /** One update that cannot be sent must not hold back the others. */
  #sendAny(update: SessionUpdate, text: string | undefined): Promise<void> | undefined {
    try {
      return this.#send(update, text);
    } catch (error) {
      this.#unsent(error);
      return undefined;
    }
  }

  #unsent(error: unknown): void {
    this.sender.log("error", "an update could not be sent", { sessionId: this.#sessionId, error });
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
function isHistory(tag: string): boolean {
  return tag !== "state_update" && tag !== "notice";
}
