// The questions of a session that have no answer yet.

import type { ElicitationResponse } from "@parley/acp";
import type { ElicitationQuestion, LoginCommand, LoginMethod, LoginVariable } from "@parley/client";
import type { PermissionQuestion, PermissionReply } from "@parley/client/policy";
import type { OpenQuestion } from "./conversation.ts";

interface Asked {
  readonly question: OpenQuestion;
  withdraw(): void;
}

/** What is known about every question. */
interface Facts {
  readonly id: string;
  readonly from?: string;
}

/** When a question needs no answer any more. */
interface Over {
  readonly signal?: AbortSignal | undefined;
  /** The subagent that asks. */
  readonly from?: string | undefined;
}

let count = 0;

export class ShownQuestions {
  readonly #changed: () => void;
  #asked: readonly Asked[] = [];
  #waitedMs = 0;
  #askedSince = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get list(): readonly OpenQuestion[] {
    return this.#asked.map(({ question }) => question);
  }

  /** For how long somebody was asked, until now. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#asked.length === 0 ? 0 : performance.now() - this.#askedSince);
  }

  permission(question: PermissionQuestion, from?: string): Promise<PermissionReply> {
    return this.#ask<PermissionReply>(
      { signal: question.signal, from },
      undefined,
      (facts, answer): OpenQuestion => ({ ...facts, kind: "permission", question, answer }),
    );
  }

  elicitation(question: ElicitationQuestion, over: Over): Promise<ElicitationResponse> {
    const signal =
      question.mode === "url" && over.signal !== undefined
        ? AbortSignal.any([over.signal, question.completed])
        : over.signal;
    const visited = question.mode === "url" ? question.completed : undefined;
    return this.#ask<ElicitationResponse>(
      { ...over, signal },
      () => ({ action: visited?.aborted === true ? "accept" : "cancel" }),
      (facts, answer): OpenQuestion => ({ ...facts, kind: "elicitation", question, answer }),
    );
  }

  login(methods: readonly LoginMethod[], signal: AbortSignal): Promise<string | undefined> {
    return this.#ask<string | undefined>(
      { signal },
      undefined,
      (facts, answer): OpenQuestion => ({ ...facts, kind: "login", methods, answer }),
    );
  }

  credential(variable: LoginVariable, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask<string | undefined>(
      { signal },
      undefined,
      (facts, answer): OpenQuestion => ({ ...facts, kind: "credential", variable, answer }),
    );
  }

  terminal(command: LoginCommand, signal: AbortSignal): Promise<number> {
    return this.#ask<number>(
      { signal },
      () => 130,
      (facts, answer): OpenQuestion => ({ ...facts, kind: "terminal", command, answer }),
    );
  }

  confirm(lines: readonly string[], ask: string, signal: AbortSignal): Promise<boolean> {
    return this.#ask<boolean>(
      { signal },
      () => false,
      (facts, answer): OpenQuestion => ({ ...facts, kind: "confirm", lines, ask, answer }),
    );
  }

  /** Nobody answers any more. */
  withdrawAll(): void {
    for (const { withdraw } of [...this.#asked]) withdraw();
  }

  #ask<Answer>(
    { signal, from }: Over,
    /** The answer if it is withdrawn. Default: undefined. */
    withdrawn: (() => Answer) | undefined,
    make: (facts: Facts, answer: (answer: Answer) => void) => OpenQuestion,
  ): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    // as: where there is no other answer, undefined is one
    const none = withdrawn ?? (() => undefined as Answer);
    if (signal?.aborted) return Promise.resolve(none());
    const withdraw = () => end(none());
    const end = (answer: Answer): void => {
      if (!this.#asked.includes(asked)) return;
      signal?.removeEventListener("abort", withdraw);
      const { waitedMs } = this;
      this.#asked = this.#asked.filter((each) => each !== asked);
      if (this.#asked.length === 0) this.#waitedMs = waitedMs;
      resolve(answer);
      this.#changed();
    };
    const id = `question-${++count}`;
    const question = make({ id, ...(from === undefined ? {} : { from }) }, end);
    const asked: Asked = { question, withdraw };
    signal?.addEventListener("abort", withdraw, { once: true });
    if (this.#asked.length === 0) this.#askedSince = performance.now();
    this.#asked = [...this.#asked, asked];
    this.#changed();
    return promise;
  }
}
