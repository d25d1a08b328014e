// The questions of a session that have no answer yet.

import type { ElicitationResponse } from "@parley/acp";
import { OpenQuestions, optional } from "@parley/acp/jsonrpc";
import type { ElicitationQuestion, LoginCommand, LoginMethod, LoginVariable } from "@parley/client";
import type { PermissionQuestion, PermissionReply } from "@parley/client/policy";
import type { OpenQuestion } from "./conversation.ts";

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

export class ShownQuestions {
  readonly #open: OpenQuestions<OpenQuestion>;

  constructor(changed: () => void) {
    this.#open = new OpenQuestions(changed);
  }

  get list(): readonly OpenQuestion[] {
    return this.#open.list;
  }

  /** For how long somebody was asked, until now. */
  get waitedMs(): number {
    return this.#open.waitedMs;
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
    this.#open.abort();
  }

  #ask<Answer>(
    { signal, from }: Over,
    /** The answer if it is withdrawn. Default: undefined. */
    withdrawn: (() => Answer) | undefined,
    make: (facts: Facts, answer: (answer: Answer) => void) => OpenQuestion,
  ): Promise<Answer> {
    // as: where there is no other answer, undefined is one
    const none = withdrawn ?? (() => undefined as Answer);
    return this.#open.ask(none, { signal }, ({ id, answer }) => make({ id, ...optional({ from }) }, answer));
  }
}
