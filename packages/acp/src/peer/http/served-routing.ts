// Routes ACP messages on the server's side of Streamable HTTP: which stream a message belongs on, and which session a
// POST has to name.

import { takenMethod } from "../../base/parley-extensions.ts";
import { defaultConnectionLimits } from "../../jsonrpc/connection-options.ts";
import { idKey, idProblem } from "../../jsonrpc/message-id.ts";
import type { RemoteProtocol } from "../../transport/server/remote-connections.ts";
import type { ServedRouting } from "../../transport/server/remote-options.ts";
import type { MethodFacts } from "../../wire/method-row.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import { type Envelope, sessionOf } from "./session-routing.ts";

interface Asked {
  readonly facts: MethodFacts | undefined;
  readonly session: string | undefined;
  /** It takes up a session that another client had taken. */
  readonly wasTaken: boolean;
}

const { maxIdLength, maxInFlight } = defaultConnectionLimits;

export const acpProtocol: RemoteProtocol = {
  opens: (message) => envelope(message).method === "initialize",
  routing: () => new AcpServedRouting(),
};

class AcpServedRouting implements ServedRouting {
  /** The client's requests that are not answered. */
  readonly #asked = new Map<string, Asked>();
  /** The agent's requests that are about a session, by id: the answer has to name it. */
  readonly #questions = new Map<string, string>();
  readonly #sessions = new Set<string>();
  /** Those that another client has now: nothing more comes on their streams. */
  readonly #taken = new Set<string>();

  received(message: object, named: string | undefined): string | undefined {
    const { id, method, params } = envelope(message);
    // what waits for an answer is kept here
    const long = typeof id === "string" ? idProblem(id, "any", maxIdLength) : undefined;
    if (long !== undefined) return long;
    if (method !== undefined && id !== undefined && this.#asked.size >= maxInFlight)
      return `expected at most ${maxInFlight} requests without an answer; wait for some`;
    const key = idKey(id);
    const session = method === undefined ? this.#questions.get(key) : sessionOf(params);
    if (session !== undefined && named === undefined)
      return "expected Acp-Session-Id, because the message is about a session";
    if (session !== undefined && named !== session)
      return "Acp-Session-Id and the session of the message differ; send the same id in both";
    if (method === undefined) this.#questions.delete(key);
    else if (id !== undefined) {
      const facts = methodTable.get(method);
      const wasTaken = session !== undefined && facts?.session === "attaches" && this.#taken.delete(session);
      this.#asked.set(key, { facts, session: named ?? session, wasTaken });
    }
    return undefined;
  }

  streamOf(message: object): string | undefined {
    const { id, method, params, result } = envelope(message);
    if (method !== undefined) {
      const session = sessionOf(params);
      if (id !== undefined && session !== undefined) this.#questions.set(idKey(id), session);
      if (session !== undefined && method === takenMethod) this.#taken.add(session);
      return session;
    }
    const key = idKey(id);
    const asked = this.#asked.get(key);
    if (asked === undefined) return undefined;
    this.#asked.delete(key);
    const effect = asked.facts?.session;
    const opened =
      effect === "opens" || effect === "attaches" ? (sessionOf(result) ?? asked.session) : undefined;
    if (opened !== undefined && result !== undefined) this.#sessions.add(opened);
    if (effect === "closes" && asked.session !== undefined && result !== undefined)
      this.#sessions.delete(asked.session);
    if (asked.wasTaken && asked.session !== undefined && result === undefined) this.#taken.add(asked.session);
    const isElsewhere = asked.facts?.isAnsweredToConnection === true || this.hasEnded(asked.session);
    return isElsewhere ? undefined : asked.session;
  }

  hasEnded(session: string | undefined): boolean {
    return session !== undefined && this.#taken.has(session);
  }

  isOwn(message: object): boolean {
    const session = sessionOf(envelope(message).params);
    return session !== undefined && this.#sessions.has(session);
  }
}

function envelope(message: unknown): Envelope {
  return typeof message === "object" && message !== null ? message : {};
}
