// Forwards calls between two peers: one answer each, in order, with a look at what passes.

import type { Log } from "../jsonrpc/connection-options.ts";
import type { PassedAnswer } from "../jsonrpc/passed-call.ts";
import { Call } from "./call.ts";
import {
  type Facts,
  type Frame,
  type FrameAction,
  type ImmediateAction,
  type Look,
  otherSide,
  type Side,
} from "./frame.ts";
import { Lanes, type Waiting } from "./lanes.ts";
import { nobody, type Port, type Room, type Taker } from "./port.ts";

export interface LinkOptions {
  readonly facts: Facts;
  /** Without it nothing is held, and nothing waits. */
  readonly look?: Look | undefined;
  /** Whether notifications of the agent pass unread. Default: without `look`. */
  readonly passesUnread?: boolean | undefined;
  /** Whether everything is written anew, so that nobody can read the text in another way than `look` did. */
  readonly rewrites?: boolean | undefined;
  /** How many characters may wait. Default 32 MiB. */
  readonly maxHeldChars?: number | undefined;
  readonly log: Log;
  /** Called when too much waits: the two peers cannot go on. */
  readonly overflowed: (reason: string) => void;
}

const cancelled: PassedAnswer = { error: { code: -32800, message: "cancelled" } };

export class Link {
  /** Takes what each peer sends. */
  readonly from: Readonly<Record<Side, Port>>;
  /** Takes what each peer gets. Another port may take its place at any time. */
  readonly to: Record<Side, Port> = { client: nobody, agent: nobody };
  readonly facts: Facts;
  readonly log: Log;
  readonly rewrites: boolean;
  readonly #look: Look | undefined;
  readonly lanes: Readonly<Record<Side, Lanes>>;

  constructor({ facts, look, log, overflowed, ...options }: LinkOptions) {
    this.facts = facts;
    this.log = log;
    this.#look = look;
    this.rewrites = options.rewrites ?? false;
    const max = options.maxHeldChars ?? 32 * 1024 * 1024;
    let heldChars = 0;
    let isTooMuch = false;
    const held = (chars: number): void => {
      heldChars += chars;
      if (isTooMuch || heldChars <= max) return;
      isTooMuch = true;
      overflowed(`more than ${max} characters wait in it`);
    };
    this.lanes = { client: new Lanes(held), agent: new Lanes(held) };
    const passesUnread = options.passesUnread ?? look === undefined;
    this.from = {
      client: this.#intake("client", passesUnread),
      agent: this.#intake("agent", passesUnread),
    };
  }

  /** Sends a notification to one side, after everything that has been sent. */
  notify(to: Side, method: string, params: unknown): void {
    this.to[to].notify(new Call(method, params));
  }

  /** Sends a request to one side. */
  request(to: Side, method: string, params: unknown, taker: Taker): () => void {
    return this.to[to].request(new Call(method, params), taker);
  }

  #intake(from: Side, passesUnread: boolean): Port {
    // a client is never made to wait: it may be waiting for the agent, and the agent for it
    const paced = from === "agent" ? (room: Room) => room : () => undefined;
    return {
      notify: (call) => {
        if (this.#look === undefined) return paced(this.to[otherSide[from]].notify(call));
        const item = new PassingNotification(this, from, call);
        if (this.facts.cancels(call.method)) {
          this.#withdraw(item.session);
          item.run();
        } else this.lanes[from].enter(item);
        return paced(item.room);
      },
      request: (call, taker) => {
        if (this.#look === undefined) return this.to[otherSide[from]].request(call, taker);
        const item = new PassingRequest(this, from, call, taker);
        this.lanes[from].enter(item);
        return () => item.cancel();
      },
      unread: () => {
        if (!passesUnread || !this.lanes[from].isFree) return undefined;
        const take = this.to[otherSide[from]].unread();
        return take && ((lines) => paced(take(lines)));
      },
    };
  }

  /** Answers what has not been passed on, in both directions. The last one first: none must take the place of another. */
  #withdraw(session: string | undefined): void {
    for (const lanes of [this.lanes.client, this.lanes.agent]) {
      for (const waiting of [...lanes.requestsIn(session)].reverse())
        if (waiting instanceof PassingRequest) waiting.withdraw();
    }
  }

  look(frame: Frame): FrameAction {
    return this.#look?.(frame);
  }
}

/** A message on its way. */
abstract class Passing implements Waiting, Frame {
  abstract readonly kind: Frame["kind"];
  readonly from: Side;
  readonly call: Call;
  readonly session: string | undefined;
  isOver = false;
  protected readonly link: Link;
  #isHeld = false;

  constructor(link: Link, from: Side, call: Call, session = link.facts.session(call.params)) {
    this.link = link;
    this.from = from;
    this.call = call;
    this.session = session;
  }

  get method(): string {
    return this.call.method;
  }

  get params(): unknown {
    return this.call.params;
  }

  get text(): string | undefined {
    return this.call.text;
  }

  get size(): number {
    return this.call.size;
  }

  get opens(): Frame["opens"] {
    return this.link.facts.opens(this.method);
  }

  abstract readonly signal: AbortSignal | undefined;

  protected get passedOn(): Call {
    return this.link.rewrites ? new Call(this.method, this.params) : this.call;
  }

  run(): void {
    let action: FrameAction;
    try {
      action = this.link.look(this);
    } catch (error) {
      action = this.#failed(error);
    }
    this.decided(action);
  }

  #failed(error: unknown): FrameAction {
    this.link.log("error", "a hook failed", { method: this.method, error });
    return { answer: { error: { code: -32603, message: "internal error" } } };
  }

  protected decided(action: FrameAction): void {
    if (action !== undefined && "hold" in action) {
      if (!this.#isHeld) this.link.lanes[this.from].occupy(this);
      this.#isHeld = true;
      return this.#wait(action.hold);
    }
    if (action !== undefined && "later" in action) this.#wait(action.later);
    else {
      this.settle(action);
      if (action !== undefined && "afterwards" in action) action.afterwards?.();
    }
    this.leave();
  }

  #wait(coming: PromiseLike<FrameAction>): void {
    coming.then(
      (later) => {
        if (!this.isOver) this.decided(later);
      },
      (error: unknown) => {
        const failed = this.#failed(error);
        if (!this.isOver) this.decided(failed);
      },
    );
  }

  protected leave(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.link.lanes[this.from].leave(this);
  }

  protected abstract settle(action: ImmediateAction): void;
}

class PassingNotification extends Passing {
  readonly kind = "notification";
  readonly signal = undefined;
  room: Room;

  protected settle(action: ImmediateAction): void {
    this.isOver = true;
    const to = this.link.to[otherSide[this.from]];
    if (action === undefined) this.room = to.notify(this.passedOn);
    else if ("send" in action) this.room = to.notify(new Call(this.method, action.send));
    else {
      const reason = "drop" in action ? action.drop : "nobody waits for an answer to it";
      this.link.log("debug", "a notification was dropped", { method: this.method, reason });
    }
  }
}

class PassingRequest extends Passing {
  readonly kind = "request";
  readonly #taker: Taker;
  #controller: AbortController | undefined;
  #cancelSent: (() => void) | undefined;
  #isCancelled = false;
  #isSent = false;
  /** A hook may still hold the answer. */
  #isAnswered = false;
  /** It is being opened: what names it waits. */
  #isOpening = false;

  constructor(link: Link, from: Side, call: Call, taker: Taker) {
    super(link, from, call);
    this.#taker = taker;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  override run(): void {
    const { opens, link } = this;
    if (opens === "connection") link.lanes[this.from].occupyAll(this);
    else if (opens === "named session" && this.session !== undefined) link.lanes[this.from].occupy(this);
    this.#isOpening = opens === "connection" || opens === "named session";
    super.run();
  }

  /** Nobody waits for the answer any more. */
  cancel(): void {
    if (this.isOver || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#controller?.abort();
    if (this.#isSent && !this.#isAnswered) this.#cancelSent?.();
    else this.answer(cancelled);
  }

  /** Its session is cancelled. */
  withdraw(): void {
    if (this.isOver || this.#isSent) return;
    const answer = this.link.facts.withdrawn(this.method);
    if (answer === undefined) return;
    this.#isCancelled = true;
    this.#controller?.abort();
    this.answer(answer);
  }

  /** Only the first answer counts. */
  answer(answer: PassedAnswer, text?: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#taker(answer, text);
    this.#isOpening = false;
    this.link.lanes[this.from].leave(this);
  }

  protected override leave(): void {
    // one that opens a session holds it until it has been answered
    if (!this.#isOpening) super.leave();
  }

  protected settle(action: ImmediateAction): void {
    if (action === undefined) this.#send(this.passedOn);
    else if ("send" in action) this.#send(new Call(this.method, action.send));
    else if ("answer" in action) this.answer(action.answer);
    else this.answer({ error: { code: -32600, message: action.drop, data: { reason: "refused" } } });
  }

  #send(call: Call): void {
    this.#isSent = true;
    const to = otherSide[this.from];
    const taker: Taker = (answer, text) => {
      if (this.isOver || this.#isAnswered) return;
      this.#isAnswered = true;
      this.link.lanes[to].enter(new PassingAnswer(this.link, this, call, { answer, text }));
    };
    this.#cancelSent = this.link.to[to].request(call, taker);
    if (this.#isCancelled) this.#cancelSent();
  }
}

class PassingAnswer extends Passing {
  readonly kind = "answer";
  readonly request: PassingRequest;
  readonly answer: PassedAnswer;
  readonly #text: string | undefined;
  #size: number | undefined;

  constructor(
    link: Link,
    request: PassingRequest,
    call: Call,
    { answer, text }: { readonly answer: PassedAnswer; readonly text: string | undefined },
  ) {
    // what follows the answer that makes a session names that session
    const made = request.opens === "session" ? link.facts.session(answer.result) : undefined;
    super(link, otherSide[request.from], call, made ?? request.session);
    this.request = request;
    this.answer = answer;
    this.#text = text;
  }

  override get text(): string | undefined {
    return this.#text;
  }

  override get size(): number {
    this.#size ??= (this.#text ?? JSON.stringify(this.answer)).length;
    return this.#size;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  protected settle(action: ImmediateAction): void {
    this.isOver = true;
    if (action === undefined) this.request.answer(this.answer, this.link.rewrites ? undefined : this.#text);
    else if ("send" in action)
      this.request.answer(action.send as PassedAnswer); // as: a function that looks at an answer sends an answer
    else if ("answer" in action) this.request.answer(action.answer);
    else this.request.answer({ error: { code: -32603, message: action.drop } });
  }
}
