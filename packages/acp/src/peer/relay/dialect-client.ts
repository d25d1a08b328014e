// Makes a client that speaks a dialect fit an agent that understands less: no credentials, and sessions are loaded with their place.

import { isObject, optional } from "../../base/objects.ts";
import { credentialsKey, storedCwdKey } from "../../base/parley-extensions.ts";
import { type Dialect, type DialectTransport, dialectOf, understands } from "../../edition/dialect.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { Sink, Transport } from "../../jsonrpc/transport.ts";
import { wrapSink, wrapTransport } from "../../transport/wrap-transport.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

interface Place {
  readonly cwd: string;
  readonly additionalDirectories?: unknown;
}

/**
 * The messages of the client, in the shapes of version 1. `agentDialect` is what the agent speaks: nothing changes that it
 * understands.
 */
export function dialectClient(
  client: Transport,
  agentDialect: () => Dialect | undefined,
  log: Log,
): DialectTransport {
  const between = new DialectClient(client, agentDialect, log);
  const wrapped = wrapTransport(client, {
    start: (sink) => between.start(sink),
    send: (message, text) => between.send(message, text),
  });
  return Object.defineProperty(wrapped as DialectTransport, "dialect", { get: () => dialectOf(client) }); // by this
}

class DialectClient {
  readonly #client: Transport;
  readonly #agentDialect: () => Dialect | undefined;
  readonly #log: Log;
  #sink: Sink | undefined;
  /** Where sessions are, as far as this connection has seen it. */
  readonly #places = new Map<string, Place>();
  /** Where the session of a request will be, by the id of the request. */
  readonly #opening = new Map<unknown, Place>();
  /** Loads that wait for a list of sessions, by the id of our request for it. */
  readonly #waiting = new Map<unknown, Message>();
  #lists = 0;

  constructor(client: Transport, agentDialect: () => Dialect | undefined, log: Log) {
    this.#client = client;
    this.#agentDialect = agentDialect;
    this.#log = log;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#client.start(wrapSink(sink, { message: (value, text) => this.#received(value, text, sink) }));
  }

  send(message: object, text?: string): boolean {
    const { id, method, result } = message as Message;
    if (id === undefined || method !== undefined) return this.#client.send(message, text);
    const load = this.#waiting.get(id);
    if (load !== undefined) {
      this.#waiting.delete(id);
      this.#listed(load, isObject(result) ? result : {});
      return true;
    }
    const place = this.#opening.get(id);
    this.#opening.delete(id);
    const sessionId = isObject(result) ? result["sessionId"] : undefined;
    if (place !== undefined && typeof sessionId === "string") this.#places.set(sessionId, place);
    return this.#client.send(message, text);
  }

  #received(value: unknown, text: string, sink: Sink): void {
    const message: Message = isObject(value) ? value : {};
    const { method, params } = message;
    if (!isObject(params)) return sink.message(value, text);
    const dialect = this.#agentDialect();
    if (method === "session/new" && typeof params["cwd"] === "string")
      this.#opening.set(message.id, placeOf(params));
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    if (method === "authenticate" && credentialsKey in meta && !understands(dialect, credentialsKey)) {
      this.#log("warn", "lost in translation", {
        lost: ["the credentials of a login: the agent speaks no dialect, and has no place for them"],
      });
      return this.#give(withParams(message, withoutKey(params, credentialsKey)));
    }
    const hasPlace = meta[storedCwdKey] !== true || understands(dialect, storedCwdKey);
    if (method !== "session/load" || hasPlace) return sink.message(value, text);
    const place = this.#places.get(String(params["sessionId"]));
    if (place === undefined) this.#list(message, undefined);
    else this.#load(message, place);
  }

  #load(message: Message, place: Place): void {
    const params = withoutKey(message.params ?? {}, storedCwdKey);
    this.#give(withParams(message, { ...params, ...place }));
  }

  /** Asks the agent as if the client did. */
  #list(load: Message, cursor: string | undefined): void {
    const id = `parley-relay:${++this.#lists}`;
    this.#waiting.set(id, load);
    this.#give({ jsonrpc: "2.0", id, method: "session/list", params: optional({ cursor }) });
  }

  #listed(
    load: Message,
    { sessions, nextCursor }: { readonly sessions?: unknown; readonly nextCursor?: unknown },
  ): void {
    const sessionId = load.params?.["sessionId"];
    const found = (Array.isArray(sessions) ? sessions : []).find(
      (each: unknown) => isObject(each) && each["sessionId"] === sessionId && typeof each["cwd"] === "string",
    ) as Place | undefined; // checked just above
    // later: the agent's message is still being handled
    if (found !== undefined) return queueMicrotask(() => this.#load(load, placeOf(found)));
    if (typeof nextCursor === "string") return queueMicrotask(() => this.#list(load, nextCursor));
    const message =
      "session/load: the working directory of this session is not known: it was not opened here, and the agent does not list it; open a new session";
    const { code, data } = new RequestError("session_not_found", message, {
      data: { reason: "session_not_found", sessionId },
    });
    this.#client.send({ jsonrpc: "2.0", id: load.id, error: { code, message, data } });
  }

  #give(message: object): void {
    this.#sink?.message(message, JSON.stringify(message));
    this.#sink?.idle();
  }
}

function placeOf(given: object): Place {
  const { cwd, additionalDirectories } = given as Place; // the caller has looked at it
  return { cwd, ...optional({ additionalDirectories }) };
}

function withParams(message: Message, params: object): object {
  return { ...message, params };
}

/** The params with custom data without this key. */
function withoutKey(
  params: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> {
  const { _meta, ...rest } = params;
  const { [key]: _, ...meta } = isObject(_meta) ? _meta : {};
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
