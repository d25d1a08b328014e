// A prompt that waits its turn, and may be sent more than once.

import type { ClientSession, Meta, Outcome, Prompt } from "@parley/acp";
import type { PromptContent } from "./live-options.ts";
import type { RecoveryCounts } from "./recover.ts";

/** A prompt on its way, as its sender sees it. */
export interface LivePrompt {
  readonly content: PromptContent;
  readonly isSent: boolean;
  /**
   * How the work ended, after everything that was tried. A cancel is an outcome, and so is an error of the agent. Rejects
   * when there is no answer: the agent has died and could not be brought back, or wants a login.
   */
  readonly outcome: Promise<Outcome>;
  /** Ends the work on it, or withdraws it while it waits. */
  cancel(): void;
}

export class QueuedPrompt implements LivePrompt {
  readonly content: PromptContent;
  readonly outcome: Promise<Outcome>;
  readonly counts: RecoveryCounts = { pauses: 0, timeouts: 0, crashes: 0, takenUp: 0, logins: 0 };
  readonly #options: { readonly meta?: Meta };
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #controller = new AbortController();
  readonly #withdraw: (prompt: QueuedPrompt) => void;
  #sent: Prompt | undefined;

  constructor(
    content: PromptContent,
    options: { readonly meta?: Meta },
    withdraw: (prompt: QueuedPrompt) => void,
  ) {
    this.content = content;
    this.#options = options;
    this.#withdraw = withdraw;
    this.outcome = this.#outcome.promise;
    // who only listens to updates must not be killed by it
    this.outcome.catch(() => undefined);
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cancel(): void {
    if (this.signal.aborted) return;
    this.#controller.abort();
    this.#sent?.cancel();
    this.#withdraw(this);
  }

  /** An agent that does not end what was cancelled is `stuck`, and whoever waits waits no longer. */
  async sendTo(session: ClientSession, cancelTimeoutMs: number, stuck: () => void): Promise<Outcome> {
    const sent = session.prompt(this.content, this.#options);
    this.#sent = sent;
    let timer: NodeJS.Timeout | undefined;
    const given = Promise.withResolvers<Outcome>();
    const cancelled = () => {
      timer = setTimeout(() => {
        given.resolve({ stopReason: "cancelled" });
        stuck();
      }, cancelTimeoutMs);
    };
    this.signal.addEventListener("abort", cancelled, { once: true });
    try {
      return await Promise.race([sent.outcome, given.promise]);
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", cancelled);
    }
  }

  end(outcome: Outcome): void {
    this.#outcome.resolve(outcome);
  }

  fail(error: Error): void {
    this.#outcome.reject(error);
  }
}
