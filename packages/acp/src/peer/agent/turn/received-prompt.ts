// A prompt of the client from its request to its answer.

import { optional } from "../../../base/objects.ts";
import type { PromptOp, PromptPolicy } from "../../../edition/agent-edition.ts";
import { keepsWhenIdle, type SteeringOutcome } from "../../../edition/vendor-extensions.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { ContentBlock, Meta } from "../../../model/content.ts";
import type { PromptResult } from "../../../model/update.ts";
import type { Inbox, InboxMessage } from "./turn.ts";

export interface ReceivedPrompt {
  readonly prompt: readonly ContentBlock[];
  /** `_meta` of the request. */
  readonly _meta?: Meta;
  readonly messageId: string;
  /** The message is part of the conversation: of a turn that it began, or of one that was running. */
  inserted(beginsTurn: boolean): void;
  /** The work on it has ended. */
  ended(outcome: PromptResult): void;
  /** It could not become part of the conversation. */
  refused(error: RequestError): void;
  /** It was cancelled before it became part of the conversation. */
  withdrawn(): void;
  /** The turn that it was for has ended without it. Without this function it becomes a turn of its own. */
  left?(): void;
}

/** A message for the turn that runs, which is answered when the turn has taken it. */
export function steeringPrompt(
  { prompt, _meta }: PromptOp,
  messageId: string,
  resolve: (result: { outcome: SteeringOutcome; reason?: string }) => void,
  reject: (error: unknown) => void,
): ReceivedPrompt {
  return {
    prompt,
    ...optional({ _meta }),
    messageId,
    inserted: (beginsTurn) => resolve({ outcome: beginsTurn ? "startedNewTurn" : "injected" }),
    ended: () => undefined,
    refused: reject,
    withdrawn: () => reject(new RequestError("cancelled", "cancelled before it was accepted")),
    ...(keepsWhenIdle(_meta)
      ? { left: () => resolve({ outcome: "promptRequired", reason: "noRunningTurn" }) }
      : {}),
  };
}

/** Answers the request when the version says so: when the message is inserted, or when the work has ended. */
export function receivedPrompt(
  { prompt, _meta }: PromptOp,
  messageId: string,
  policy: PromptPolicy,
  resolve: (result: object) => void,
  reject: (error: unknown) => void,
): ReceivedPrompt {
  const ended = (outcome: PromptResult): void => {
    try {
      resolve(policy.ended(outcome));
    } catch (error) {
      reject(error);
    }
  };
  return {
    prompt,
    ...optional({ _meta }),
    messageId,
    inserted: () => policy.answersAtInsertion && resolve(policy.inserted(messageId)),
    ended: policy.answersAtInsertion ? () => undefined : ended,
    refused: reject,
    withdrawn: () => {
      if (policy.answersAtInsertion)
        reject(new RequestError("cancelled", "cancelled before it was accepted"));
      else ended({ stopReason: "cancelled" });
    },
  };
}

export class PromptInbox implements Inbox {
  readonly #taken: (prompt: ReceivedPrompt) => void;
  #waiting: ReceivedPrompt[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(taken: (prompt: ReceivedPrompt) => void) {
    this.#taken = taken;
  }

  get size(): number {
    return this.#waiting.length;
  }

  take(): InboxMessage | undefined {
    const prompt = this.#waiting.shift();
    if (prompt !== undefined) this.#taken(prompt);
    return prompt;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<InboxMessage> {
    for (;;) {
      for (let message = this.take(); message !== undefined; message = this.take()) yield message;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** False when the turn takes no more. */
  deliver(prompt: ReceivedPrompt): boolean {
    if (this.#closed) return false;
    this.#waiting.push(prompt);
    this.#wake?.();
    return true;
  }

  /** False when it is not waiting here. */
  withdraw(prompt: ReceivedPrompt): boolean {
    const at = this.#waiting.indexOf(prompt);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Takes the prompts out that were not taken. */
  withdrawAll(): ReceivedPrompt[] {
    const left = this.#waiting;
    this.#waiting = [];
    return left;
  }

  /** Takes no more, and returns the prompts that were not taken. */
  close(): ReceivedPrompt[] {
    this.#closed = true;
    const left = this.withdrawAll();
    this.#wake?.();
    return left;
  }
}
