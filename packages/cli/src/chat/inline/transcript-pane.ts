// The transcripts of the sessions above the prompt: what is finished is printed, the rest is drawn.

import type { Conversation, TurnSummary } from "@parley/client/conversation";
import type { Screen } from "../../screen/screen.ts";
import type { Paint } from "../../terminal/paint.ts";
import { TranscriptFeed } from "../transcript/transcript-feed.ts";
import { firstLine } from "./first-line.ts";

export interface TranscriptPaneOptions {
  readonly screen: Screen;
  readonly isAnimated: boolean;
  /** Its colours may change. */
  readonly paint: Paint;
}

export class TranscriptPane {
  /** The lines that may still change. */
  open: readonly string[] = [];
  /** Whether anything stands above the lines that may change. */
  hasPrinted = false;
  /** Whether something is left for the next frame. */
  isBehind = false;
  readonly #options: TranscriptPaneOptions;
  readonly #feeds = new Map<string, TranscriptFeed>();
  /** Whether the first line is printed, or another session was shown. */
  #hasBegun = false;
  /** A session that was chosen and has nothing to show yet: it may turn out that it cannot be opened. */
  #chosen: Conversation | undefined;
  /** The session whose end is on the screen, and how much of it. */
  #onScreen: { readonly session: Conversation; readonly version: number } | undefined;

  constructor(options: TranscriptPaneOptions) {
    this.#options = options;
  }

  /** Prints what is finished, as far as a frame has time for it. The agent waits until all is drawn. */
  update(session: Conversation, now: number): void {
    if (!this.#begun(session)) return;
    const { columns: width, rows } = this.#options.screen;
    const { printed, tail, isBehind } = this.#feed(session).update(session.view, { width, rows, now });
    this.open = tail;
    this.isBehind = isBehind;
    this.#onScreen = { session, version: session.view.version };
    session.holdOutput(isBehind);
    this.#print(printed);
  }

  /** The first line says what is known when the agent is there; what it replays before follows it. */
  #begun(session: Conversation): boolean {
    if (this.#chosen === session) {
      if (isEmpty(session)) return false;
      this.#reveal(session);
    }
    if (this.#hasBegun) return true;
    if (session.phase === "starting") return false;
    this.#hasBegun = true;
    const { screen, paint } = this.#options;
    if (session.phase === "ready")
      this.#print(this.#feed(session).own(firstLine(session, screen.columns, paint)));
    return true;
  }

  /** Prints a sentence of ours, below what happened before it. */
  say(session: Conversation, text: string, role: "dim" | "warning" | "error"): void {
    const { screen, paint } = this.#options;
    if (this.#chosen === session) this.#reveal(session);
    this.update(session, performance.now());
    // the prompt that it is about stands above it
    if (session.turn !== undefined) this.#print(this.#feed(session).prompted(session.view, screen.columns));
    this.#print(this.#feed(session).notice(text, screen.columns, (line) => paint(role, line)));
  }

  turnEnded(session: Conversation, summary: TurnSummary): void {
    const { screen } = this.#options;
    this.#begun(session);
    this.open = [];
    this.#print(this.#feed(session).turnEnded(session.view, summary, screen.columns));
  }

  /** Prints everything as it is: no turn runs. */
  settle(session: Conversation): void {
    const { screen } = this.#options;
    this.#begun(session);
    this.#print(this.#feed(session).settled(session.view, screen));
  }

  /** Another session is shown. What is on the screen already is not printed again. */
  show(session: Conversation): void {
    this.#hasBegun = true;
    this.open = [];
    this.#chosen = isEmpty(session) ? session : undefined;
    if (this.#chosen !== undefined) return;
    const { session: before, version } = this.#onScreen ?? {};
    if (before !== session || version !== session.view.version) this.#reveal(session);
  }

  #reveal(session: Conversation): void {
    this.#chosen = undefined;
    this.#print(this.#feed(session).shown(session.view, session, this.#options.screen));
  }

  #print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.hasPrinted = true;
    this.#options.screen.print(lines);
  }

  #feed({ key, cwd }: Conversation): TranscriptFeed {
    const known = this.#feeds.get(key);
    if (known !== undefined) return known;
    const { paint, isAnimated } = this.#options;
    const feed = new TranscriptFeed({ paint, cwd, isAnimated });
    this.#feeds.set(key, feed);
    return feed;
  }
}

/** Whether it has not even begun: its agent starts. */
function isEmpty({ phase, view }: Conversation): boolean {
  return phase === "starting" && view.seq === 0;
}
