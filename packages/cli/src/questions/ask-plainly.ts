// Asks the open questions of a session one after the other, line by line.

import type { Conversation, OpenQuestion } from "@parley/client/conversation";
import { chooseLogin, credential, terminalLogin } from "../agents/login-asker.ts";
import { askYesOrNo } from "../terminal/ask-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { askElicitation } from "./elicitation-questions.ts";
import { askPermission } from "./permission-question.ts";

export interface QuestionLines {
  /** Reads one line as an answer. Undefined when the input ends or the signal aborts. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Lets another program or function use the terminal. */
  suspend<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface PlainTerminal {
  readonly lines: QuestionLines;
  readonly paint: Paint;
  write(text: string): void;
}

/** Resolves when it has an answer, or needs none any more (`over`). */
export async function askPlainly(
  session: Pick<Conversation, "agent" | "cwd">,
  question: OpenQuestion,
  { lines, paint, write }: PlainTerminal,
  over: AbortSignal,
): Promise<void> {
  const questions = { ask: (text: string) => lines.ask(text, over), write };
  const { name, asker } = session.agent;
  const agent = question.from ?? asker;
  if (question.from !== undefined) write(`${paint("dim", `${question.from}, started by ${name}, asks:`)}\n`);
  switch (question.kind) {
    case "permission": {
      const source = { agent, cwd: session.cwd };
      return question.answer(await askPermission(question.question, source, questions, paint));
    }
    case "elicitation":
      return question.answer(await askElicitation(question.question, agent, questions, paint));
    case "login":
      return question.answer(await lines.suspend(() => chooseLogin(question.methods, name)));
    case "credential":
      return question.answer(await lines.suspend(() => credential(question.variable)));
    case "terminal":
      return question.answer(await lines.suspend(() => terminalLogin(question.command)));
    case "confirm": {
      write(`${question.lines.join("\n")}\n`);
      return question.answer(await askYesOrNo(question.ask, questions));
    }
    default:
      return question satisfies never;
  }
}

export interface QuestionTurnsOptions {
  /** Those without an answer, oldest first. */
  questions(): readonly OpenQuestion[];
  /** Resolves when the question has an answer, or needs none any more (`over`). */
  ask(question: OpenQuestion, over: AbortSignal): Promise<void>;
  /** It could not be asked. */
  failed(error: unknown): void;
  /** One was asked. */
  asked?(): void;
}

/** Asks one question at a time, and withdraws one that needs no answer any more. */
export class QuestionTurns {
  readonly #given: QuestionTurnsOptions;
  #asking: { readonly question: OpenQuestion; readonly over: AbortController } | undefined;

  constructor(given: QuestionTurnsOptions) {
    this.#given = given;
  }

  get isAsking(): boolean {
    return this.#asking !== undefined;
  }

  /** Called when the questions have changed. */
  next(): void {
    const open = this.#given.questions();
    if (this.#asking !== undefined) {
      // answered or withdrawn
      if (!open.includes(this.#asking.question)) this.#asking.over.abort();
      return;
    }
    const [question] = open;
    if (question === undefined) return;
    const over = new AbortController();
    this.#asking = { question, over };
    this.#given
      .ask(question, over.signal)
      .catch((error: unknown) => {
        this.#given.failed(error);
        declined(question);
      })
      .finally(() => {
        this.#asking = undefined;
        this.next();
        this.#given.asked?.();
      });
  }

  close(): void {
    this.#asking?.over.abort();
  }
}

/** What is asked, in a line. */
export function subjectOf(question: OpenQuestion): string {
  switch (question.kind) {
    case "permission":
      return safeLine(question.question.summary);
    case "elicitation":
      return safeLine(question.question.message);
    case "confirm":
      return question.ask;
    default:
      return "a login";
  }
}

/** The answer where nobody can be asked. */
export function declined(question: OpenQuestion): void {
  switch (question.kind) {
    case "permission":
    case "login":
    case "credential":
      return question.answer(undefined);
    case "elicitation":
      return question.answer({ action: "cancel" });
    case "terminal":
      return question.answer(1);
    case "confirm":
      return question.answer(false);
    default:
      return question satisfies never;
  }
}
