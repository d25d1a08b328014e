// Says what a machine could not express in the messages themselves, as a relay between versions does it.

import { isObject } from "../../base/objects.ts";
import type { DialectMachine, DialectMessage, DialectOptions, DialectStep } from "../../edition/dialect.ts";
import { withLost } from "../base/lost-note.ts";

/** So many are told at the end of a turn. */
const maxNotes = 32;

interface NotedOptions extends DialectOptions {
  /** The role of our side. */
  readonly role: "agent" | "client";
  /** "strict": an update that would lose something is not sent. */
  readonly losses: "lossy" | "strict";
}

export class NotedLosses implements DialectMachine {
  readonly #machine: DialectMachine;
  readonly #options: NotedOptions;
  /** What the current message loses. */
  #lost: string[] = [];
  /** What the turns have lost so far, by session. */
  readonly #turns = new Map<unknown, Set<string>>();
  /** The sessions of the prompts that are not answered yet, by the id of the prompt. */
  readonly #prompts = new Map<unknown, unknown>();

  constructor(make: (options: DialectOptions) => DialectMachine, options: NotedOptions) {
    this.#options = options;
    this.#machine = make({
      clock: options.clock,
      lost: (what) => {
        this.#lost.push(what);
        options.lost(what);
      },
    });
  }

  receive(message: DialectMessage): DialectStep {
    return this.#noted(message, () => this.#machine.receive(message));
  }

  send(message: DialectMessage): DialectStep {
    return this.#noted(message, () => this.#machine.send(message));
  }

  #noted({ method, id, params }: DialectMessage, work: () => DialectStep): DialectStep {
    this.#lost = [];
    const { toUs, toPeer } = work();
    const sessionId = isObject(params) ? params["sessionId"] : undefined;
    if (method === "session/prompt" && id !== undefined) this.#prompts.set(id, sessionId);
    const lost = this.#lost;
    const isUpdate = method === "session/update";
    if (isUpdate && this.#prompts.size > 0) this.#remember(sessionId, lost);
    // what is lost in `initialize` is only logged
    const isSent = method !== "initialize" && method !== undefined;
    const told = (messages: readonly DialectMessage[], hasAnswers: boolean): DialectMessage[] =>
      messages.flatMap((each) => {
        if (isSent && each.method !== undefined) return this.#withNote(each, lost) ?? [];
        return hasAnswers && each.method === undefined ? this.#ended(each) : each;
      });
    const { role } = this.#options;
    return { toUs: told(toUs, role === "client"), toPeer: told(toPeer, role === "agent") };
  }

  #remember(sessionId: unknown, lost: readonly string[]): void {
    const turn = this.#turns.get(sessionId) ?? new Set();
    for (const what of lost) if (turn.size < maxNotes) turn.add(what);
    if (turn.size > 0) this.#turns.set(sessionId, turn);
  }

  /** Undefined for an update that must not be sent. */
  #withNote(message: DialectMessage, lost: readonly string[]): DialectMessage | undefined {
    const { method, params } = message;
    if (lost.length === 0 || !isObject(params)) return message;
    if (method === "session/update" && this.#options.losses === "strict") return undefined;
    const { update } = params;
    const noted = isObject(update) ? { ...params, update: withLost(update, lost) } : withLost(params, lost);
    return { ...message, params: noted };
  }

  /** The answer that ends a turn says what was lost in it. */
  #ended(answer: DialectMessage): DialectMessage {
    const { id, result } = answer;
    if (!this.#prompts.has(id)) return answer;
    const sessionId = this.#prompts.get(id);
    this.#prompts.delete(id);
    const lost = [...(this.#turns.get(sessionId) ?? []), ...this.#lost];
    this.#turns.delete(sessionId);
    return isObject(result) ? { ...answer, result: withLost(result, lost) } : answer;
  }
}
