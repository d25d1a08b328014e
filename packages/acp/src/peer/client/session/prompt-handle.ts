// The handle of an open prompt: settles its promises and buffers updates for its iterator.

import { optional } from "../../../base/objects.ts";
import { anyObject, count, fields, flag, listOf, type Shape, text } from "../../../base/shape.ts";
import { argumentText, ConnectionError, type RequestError } from "../../../jsonrpc/errors.ts";
import type { PendingState } from "../../../jsonrpc/pending-requests.ts";
import type { ContentBlock, Meta } from "../../../model/content.ts";
import { addMessageText, joinMessages, type MessageTexts } from "../../../model/content-text.ts";
import type { PromptResult, SessionUpdate } from "../../../model/update.ts";
import type { Prompt } from "./client-session.ts";
import { type Unread, type UnreadLimits, UnreadUpdates } from "./unread-updates.ts";

/** What the handle of an open prompt holds, as JSON. */
export interface HandleState {
  readonly key?: string | undefined;
  readonly isBehind?: boolean;
  readonly unread?: readonly Unread[];
}

export class PromptHandle implements Prompt {
  readonly key: string | undefined;
  readonly accepted: Promise<string>;
  readonly result: Promise<PromptResult>;
  readonly #accepted = Promise.withResolvers<string>();
  readonly #outcome = Promise.withResolvers<PromptResult>();
  readonly #cancel: () => void;
  readonly #unread: UnreadUpdates;
  #ended = false;
  #failure: Error | undefined;
  #isBehind: boolean;
  #wake: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(cancel: () => void, limits: UnreadLimits, { key, isBehind, unread }: HandleState = {}) {
    this.#cancel = cancel;
    this.key = key;
    this.#isBehind = isBehind === true;
    this.#unread = new UnreadUpdates(limits, unread);
    this.accepted = this.#accepted.promise;
    this.result = this.#outcome.promise;
    // a caller may use only one of the two
    this.accepted.catch(() => undefined);
    this.result.catch(() => undefined);
  }

  get state(): HandleState {
    return { ...optional({ key: this.key }), isBehind: this.#isBehind, unread: this.#unread.waiting };
  }

  cancel(): void {
    this.#cancel();
  }

  /** Cancels the prompt when the signal aborts, or now if it has. */
  cancelOn(signal: AbortSignal): void {
    checkSignal("prompt", signal);
    if (signal.aborted) return this.cancel();
    const cancel = () => this.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", cancel);
  }

  // biome-ignore lint/suspicious/noThenProperty: a prompt is awaited for its result
  readonly then: Prompt["then"] = (onFulfilled, onRejected) => {
    this.#unread.forgo();
    return this.result.then(onFulfilled, onRejected);
  };

  // not by `then`, which gives up the updates: a loop may follow
  readonly catch: Prompt["catch"] = (onRejected) => this.result.catch(onRejected);

  readonly finally: Prompt["finally"] = (onFinally) => this.result.finally(onFinally);

  [Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void> {
    // when the loop begins, and not with its first step
    this.#unread.begin();
    return this.#updates();
  }

  text(): Promise<string> {
    // throws here, as a loop does
    this.#unread.begin();
    const text = this.#text();
    // as for the result: one that nobody awaits must not end the process
    text.catch(() => undefined);
    return text;
  }

  async #text(): Promise<string> {
    const texts: MessageTexts = new Map();
    for await (const update of this.#updates()) addMessageText(texts, "agent_message", update);
    return joinMessages(texts);
  }

  async *#updates(): AsyncGenerator<SessionUpdate, void> {
    try {
      for (;;) {
        for (let update = this.#unread.take(); update !== undefined; update = this.#unread.take())
          yield update;
        if (this.#ended) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        // waking an iterator that is awake costs as much as the rest of an update
        this.#wake = undefined;
      }
    } finally {
      // nobody reads the rest
      this.#unread.stop();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Other work runs: what comes belongs to this prompt from its own message on, or when that work has ended. */
  awaitOwn(): void {
    this.#isBehind = true;
  }

  /** Whether other work runs, and what comes belongs to that. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  push(update: SessionUpdate, chars: number): void {
    if (this.#isBehind) {
      const isOwn = update.sessionUpdate.startsWith("user_message");
      if (isOwn || (update.sessionUpdate === "state_update" && update.state === "idle"))
        this.#isBehind = false;
      if (!isOwn) return;
    }
    this.#unread.push(update, chars);
    this.#wake?.();
  }

  accept(messageId: string): void {
    this.#isBehind = false;
    this.accepts(messageId);
  }

  /** The same for a message that was accepted before. */
  accepts(messageId: string): void {
    this.#accepted.resolve(messageId);
  }

  end(outcome: PromptResult): void {
    // no-op for one that was accepted; one that was withdrawn will never be
    this.#accepted.reject(new ConnectionError("aborted", "the prompt ended before it was accepted"));
    this.#finish();
    this.#outcome.resolve(outcome);
  }

  /** Ends with an error of the agent, which is a result in every version. */
  refuse(error: RequestError): PromptResult {
    this.#accepted.reject(error);
    this.#finish();
    const { kind, code, message, data } = error;
    const outcome: PromptResult = {
      stopReason: "error",
      error: { kind, code, message, ...optional({ data }) },
    };
    this.#outcome.resolve(outcome);
    return outcome;
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#accepted.reject(error);
    this.#finish();
    this.#outcome.reject(error);
  }

  #finish(): void {
    this.#stopListening?.();
    this.#ended = true;
    this.#wake?.();
  }
}

/** Throws a TypeError for what is no AbortSignal, such as the controller of one. */
export function checkSignal(where: string, signal: unknown): void {
  const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>; // callers may have no types
  if (signal === undefined || (typeof aborted === "boolean" && typeof addEventListener === "function"))
    return;
  throw new TypeError(
    `${where}: signal must be an AbortSignal, such as controller.signal; got ${argumentText(signal)}`,
  );
}

export interface OpenPrompt {
  readonly number: number;
  readonly handle: PromptHandle;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
  readonly withdrawal: { readonly signal: AbortSignal; abort(): void };
  readonly ended: { readonly promise: Promise<undefined>; resolve(value: undefined): void };
  isSent: boolean;
  /** Once it is part of the conversation. */
  messageId: string | undefined;
}

/** What an open prompt holds, as JSON. */
export interface PromptState extends HandleState {
  readonly number: number;
  readonly content: readonly ContentBlock[];
  readonly meta?: Meta;
  readonly isSent: boolean;
  readonly messageId?: string;
  readonly isWithdrawn: boolean;
  /** The request that has no answer yet. */
  readonly request?: PendingState;
}

export interface OpenPromptsState {
  readonly given: number;
  readonly all: readonly PromptState[];
}

export const openPromptsShape: Shape = fields({
  given: count,
  all: listOf(
    fields(
      {
        number: count,
        content: listOf(anyObject),
        isSent: flag,
        isWithdrawn: flag,
        isBehind: flag,
        unread: listOf(fields({ update: anyObject, chars: count })),
      },
      { key: text, meta: anyObject, messageId: text, request: pendingShape() },
    ),
  ),
});

/** `more`: the shapes of further properties. */
export function pendingShape(more: Readonly<Record<string, Shape>> = {}): Shape {
  return fields({ id: count, method: text }, { isCancelled: flag, timeoutMs: count, ...more });
}

/** In the order in which they were given. */
export class OpenPrompts {
  #all: readonly OpenPrompt[] = [];
  #given = 0;

  /** `requestOf`: the request that a prompt waits for. */
  state(requestOf: (prompt: OpenPrompt) => PendingState | undefined): OpenPromptsState {
    const all = this.#all.map((prompt) => {
      const { handle, number, content, meta, isSent, messageId, withdrawal } = prompt;
      const isWithdrawn = withdrawal.signal.aborted;
      const more = optional({ meta, messageId, request: requestOf(prompt) });
      return { ...handle.state, number, content, isSent, isWithdrawn, ...more };
    });
    return { given: this.#given, all };
  }

  /** The number of the prompt that is added next. */
  get next(): number {
    return this.#given + 1;
  }

  /** Goes on with the prompts of a state. */
  restore({ given, all }: OpenPromptsState, handleOf: (state: PromptState) => PromptHandle): void {
    for (const state of all) {
      const { number, content, meta, isSent, messageId, isWithdrawn } = state;
      this.#given = number - 1;
      const prompt = this.add({ handle: handleOf(state), content, meta });
      prompt.isSent = isSent;
      prompt.messageId = messageId;
      if (messageId !== undefined) prompt.handle.accepts(messageId);
      if (isWithdrawn) prompt.withdrawal.abort();
    }
    this.#given = given;
  }

  /** Stays as it is when prompts are added or removed. */
  get all(): readonly OpenPrompt[] {
    return this.#all;
  }

  get hasSent(): boolean {
    return this.#all.some(({ isSent }) => isSent);
  }

  /** `isBusy`: the agent works. If nobody here has asked for it, what comes of it is no answer to this prompt. */
  sent(prompt: OpenPrompt, { isBusy }: { readonly isBusy: boolean }): void {
    if (isBusy && !this.hasSent) prompt.handle.awaitOwn();
    prompt.isSent = true;
  }

  add(prompt: Pick<OpenPrompt, "handle" | "content" | "meta">): OpenPrompt {
    const added: OpenPrompt = {
      ...prompt,
      number: ++this.#given,
      withdrawal: new AbortController(),
      ended: Promise.withResolvers(),
      isSent: false,
      messageId: undefined,
    };
    this.#all = [...this.#all, added];
    return added;
  }

  find(number: number): OpenPrompt | undefined {
    return this.#all.find((prompt) => prompt.number === number);
  }

  remove(prompt: OpenPrompt): void {
    this.#all = this.#all.filter((each) => each !== prompt);
  }
}
