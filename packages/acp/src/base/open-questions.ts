// Questions that wait for an answer. Each ends once: it is answered, fails or is withdrawn.

import { deadline } from "./deadline.ts";

/** A question that waits for an answer. */
export interface OpenQuestion<Answer> {
  /** The id of the question in this process. */
  readonly id: string;
  /** Aborts when the question is withdrawn. */
  readonly signal: AbortSignal;
  /** Answers the question. Only the first call has an effect. It has none once the question was withdrawn. */
  answer(answer: Answer): void;
  /** Ends the question with an error, because it could not be asked. */
  fail(error: unknown): void;
}

/**
 * How long a question may wait.
 *
 * @inline
 */
interface OpenQuestionOptions {
  /** Withdraws the question when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Withdraws the question after this many milliseconds. Default: never. */
  readonly ms?: number | undefined;
}

interface Waiting<Shown> {
  /** Empty until it has been shown. */
  shown: readonly Shown[];
  withdraw(): void;
}

let count = 0;

/**
 * The questions that wait for an answer in one place, such as a session or a window. `Shown` is what the place keeps for each question.
 *
 * @example
 * import { OpenQuestions } from "@parley/acp/jsonrpc";
 *
 * const open = new OpenQuestions<{ readonly text: string; answer(yes: boolean): void }>();
 * const answered = open.ask(
 *   () => false,
 *   { ms: 60_000 },
 *   ({ answer }) => ({ text: "Continue?", answer }),
 * );
 * open.list[0]?.answer(true);
 * console.log(await answered);
 */
export class OpenQuestions<Shown = unknown> {
  readonly #changed: () => void;
  #open: readonly Waiting<Shown>[] = [];
  #isRefusing = false;
  #cancels = 0;
  #waitedMs = 0;
  #askedSince = 0;

  /** @param changed - Called when a question was asked, answered or withdrawn. */
  constructor(changed: () => void = () => undefined) {
    this.#changed = changed;
  }

  /** What `show` returned for each open question, oldest first. */
  get list(): readonly Shown[] {
    return this.#open.flatMap(({ shown }) => shown);
  }

  /** How often `abort` was called. */
  get cancels(): number {
    return this.#cancels;
  }

  /** For how long at least one question was open, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#open.length === 0 ? 0 : performance.now() - this.#askedSince);
  }

  /**
   * Asks a question.
   *
   * @param withdrawn - Returns the answer if the question is withdrawn.
   * @param options - When it is withdrawn.
   * @param show - Shows the question, and returns what `list` has for it.
   */
  ask<Answer>(
    withdrawn: () => Answer,
    { signal, ms = Number.POSITIVE_INFINITY }: OpenQuestionOptions,
    show: (question: OpenQuestion<Answer>) => Shown,
  ): Promise<Answer> {
    if (this.#isRefusing || signal?.aborted) return Promise.resolve(withdrawn());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const over = new AbortController();
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", withdraw);
      const { waitedMs } = this;
      this.#open = this.#open.filter((each) => each.withdraw !== withdraw);
      if (this.#open.length === 0) this.#waitedMs = waitedMs;
      settle();
      this.#changed();
    };
    const withdraw = (): void => {
      end(() => resolve(withdrawn()));
      over.abort();
    };
    const timer = deadline(ms, withdraw);
    signal?.addEventListener("abort", withdraw, { once: true });
    // before it is shown: who is asked may withdraw everything at once
    const waiting: Waiting<Shown> = { shown: [], withdraw };
    if (this.#open.length === 0) this.#askedSince = performance.now();
    this.#open = [...this.#open, waiting];
    try {
      const shown = show({
        id: `question-${++count}`,
        signal: over.signal,
        answer: (answer) => end(() => resolve(answer)),
        fail: (error) => end(() => reject(error)),
      });
      if (isOver) return promise;
      waiting.shown = [shown];
    } catch (error) {
      end(() => reject(error));
      return promise;
    }
    this.#changed();
    return promise;
  }

  /** Withdraws all open questions. */
  abort(): void {
    this.#cancels++;
    for (const { withdraw } of this.#open) withdraw();
  }

  /** Whether further questions are withdrawn at once. */
  get isRefusing(): boolean {
    return this.#isRefusing;
  }

  /** Until `accept` is called, withdraws each further question at once. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Allows questions again, after `refuse`. */
  accept(): void {
    this.#isRefusing = false;
  }
}

/**
 * Asks a question with a handler. If the question is withdrawn, it is answered at once, even if the handler has not returned.
 *
 * @param questions - The open questions, to which this one is added.
 * @param options - When it is withdrawn.
 * @param withdrawn - The answer if the question is withdrawn.
 * @param handler - Answers the question. The signal aborts when the question is withdrawn.
 *
 * @example
 * import { askedBy, OpenQuestions } from "@parley/acp/jsonrpc";
 *
 * const open = new OpenQuestions<undefined>();
 * const answer = askedBy(open, { ms: 1_000 }, "nobody", async () => "somebody");
 * console.log(open.list.length, await answer);
 */
export function askedBy<Answer>(
  questions: OpenQuestions<undefined>,
  options: OpenQuestionOptions,
  withdrawn: Answer,
  handler: (signal: AbortSignal) => Promise<Answer> | Answer,
): Promise<Answer> {
  return questions.ask(
    () => withdrawn,
    options,
    ({ signal, answer, fail }) => {
      void (async () => handler(signal))().then(answer, fail);
      return undefined;
    },
  );
}
