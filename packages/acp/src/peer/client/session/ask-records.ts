// Records the questions of a session: an entry when one is asked, and one when it is answered.

import { optional } from "../../../base/objects.ts";
import { anyObject, fields, type Shape, text } from "../../../base/shape.ts";
import type { IncomingRequest } from "../../../jsonrpc/incoming-request.ts";
import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../../../model/ask.ts";
import type { EntryBody } from "../../../model/entry.ts";
import { newId } from "../../base/new-id.ts";

/** A question that the agent has no answer to yet, as JSON. */
export interface AskState {
  readonly askId: string;
  /** The request of the agent that asks; absent if a policy does. */
  readonly request?: string;
  /** It has been given, and not been sent. */
  readonly answer?: Answer;
}

export const askShape: Shape = fields({ askId: text }, { request: text, answer: anyObject });

type Question = { readonly permission: PermissionRequest } | { readonly elicitation: ElicitationRequest };

type Given = { readonly permission: PermissionOutcome } | { readonly elicitation: ElicitationResponse };

interface Answer {
  readonly permission?: PermissionOutcome;
  readonly elicitation?: ElicitationResponse;
}

/** The request of the agent that asks. */
type Asking = Pick<IncomingRequest, "id" | "afterReply">;

export class AskRecords {
  readonly #record: (body: EntryBody) => void;
  readonly #open = new Map<string, AskState>();
  /** Those of the connection that this one goes on from, by their requests: they come again, and stand in the history already. */
  readonly #again = new Map<string, AskState>();

  constructor(record: (body: EntryBody) => void) {
    this.#record = record;
  }

  get state(): readonly AskState[] {
    return [...this.#open.values()];
  }

  /** Goes on with the questions of a state. What a policy asked for is withdrawn: it asks anew. */
  restore(state: readonly AskState[]): void {
    for (const ask of state) {
      if (ask.request !== undefined) this.#again.set(ask.request, ask);
      else this.#record({ kind: "answer", askId: ask.askId, permission: { outcome: "cancelled" } });
    }
  }

  /** The answer that was given before to a request that comes again. */
  given(asking: Asking): Answer | undefined {
    const known = this.#again.get(requestOf(asking) ?? "");
    if (known?.answer !== undefined) this.#keep(known, asking);
    return known?.answer;
  }

  /** Returns the id of the question. Without an id of a request, a policy asks. */
  asked(question: Question, asking: Partial<Asking>): string {
    const request = requestOf(asking);
    const known = request === undefined ? undefined : this.#again.get(request);
    const ask = known ?? { askId: newId(), ...optional({ request }) };
    this.#keep(ask, asking);
    if (known === undefined) this.#record({ kind: "ask", askId: ask.askId, ...question });
    return ask.askId;
  }

  answered(askId: string, answer: Given): void {
    const ask = this.#open.get(askId);
    if (ask?.request === undefined) this.#open.delete(askId);
    else this.#open.set(askId, { ...ask, answer });
    this.#record({ kind: "answer", askId, ...answer });
  }

  /** Until the agent has its answer. */
  #keep(ask: AskState, asking: Partial<Asking>): void {
    this.#open.set(ask.askId, ask);
    if (ask.request !== undefined) this.#again.delete(ask.request);
    asking.afterReply?.(() => this.#open.delete(ask.askId));
  }
}

/** An id may be a text or a number. */
function requestOf({ id }: Partial<Asking>): string | undefined {
  return id === undefined ? undefined : `${typeof id} ${id}`;
}
