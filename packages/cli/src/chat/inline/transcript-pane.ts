// The transcripts of the sessions above the prompt: what is finished is printed, the rest is drawn.

import type { Screen } from "../../screen/screen.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { LiveSession, TurnSummary } from "../conversation/conversation.ts";
import { TranscriptFeed } from "../transcript/transcript-feed.ts";

export interface TranscriptPaneOptions {
  readonly screen: Screen;
  readonly isAnimated: boolean;
  readonly paint: Paint;
}

export class TranscriptPane {
  /** The lines that may still change. */
  open: readonly string[] = [];
  readonly #options: TranscriptPaneOptions;
  readonly #feeds = new Map<string, TranscriptFeed>();

  constructor(options: TranscriptPaneOptions) {
    this.#options = options;
  }

  /** Prints what is finished. */
  update(session: LiveSession, now: number): void {
    const { columns: width, rows } = this.#options.screen;
    const { printed, tail } = this.#feed(session).update(session.view, { width, rows, now });
    this.open = tail;
    if (printed.length > 0) this.#options.screen.print(printed);
  }

  /** Prints a sentence of ours, below what happened before it. */
  say(session: LiveSession, text: string, role: "dim" | "warning" | "error"): void {
    const { screen, paint } = this.#options;
    this.update(session, performance.now());
    screen.print(this.#feed(session).notice(text, screen.columns, (line) => paint(role, line)));
  }

  turnEnded(session: LiveSession, summary: TurnSummary): void {
    const { screen } = this.#options;
    this.open = [];
    screen.print(this.#feed(session).turnEnded(session.view, summary, screen.columns));
  }

  /** Prints everything as it is: no turn runs. */
  settle(session: LiveSession): void {
    const { screen } = this.#options;
    screen.print(this.#feed(session).settled(session.view, screen));
  }

  /** Another session is shown. */
  show(session: LiveSession): void {
    const { screen } = this.#options;
    this.open = [];
    screen.print(this.#feed(session).shown(session.view, session, screen));
  }

  #feed({ key, cwd }: LiveSession): TranscriptFeed {
    const known = this.#feeds.get(key);
    if (known !== undefined) return known;
    const { paint, isAnimated } = this.#options;
    const feed = new TranscriptFeed({ paint, cwd, isAnimated });
    this.#feeds.set(key, feed);
    return feed;
  }
}
