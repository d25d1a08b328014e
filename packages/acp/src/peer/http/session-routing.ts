// Routes ACP messages over Streamable HTTP: finds the session of a message, and answers for a server that refuses one.

import { backgroundDeadline } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import { settledMethod, takenMethod } from "../../base/parley-extensions.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { idKey } from "../../jsonrpc/message-id.ts";
import type { HttpConnection, HttpRouting } from "../../transport/http/http-client.ts";
import type { HttpFailure } from "../../transport/http/http-failure.ts";
import type { PlainRouting } from "../../transport/http/plain-post.ts";
import { sessionOf } from "../../wire/decode.ts";
import type { MethodFacts } from "../../wire/method-row.ts";
import { methodTable } from "../../wire/methods.gen.ts";

export interface Envelope {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Asked {
  readonly effect: MethodFacts["session"];
  readonly session: string | undefined;
}

/** No agent has more open questions: one that has is refused by the connection. */
const maxQuestions = 65_536;
/** A server that does not answer at all is not waited for longer than this. */
const settleMs = 10_000;

export class SessionRouting implements HttpRouting {
  /** The agent's requests that are about a session, by id: our answer has to name it. */
  readonly #questions = new Map<string, string>();
  /** Our requests that begin, take up or end a session. */
  readonly #asked = new Map<string, Asked>();
  readonly #sessions = new Set<string>();
  /** Runs when the agent has answered the question that only asks whether it is read. */
  readonly #settling = new Map<string, () => void>();
  #settled = 0;

  sending(message: object): string | undefined {
    const { id, method, params }: Envelope = message;
    // a batch is about no session
    if (id === undefined && method === undefined) return undefined;
    if (method === undefined) {
      const key = idKey(id);
      const session = this.#questions.get(key);
      this.#questions.delete(key);
      return session;
    }
    const session = sessionOf(params);
    const effect = methodTable.get(method)?.session;
    if (id !== undefined && effect !== undefined && effect !== "about")
      this.#asked.set(idKey(id), { effect, session });
    return session;
  }

  takesUp(message: object): boolean {
    const { method }: Envelope = message;
    return methodTable.get(method)?.session === "attaches";
  }

  isTakingUp(session: string): boolean {
    for (const asked of this.#asked.values())
      if (asked.session === session && asked.effect === "attaches") return true;
    return false;
  }

  received(value: unknown, text: string, from: string | undefined, connection: HttpConnection): void {
    const message: Envelope = typeof value === "object" && value !== null ? value : {};
    if (message.id === undefined || message.id === null) {
      connection.deliver(value, text);
      return this.#noticed(message, connection);
    }
    const key = idKey(message.id);
    if (message.method !== undefined) {
      const session = sessionOf(message.params) ?? from;
      if (session !== undefined && this.#questions.size < maxQuestions) this.#questions.set(key, session);
      return connection.deliver(value, text);
    }
    const settled = this.#settling.get(key);
    if (settled !== undefined) return settled();
    const asked = this.#takeAsked(message.id);
    if (asked === undefined) return connection.deliver(value, text);
    const deliver = () => connection.deliver(value, text);
    if (message.error === undefined) this.#succeeded(asked, message.result, from, connection, deliver);
    else this.#failed(asked, connection, deliver);
  }

  refused(
    message: object,
    session: string | undefined,
    failure: HttpFailure,
    connection: HttpConnection,
  ): boolean {
    if (Array.isArray(message)) {
      const answers = message.filter(isRequest).map(({ id }) => answerTo(id, failure));
      for (const answer of answers) deliverOwn(connection, answer);
      return answers.length > 0;
    }
    const { id, method, result }: Envelope = message;
    if (isRequest(message)) {
      const key = idKey(id);
      const settled = this.#settling.get(key);
      const asked = this.#takeAsked(id);
      if (settled !== undefined) settled();
      else deliverOwn(connection, answerTo(id, failure));
      if (asked !== undefined) this.#failed(asked, connection, () => undefined);
      return true;
    }
    // optional by their names: nobody counts on them
    if (typeof method === "string") return method.startsWith("$/");
    // an answer that is too large for the server: the agent must not wait for it for ever
    if (failure.status !== 413 || result === undefined) return false;
    if (session !== undefined) this.#questions.set(idKey(id), session);
    connection.send(answerTo(id, failure));
    return true;
  }

  #takeAsked(id: unknown): Asked | undefined {
    // a server may repeat the id as a string
    const key = [idKey(id), String(id)].find((each) => this.#asked.has(each)) ?? "";
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    return asked;
  }

  #succeeded(
    { effect, session }: Asked,
    result: unknown,
    from: string | undefined,
    connection: HttpConnection,
    deliver: () => void,
  ): void {
    if (effect === "closes") {
      deliver();
      if (session !== undefined) this.#sessions.delete(session);
      return this.#tidy(session, connection);
    }
    const begun = effect === "opens" ? sessionOf(result) : session;
    if (begun === undefined) return deliver();
    this.#sessions.add(begun);
    connection.openStream(begun);
    if (effect === "attaches" && from !== begun && connection.canResume())
      return this.#deliverSettled(begun, connection, deliver);
    deliver();
    // one that was forked need not be open
    this.#tidy(session, connection);
  }

  #failed({ session }: Asked, connection: HttpConnection, deliver: () => void): void {
    deliver();
    this.#tidy(session, connection);
  }

  /** The server ends the stream of a session that another client has taken. */
  #noticed({ method, params }: Envelope, connection: HttpConnection): void {
    const session = method === takenMethod ? sessionOf(params) : undefined;
    if (session === undefined) return;
    this.#sessions.delete(session);
    this.#tidy(session, connection);
  }

  /** A session that is not open has no use for a stream, unless an answer is still to come on it. */
  #tidy(session: string | undefined, connection: HttpConnection): void {
    if (session === undefined || this.#sessions.has(session)) return;
    for (const asked of this.#asked.values()) if (asked.session === session) return;
    connection.closeStream(session);
  }

  /**
   * The history of a loaded session comes on its own stream and the answer to `session/load` on that of the connection,
   * so the answer may arrive first. A server of ours is asked for an answer on the session's stream, behind the history.
   * Then the history is over, and whoever loaded the session is told. With other servers the answer is its end.
   */
  #deliverSettled(session: string, connection: HttpConnection, deliver: () => void): void {
    this.#settled += 1;
    const id = `${settledMethod}-${this.#settled}`;
    const key = idKey(id);
    const settled = () => {
      clearTimeout(timer);
      if (this.#settling.delete(key)) deliver();
    };
    const timer = backgroundDeadline(settleMs, settled);
    this.#settling.set(key, settled);
    connection.send({ jsonrpc: "2.0", id, method: settledMethod, params: { sessionId: session } });
  }
}

/** For servers that answer each message in the response. */
export const plainRouting: PlainRouting = {
  isRequest: (message) => isRequest(message),
  failed: ({ id }: Envelope, failure) => answerTo(id, failure),
};

function isRequest(message: Envelope): boolean {
  return message.method !== undefined && message.id !== undefined;
}

function answerTo(id: unknown, { status, message, retryAfterMs }: HttpFailure): object {
  const data = {
    reason: status === 404 ? "session_not_found" : "http_status",
    status,
    ...optional({ retryAfter: retryAfterMs && Math.ceil(retryAfterMs / 1_000) }),
  };
  return { jsonrpc: "2.0", id, error: { code: errorCodes[kindOf(status)], message, data } };
}

function kindOf(status: number | undefined): keyof typeof errorCodes {
  switch (status) {
    case 403:
      return "permission_denied";
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 413:
      return "limit_exceeded";
    case 429:
      return "rate_limited";
    case 502:
    case 503:
    case 504:
      return "unavailable";
    default:
      return "internal_error";
  }
}

/** As if it had come from the other side. */
function deliverOwn(connection: HttpConnection, message: object): void {
  const text = JSON.stringify(message);
  connection.deliver(JSON.parse(text), text);
}
