// Names the messages of a session that have no id.

import { count, fields, flag, type Shape, text } from "../base/shape.ts";

/** How many messages of each kind. */
type Counts = Readonly<Record<string, number>>;

/** The names that a session has given, as JSON. */
export interface MessageNamesState {
  readonly mark: string;
  readonly counts: Counts;
  /** Absent while the first history comes. */
  readonly inHistory?: Counts;
  /** Present while a history may come. */
  readonly before?: Counts;
  readonly isFirst: boolean;
}

const countsShape: Shape = { type: "object", additionalProperties: count };

export const messageNamesShape: Shape = fields(
  { mark: text, counts: countsShape, isFirst: flag },
  { inHistory: countsShape, before: countsShape },
);

/**
 * One for each session of a connection, also when the session is closed and opened again. A message that came with a history
 * is called by its kind and number, so that every load gives it the same id. One that came live also has a random mark: no
 * other process may use the same id for another message. If it comes again with a history, it keeps its id.
 */
export class MessageNames {
  readonly #mark: string;
  /** How many messages of each kind have been named. */
  #counts = new Map<string, number>();
  /** How many of each kind came with the first history; undefined while that comes. */
  #inHistory: Map<string, number> | undefined = new Map();
  #before: Map<string, number> | undefined;
  #isFirst = true;

  /** `state`: goes on from there. */
  constructor(state?: MessageNamesState) {
    this.#mark = state?.mark ?? crypto.randomUUID().slice(0, 8);
    if (state === undefined) return;
    this.#counts = new Map(Object.entries(state.counts));
    this.#inHistory = state.inHistory && new Map(Object.entries(state.inHistory));
    this.#before = state.before && new Map(Object.entries(state.before));
    this.#isFirst = state.isFirst;
  }

  get state(): MessageNamesState {
    return {
      mark: this.#mark,
      counts: Object.fromEntries(this.#counts),
      ...(this.#inHistory && { inHistory: Object.fromEntries(this.#inHistory) }),
      ...(this.#before && { before: Object.fromEntries(this.#before) }),
      isFirst: this.#isFirst,
    };
  }

  next(kind: string): string {
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const isOld = this.#inHistory === undefined || number <= (this.#inHistory.get(kind) ?? 0);
    if (!isOld) this.#isFirst = false;
    // an agent that names only some of its messages must not hit upon the same
    return isOld ? `unnamed-${kind}-${number}` : `unnamed-${this.#mark}-${kind}-${number}`;
  }

  /** A history may come, from its beginning. */
  beginReplay(): void {
    this.#before = this.#counts;
    this.#counts = new Map();
    if (this.#isFirst) this.#inHistory = undefined;
  }

  /** It is over. Without one the numbers go on. */
  endReplay({ hasCome }: { readonly hasCome: boolean }): void {
    if (this.#before === undefined) return;
    if (!hasCome) this.#counts = this.#before;
    this.#before = undefined;
    this.#inHistory ??= new Map(this.#counts);
  }
}
