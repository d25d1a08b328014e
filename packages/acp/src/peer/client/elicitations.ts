// Shows the forms and URLs of an agent, and knows which URLs are not complete yet.

import { optional } from "../../base/objects.ts";
import { askedBy } from "../../base/open-questions.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { metaOf } from "../../edition/wire-fields.ts";
import { callSafely } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { ElicitationResponse } from "../../model/ask.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { ConnectedSession } from "./connected-session.ts";

type Definition = Pick<ClientDefinition, "elicit" | "elicitationCompleted">;

export class Elicitations {
  readonly #definition: Definition;
  readonly #modes: readonly string[];
  readonly #log: Log;
  /** URL elicitations that are not complete yet. */
  readonly #open = new Set<string>();

  constructor(definition: Definition, modes: readonly string[] = ["form", "url"], log: Log) {
    this.#definition = definition;
    this.#modes = modes;
    this.#log = log;
  }

  /** The ids of URL elicitations that are not complete yet. */
  get open(): readonly string[] {
    return [...this.#open];
  }

  restore(ids: readonly string[]): void {
    for (const id of ids) this.#open.add(id);
  }

  /** `known` is the request of the agent; undefined for an unknown mode. */
  async answer(
    known: ReturnType<ClientEdition["elicitation"]>,
    request: IncomingRequest,
    sessionOf: (sessionId: string) => ConnectedSession | undefined,
  ): Promise<object> {
    const { elicit } = this.#definition;
    if (elicit === undefined) throw RequestError.methodNotFound("elicitation/create");
    if (known === undefined || !this.#modes.includes(known.ask.mode)) {
      const message = `this client offers these modes of elicitation: ${this.#modes.join(", ")}`;
      throw RequestError.invalidParams(message, "/mode");
    }
    const { ask, sessionId, requestId } = known;
    const session = sessionId === undefined ? undefined : sessionOf(sessionId);
    const given = session?.asks.given(request)?.elicitation;
    if (given !== undefined) return given;
    const askId = session?.asks.asked({ elicitation: ask }, request);
    if (ask.mode === "url") this.#open.add(ask.elicitationId);
    const cancelled: ElicitationResponse = { action: "cancel" };
    const handle = (signal: AbortSignal) =>
      elicit.call(this.#definition, ask, { session, signal, ...optional({ requestId }) });
    let answer: ElicitationResponse = cancelled;
    try {
      answer =
        session === undefined
          ? await handle(request.signal)
          : await askedBy(session.questions, { signal: request.signal }, cancelled, handle);
    } finally {
      // no flow was started
      if (ask.mode === "url" && answer.action !== "accept") this.#open.delete(ask.elicitationId);
      if (askId !== undefined) session?.asks.answered(askId, { elicitation: answer });
    }
    return answer;
  }

  /** The agent reports that the user has finished at the URL. */
  completed(notice: { readonly elicitationId: string }): void {
    const { elicitationId } = notice;
    // unknown, or over already (C44)
    if (!this.#open.delete(elicitationId)) return;
    callSafely(
      () => this.#definition.elicitationCompleted?.(elicitationId, metaOf(notice)),
      (error) => this.#log("error", "elicitationCompleted failed", { error }),
    );
  }
}
