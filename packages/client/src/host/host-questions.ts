// The questions of a session that have no answer yet: everything that needs a person.

import type { ElicitationResponse, Entry, PermissionRequest } from "@parley/acp";
import { OpenQuestions, optional } from "@parley/acp/jsonrpc";
import type { PermissionSubject } from "@parley/acp/model";
import type { Answers, HostQuestion } from "../conversation/session-link.ts";
import type { PermissionQuestion, PermissionReply } from "../gate/permission-question.ts";
import type { ElicitationQuestion } from "../managed/asker.ts";
import type { LoginCommand, LoginMethod, LoginVariable } from "../managed/login-method.ts";
import { GivenAnswers } from "./given-answers.ts";

interface Shown {
  readonly data: HostQuestion;
  answer(answer: Answers[keyof Answers]): void;
}

/** The kinds without what every question has. */
type Content = { [Kind in keyof Answers]: Omit<Extract<HostQuestion, { kind: Kind }>, "id"> }[keyof Answers];

export class HostQuestions {
  readonly #open: OpenQuestions<Shown>;
  readonly #given = new GivenAnswers();

  constructor(changed: () => void) {
    this.#open = new OpenQuestions(changed);
  }

  get list(): readonly HostQuestion[] {
    return this.#open.list.map(({ data }) => data);
  }

  /** For how long somebody was asked, until now. */
  get waitedMs(): number {
    return this.#open.waitedMs;
  }

  /** Resolves when the session has the answer as an entry, if it gets one. A question that is not open any more is no error. */
  async answer(id: string, answer: Answers[keyof Answers]): Promise<void> {
    const question = this.#open.list.find(({ data }) => data.id === id);
    question?.answer(answer);
    const { kind, toolCallId } = question?.data ?? {};
    if (kind === "permission" || kind === "elicitation") await this.#given.next(toolCallId);
  }

  heard(entry: Entry): void {
    this.#given.heard(entry);
  }

  /** The turn has ended: no answer comes any more. */
  turnEnded(): void {
    this.#given.end();
  }

  permission({ signal, ...question }: PermissionQuestion): Promise<PermissionReply> {
    const { sessionId, request } = question;
    const of = optional({ sessionId, toolCallId: toolCallOf(request) });
    return this.#ask<PermissionReply>(signal, undefined, { ...of, kind: "permission", question });
  }

  elicitation(
    asked: ElicitationQuestion,
    {
      signal,
      sessionId,
    }: { readonly signal?: AbortSignal | undefined; readonly sessionId?: string | undefined },
  ): Promise<ElicitationResponse> {
    const visited = asked.mode === "url" ? asked.completed : undefined;
    const over = visited !== undefined && signal !== undefined ? AbortSignal.any([signal, visited]) : signal;
    const { completed: _completed, ...question } = { completed: undefined, ...asked };
    return this.#ask<ElicitationResponse>(
      over,
      () => ({ action: visited?.aborted === true ? "accept" : "cancel" }),
      // as: a question without the signal of its visit
      { ...optional({ sessionId }), kind: "elicitation", question } as Content,
    );
  }

  login(methods: readonly LoginMethod[], signal: AbortSignal): Promise<string | undefined> {
    return this.#ask<string | undefined>(signal, undefined, { kind: "login", methods });
  }

  credential(variable: LoginVariable, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask<string | undefined>(signal, undefined, { kind: "credential", variable });
  }

  terminal(command: LoginCommand, signal: AbortSignal): Promise<number> {
    return this.#ask<number>(signal, () => 130, { kind: "terminal", command });
  }

  confirm(lines: readonly string[], ask: string, signal: AbortSignal): Promise<boolean> {
    return this.#ask<boolean>(signal, () => false, { kind: "confirm", lines, ask });
  }

  /** Nobody answers any more. */
  withdrawAll(): void {
    this.#open.abort();
    this.#given.end();
  }

  #ask<Answer extends Answers[keyof Answers]>(
    signal: AbortSignal | undefined,
    /** The answer if it is withdrawn. Default: undefined. */
    withdrawn: (() => Answer) | undefined,
    content: Content,
  ): Promise<Answer> {
    // as: where there is no other answer, undefined is one
    const none = withdrawn ?? (() => undefined as Answer);
    return this.#open.ask<Answer>(none, { signal }, ({ id, answer }) => ({
      data: { id, ...content } as HostQuestion, // as: the content of a question with its id
      answer: (given) => answer(given as Answer), // as: the command names the question, whose kind has this answer
    }));
  }
}

function toolCallOf(request: PermissionRequest | undefined): string | undefined {
  const { subject } = request ?? {};
  if (subject?.type !== "tool_call" || !("toolCall" in subject)) return undefined;
  // as: an unknown kind of subject has the same type of tag
  return (subject as Extract<PermissionSubject, { type: "tool_call" }>).toolCall.toolCallId;
}
