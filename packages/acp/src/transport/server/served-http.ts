// One connection over Streamable HTTP: what is posted goes to the agent, what the agent says goes to the streams.

import { settledMethod } from "../../base/parley-extensions.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { idKey } from "../../jsonrpc/message-id.ts";
import { EventStreams } from "./event-streams.ts";
import { type Posted, refusal } from "./http-input.ts";
import { PlainEvents } from "./plain-events.ts";
import type { RemoteLimits, ServedRouting } from "./remote-options.ts";
import { RemoteTransport } from "./remote-transport.ts";

export interface ServedHttpOptions {
  readonly connectionId: string;
  readonly routing: ServedRouting;
  readonly limits: RemoteLimits;
  readonly graceMs: number;
  readonly heartbeatMs: number;
  readonly closeTimeoutMs: number;
  over(): void;
}

interface Envelope {
  readonly id?: unknown;
  readonly method?: unknown;
}

interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** Stands for a connection that is kept for ever. */
const longestGraceSeconds = 999_999_999;
const endedEarly = "the agent ended before it answered";

const accepted = () => new Response(null, { status: 202, headers: { "Cache-Control": "no-store" } });

export class ServedHttp {
  readonly transport: RemoteTransport<EventStreams>;
  readonly #options: ServedHttpOptions;
  /** The number of the last message that was taken, from a client that counts them. */
  #received = 0;
  /** Requests whose answers go into the response of their POST. */
  readonly #awaited = new Map<string, (answer: Answer | undefined) => void>();
  #isPlain = false;
  /** Answers that are being sent as events. */
  readonly #plainEvents = new Set<PlainEvents>();

  constructor(options: ServedHttpOptions) {
    this.#options = options;
    const { routing, limits, graceMs, heartbeatMs, closeTimeoutMs } = options;
    this.transport = new RemoteTransport(
      (host) =>
        new EventStreams(host, {
          limits,
          heartbeatMs,
          closeTimeoutMs,
          takes: (message, text) => this.#takes(message, text),
          streamOf: (message) => routing.streamOf(message),
          hasEnded: (session) => routing.hasEnded(session),
        }),
      graceMs,
      () => this.#over(),
    );
  }

  /** Whether the client has only posted so far, and was answered in the response. */
  get isPlain(): boolean {
    return this.#isPlain && !this.transport.wire.wasRead;
  }

  /** Whether the message may be for this connection although its POST does not name it. */
  mayTake(message: object): "own" | "perhaps" | undefined {
    if (this.transport.isOver || this.transport.wire.wasRead) return undefined;
    return this.#options.routing.isOwn(message) ? "own" : "perhaps";
  }

  /** The first message; its answer is the body of the response. */
  async open(posted: Posted, signal: AbortSignal): Promise<Response> {
    this.#options.routing.received(posted.message, undefined);
    const gone = () =>
      this.transport.end({ kind: "closed", message: "the client left before it was answered" });
    signal.addEventListener("abort", gone);
    const answer = await this.#ask(posted);
    signal.removeEventListener("abort", gone);
    if (answer === undefined)
      return refusal(503, this.transport.overFor ?? endedEarly, { "Retry-After": "1" });
    const { connectionId, graceMs } = this.#options;
    const response = json(answer.text, {
      "Acp-Connection-Id": connectionId,
      "Parley-Resume": String(Math.min(Math.ceil(graceMs / 1_000), longestGraceSeconds)),
    });
    if (answer.isError) this.transport.end({ kind: "closed", message: "the agent refused the client" });
    return response;
  }

  async post(posted: Posted, headers: Headers, isPlain: boolean): Promise<Response> {
    const { routing, limits } = this.#options;
    const numbered = headers.get("parley-message");
    if (numbered !== null && !/^[1-9]\d{0,14}$/.test(numbered))
      return refusal(400, "expected a number from 1 in Parley-Message");
    const promised = headers.get("parley-heartbeat");
    if (promised !== null && !/^[1-9]\d{0,6}$/.test(promised))
      return refusal(400, "expected a number of milliseconds in Parley-Heartbeat, at most 9,999,999");
    const release = this.transport.wire.hold();
    try {
      if (promised !== null) {
        this.transport.wire.promised(Number(promised));
        return accepted();
      }
      if (numbered !== null) this.transport.wire.usesExtension();
      // it was taken, but the client did not hear of it
      if (numbered !== null && Number(numbered) <= this.#received) return accepted();
      if (this.transport.heldChars > limits.maxQueuedBytes)
        return refusal(503, "the agent is busy; send it again later", { "Retry-After": "1" });
      const session = headers.get("acp-session-id") ?? undefined;
      const problem = routing.received(posted.message, isPlain ? sessionIn(posted.message) : session);
      if (problem !== undefined) return refusal(400, problem);
      if (numbered !== null) this.#received = Number(numbered);
      const { id, method }: Envelope = posted.message;
      if (method === settledMethod && id !== undefined) {
        // behind what the agent has said about the session
        const answer = { jsonrpc: "2.0", id, result: {} };
        this.transport.wire.send(answer, JSON.stringify(answer));
        return accepted();
      }
      if (!isPlain || id === undefined || method === undefined) {
        this.#deliver(posted);
        return accepted();
      }
      this.#isPlain = true;
      if (namesEvents(headers)) return this.#answerAsEvents(posted);
      const answer = await this.#ask(posted);
      return answer === undefined ? refusal(502, endedEarly) : json(answer.text);
    } finally {
      release();
    }
  }

  stream(headers: Headers): Response {
    const session = headers.get("acp-session-id") ?? undefined;
    const body = this.transport.wire.open(session, headers.get("last-event-id"));
    switch (body) {
      case "taken":
        return refusal(409, "this stream has a reader already");
      case "bad id":
        return refusal(400, "expected the id of an event in Last-Event-ID");
      case "too many":
        return refusal(429, "the connection has too many streams; close sessions");
      case "ended":
        return refusal(404, "another client has this session now; load or resume it to get it back");
      case "forgotten":
        return refusal(404, "what the client missed is not kept any more; open a new connection");
      default:
        return eventResponse(body);
    }
  }

  /** What the agent says about the session until it has answered comes first. */
  #answerAsEvents(posted: Posted): Response {
    const { maxQueuedBytes } = this.#options.limits;
    const { id }: Envelope = posted.message;
    const events = new PlainEvents(sessionIn(posted.message), maxQueuedBytes, () =>
      this.#plainEvents.delete(events),
    );
    this.#plainEvents.add(events);
    const error = { code: errorCodes.unavailable, message: endedEarly };
    void this.#ask(posted).then((answer) =>
      events.answer(answer?.text ?? JSON.stringify({ jsonrpc: "2.0", id, error })),
    );
    return eventResponse(events.body);
  }

  async #ask(posted: Posted): Promise<Answer | undefined> {
    if (this.transport.isOver) return undefined;
    const release = this.transport.wire.hold();
    const key = idKey(posted.message["id"]);
    const answer = new Promise<Answer | undefined>((resolve) => this.#awaited.set(key, resolve));
    this.#deliver(posted);
    try {
      return await answer;
    } finally {
      release();
    }
  }

  #deliver({ message, text }: Posted): void {
    this.transport.take(text.length, (sink) => sink.message(message, text));
  }

  /** Takes what the agent says to a client that does not read it on a stream. */
  #takes(message: object, text: string): boolean {
    const { id, method }: Envelope = message;
    if (id === undefined) return this.#tells(message, text);
    if (method !== undefined) return this.isPlain && this.#refuse(id);
    const key = idKey(id);
    const awaited = this.#awaited.get(key);
    if (awaited === undefined) return false;
    this.#awaited.delete(key);
    this.#options.routing.streamOf(message);
    awaited({ text, isError: "error" in message });
    return true;
  }

  /** Puts a notification into an answer that is being sent. */
  #tells(message: object, text: string): boolean {
    if (this.#plainEvents.size === 0) return false;
    const session = sessionIn(message);
    for (const events of this.#plainEvents) {
      if (session === undefined || events.session !== session) continue;
      events.send(text);
      return true;
    }
    return false;
  }

  /** Answers in the place of a client that cannot be asked. */
  #refuse(id: unknown): true {
    const message =
      "the client cannot be asked: it reads no event stream (it opens one with GET and the header Acp-Connection-Id)";
    const text = JSON.stringify({ jsonrpc: "2.0", id, error: { code: errorCodes.unavailable, message } });
    queueMicrotask(() => this.transport.take(text.length, (sink) => sink.message(JSON.parse(text), text)));
    return true;
  }

  #over(): void {
    for (const awaited of this.#awaited.values()) awaited(undefined);
    this.#awaited.clear();
    this.#options.over();
  }
}

function json(text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  });
}

function eventResponse(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store, no-transform",
      // proxies must not collect events
      "X-Accel-Buffering": "no",
    },
  });
}

/** Clients that know only POST must not be sent what they did not name: "*" is no name. */
function namesEvents(headers: Headers): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(headers.get("accept") ?? "");
}

function sessionIn({ params }: { readonly params?: unknown }): string | undefined {
  const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown }; // one field is looked for
  return typeof sessionId === "string" ? sessionId : undefined;
}
