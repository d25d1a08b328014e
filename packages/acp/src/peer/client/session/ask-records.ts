// Records the questions of a session: an entry when one is asked, and one when it is answered.

import { fields, type Shape, text } from "../../../base/shape.ts";
import type { RequestId } from "../../../jsonrpc/message-id.ts";
import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../../../model/ask.ts";
import type { EntryBody } from "../../../model/entry.ts";
import { newId } from "../../base/new-id.ts";

/** A question without an answer, as JSON. */
export interface AskState {
  readonly askId: string;
  /** The request of the agent that asks; absent if a policy does. */
  readonly request?: string;
}

export const askShape: Shape = fields({ askId: text }, { request: text });

type Question = { readonly permission: PermissionRequest } | { readonly elicitation: ElicitationRequest };
type Answer = { readonly permission: PermissionOutcome } | { readonly elicitation: ElicitationResponse };

export class AskRecords {
  readonly #record: (body: EntryBody) => void;
  readonly #open = new Map<string, AskState>();
  /** Those that the agent asked before the connection was put down: they are asked again, and stand in the history already. */
  readonly #again = new Map<string, string>();

  constructor(record: (body: EntryBody) => void) {
    this.#record = record;
  }

  get state(): readonly AskState[] {
    return [...this.#open.values()];
  }

  /** Goes on with the questions of a state. What a policy asked for is withdrawn: it asks anew. */
  restore(state: readonly AskState[]): void {
    for (const { askId, request } of state) {
      if (request !== undefined) this.#again.set(request, askId);
      else this.#record({ kind: "answer", askId, permission: { outcome: "cancelled" } });
    }
  }

  /** Returns the id of the question. `id`: that of the request of the agent, if it asks. */
  asked(question: Question, id?: RequestId): string {
    // an id may be a text or a number
    const request = id === undefined ? undefined : `${typeof id} ${id}`;
    const known = request === undefined ? undefined : this.#again.get(request);
    const askId = known ?? newId();
    this.#open.set(askId, request === undefined ? { askId } : { askId, request });
    if (request !== undefined) this.#again.delete(request);
    if (known === undefined) this.#record({ kind: "ask", askId, ...question });
    return askId;
  }

  answered(askId: string, answer: Answer): void {
    this.#open.delete(askId);
    this.#record({ kind: "answer", askId, ...answer });
  }
}
