// Esc, Ctrl-C and Enter: stopping the turn, forcing it, going on, leaving.

import type { ChatFace } from "./chat-face.ts";

/** A second press within this time leaves. */
const againMs = 3_000;
/** A second press within this time forces. */
const forceMs = 10_000;
/** A second Esc within this time opens the list of prompts. */
const rewindMs = 1_500;
/** Gone when the turn has ended. */
export const stopping = "stopping; press Esc again to force it";

export class TurnKeys {
  readonly #face: ChatFace;
  #leavesUntil = 0;
  #rewindsUntil = 0;
  #stoppedAt = Number.NEGATIVE_INFINITY;

  constructor(face: ChatFace) {
    this.#face = face;
  }

  /** A single Ctrl-C never leaves: it may be meant to copy a selection. */
  interrupt(now: number): void {
    const { composer, session } = this.#face;
    if (composer.text !== "") return composer.clear();
    if (this.stop(now)) return;
    if (now < this.#leavesUntil) return this.#face.leave();
    this.#leavesUntil = now + againMs;
    const kept = session.historyId === undefined ? "" : "; the session is kept";
    this.#face.hint(`press Ctrl-C again to leave${kept}`);
  }

  /** Returns whether there was something to stop. */
  stop(now: number): boolean {
    const { session } = this.#face;
    if (session.turn === undefined) {
      // a command of the user
      if (session.runsCommand) session.cancel();
      return session.runsCommand;
    }
    if (session.turn.isCancelling && now - this.#stoppedAt < forceMs) {
      this.#face.hint("ending the agent; the session goes on with your next prompt");
      this.#face.attempt(session.force());
      return true;
    }
    this.#stoppedAt = now;
    session.cancel();
    this.#face.hint(stopping);
    return true;
  }

  /** Esc with nothing to stop, at an empty prompt. Returns whether it is the second one. */
  rewinds(now: number): boolean {
    const { session, composer } = this.#face;
    const { prompts, branches, phase } = session;
    const hasNone = prompts.length === 0 && branches?.from === undefined;
    if (phase !== "ready" || composer.text !== "" || hasNone) return false;
    const isSecond = now < this.#rewindsUntil;
    this.#rewindsUntil = isSecond ? 0 : now + rewindMs;
    if (!isSecond) this.#face.hint("press Esc again to go back to an earlier prompt");
    return isSecond;
  }

  /** Enter at what does not go on by itself: an agent that has ended, prompts that wait since a stop. */
  goOn(): boolean {
    const { session, composer } = this.#face;
    const { phase, turn, queue } = session;
    if (phase === "crashed" || phase === "failed") {
      this.#face.attempt(session.restart());
      // what is written is sent then
      return composer.isEmpty;
    }
    if (!composer.isEmpty || turn !== undefined || phase !== "ready") return false;
    const [first] = queue;
    if (first === undefined) return false;
    this.#face.attempt(
      session.unqueue(first.id).then((input) => {
        if (input !== undefined) session.send(input);
      }),
    );
    return true;
  }
}
