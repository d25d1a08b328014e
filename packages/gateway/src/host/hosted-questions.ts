// The open questions of an agent to its client. Another client can be asked again, under another id.

import { idKey } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import { type Message, sessionOfMessage } from "./hosted-sessions.ts";

export interface Question {
  readonly message: Message;
  /** As the agent wrote it. */
  readonly id: unknown;
  readonly sessionId: string | undefined;
  /** The id that the client was given; undefined while nobody is asked. */
  askedAs?: unknown;
}

export class HostedQuestions {
  /** By the id of the agent. */
  readonly #open = new Map<string, Question>();

  get all(): readonly Question[] {
    return [...this.#open.values()];
  }

  add(message: Message, id: unknown): Question {
    const question: Question = { message, id, sessionId: sessionOfMessage(message) };
    this.#open.set(idKey(id), question);
    return question;
  }

  /** The question that a client was asked under this id. */
  askedAs(id: unknown): Question | undefined {
    return this.all.find(({ askedAs }) => askedAs !== undefined && idKey(askedAs) === idKey(id));
  }

  /** The question that the agent takes back. */
  withdrawn({ params }: Message): Question | undefined {
    return isObject(params) ? this.#open.get(idKey(params["requestId"])) : undefined;
  }

  remove({ id }: Question): void {
    this.#open.delete(idKey(id));
  }
}

/**
 * Whether another client can be asked the same. A terminal belongs to the client that was asked, and a command must
 * not be started twice.
 */
export function canBeAskedAgain({ message, sessionId }: Question): boolean {
  return sessionId !== undefined && !String(message["method"]).startsWith("terminal/");
}
