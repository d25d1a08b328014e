// Tells once of each silence of an agent while it works on a prompt.

import type { ManagedProcess } from "./managed-process.ts";

/** A silence is reported `quietMs` after the last entry; while the agent is not read, it cannot be heard. */
export class SilenceWatch {
  readonly #process: Pick<ManagedProcess, "isPaused" | "options">;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(process: Pick<ManagedProcess, "isPaused" | "options">) {
    this.#process = process;
  }

  /** Begins anew: the prompt has been sent, or an entry has come. */
  heard(): void {
    if (this.#isOver) return;
    const { quietMs = 30_000, onEvent } = this.#process.options;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#process.isPaused) this.heard();
      else onEvent?.({ kind: "quiet", ms: quietMs });
    }, quietMs);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
