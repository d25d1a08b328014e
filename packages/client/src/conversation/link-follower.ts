// Keeps a tail of a session host through cuts of the link, and sends commands until they have an outcome.

import { ConnectionError } from "@parley/acp";
import type {
  CommandContent,
  CommandKind,
  CommandOf,
  OutcomeOf,
  SessionLink,
  Tail,
  TailEvent,
} from "./session-link.ts";

/** A link that was cut is tried again after so long, then after twice as long, up to the longest. */
const shortestPauseMs = 20;
const longestPauseMs = 5_000;

export class LinkFollower {
  readonly #link: SessionLink;
  readonly #listener: (event: Exclude<TailEvent, { kind: "cut" }>) => void;
  #cursor: string | undefined;
  #tail: Tail | undefined;
  #pauseMs = shortestPauseMs;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isCut = false;
  #hasLeft = false;
  /** Commands that wait for the link. */
  #waiting: (() => void)[] = [];

  /** `cursor`: where the first tail begins. */
  constructor(
    link: SessionLink,
    cursor: string | undefined,
    listener: (event: Exclude<TailEvent, { kind: "cut" }>) => void,
  ) {
    this.#cursor = cursor;
    this.#link = link;
    this.#listener = listener;
  }

  /** Begins, or begins again after a cut. */
  follow(): void {
    // events may come before `tail` returns
    const tail = this.#link.tail(this.#cursor, (event) => this.#event(event));
    if (this.#hasLeft) tail.stop();
    else this.#tail = tail;
  }

  hold(isBehind: boolean): void {
    this.#tail?.hold(isBehind);
  }

  leave(): void {
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    this.#tail?.stop();
    this.#goOn();
  }

  /** A command that a cut has caught is sent again with the same key. */
  async submit<Kind extends CommandKind>(
    kind: Kind,
    content: CommandContent<Kind>,
    key: string = crypto.randomUUID(),
  ): Promise<OutcomeOf<Kind>> {
    // as: a kind with its content and a key is a command
    const command = { ...content, kind, key } as unknown as CommandOf<Kind>;
    for (;;) {
      try {
        // its outcome must not come before what it changed
        if (this.#isCut) await this.#linkIsBack();
        return await this.#link.submit(command);
      } catch (error) {
        if (!(error instanceof ConnectionError) || error.kind !== "closed" || this.#hasLeft) throw error;
        await this.#linkIsBack();
      }
    }
  }

  /** The outcome was lost, or the command: the tail says when the link is back. */
  #linkIsBack(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isCut) this.#waiting.push(resolve);
      else setTimeout(resolve, shortestPauseMs);
    });
  }

  #event(event: TailEvent): void {
    if (this.#hasLeft) return;
    if (event.kind === "cut") return this.#again();
    if (event.kind === "reset") this.#cursor = undefined;
    else this.#cursor = event.cursor ?? this.#cursor;
    this.#isCut = false;
    this.#pauseMs = shortestPauseMs;
    this.#listener(event);
    this.#goOn();
  }

  #again(): void {
    this.#isCut = true;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.follow();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  #goOn(): void {
    if (this.#waiting.length > 0) for (const go of this.#waiting.splice(0)) go();
  }
}
