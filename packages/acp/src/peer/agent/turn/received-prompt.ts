// A prompt of the client from its request to its answer.

import { optional } from "../../../base/objects.ts";
import type { PromptPolicy } from "../../../edition/agent-edition.ts";
import type { PromptOp } from "../../../edition/agent-ops.ts";
import { RequestError, rpcCodes } from "../../../jsonrpc/errors.ts";
import type { ContentBlock, Meta } from "../../../model/content.ts";
import type { Outcome } from "../../../model/update.ts";
import { newId } from "../../base/new-id.ts";

export interface ReceivedPrompt {
  readonly prompt: readonly ContentBlock[];
  /** `_meta` of the request. */
  readonly meta?: Meta;
  readonly messageId: string;
  /** The message is part of the conversation. */
  inserted(): void;
  /** The work on it has ended. */
  ended(outcome: Outcome): void;
  /** It could not become part of the conversation. */
  refused(error: RequestError): void;
  /** It was cancelled before it became part of the conversation. */
  withdrawn(): void;
}

/** Answers the request when the version says so: when the message is inserted, or when the work has ended. */
export function receivedPrompt(
  { prompt, meta }: PromptOp,
  policy: PromptPolicy,
  resolve: (result: object) => void,
  reject: (error: unknown) => void,
): ReceivedPrompt {
  const messageId = newId();
  const ended = (outcome: Outcome): void => {
    try {
      resolve(policy.ended(outcome));
    } catch (error) {
      reject(error);
    }
  };
  return {
    prompt,
    ...optional({ meta }),
    messageId,
    inserted: () => policy.answersAtInsertion && resolve(policy.inserted(messageId)),
    ended: policy.answersAtInsertion ? () => undefined : ended,
    refused: reject,
    withdrawn: () => {
      if (policy.answersAtInsertion)
        reject(new RequestError(rpcCodes.cancelled, "cancelled before it was accepted"));
      else ended({ stopReason: "cancelled" });
    },
  };
}
