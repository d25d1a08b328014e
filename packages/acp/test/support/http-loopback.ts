// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// An HTTP server with one connection that the test controls. It reads no messages; the first POST opens the connection.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sink, Transport } from "../../src/jsonrpc/transport.ts";

export interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What a test may do in the place of the server. */
export interface LoopbackScript {
  /** Answers a request; false leaves it to the server. */
  readonly answer?: (request: SeenRequest, response: ServerResponse, server: Loopback) => boolean;
  /** Headers of the answer to the first POST. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A message that was accepted. */
  readonly message?: (message: Message, server: Loopback) => void;
}

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
}

export const connectionId = "connection-1";

export class Loopback {
  readonly seen: SeenRequest[] = [];
  readonly far: Transport;
  url = new URL("http://127.0.0.1");
  readonly #script: LoopbackScript;
  #moved = Promise.withResolvers<void>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #streams = new Map<string, ServerResponse>();
  /** Written before the stream was opened. */
  readonly #early = new Map<string, (string | Uint8Array)[]>();
  #sink: Sink | undefined;
  #started = Promise.withResolvers<void>();
  #isOver = false;

  constructor(script: LoopbackScript = {}) {
    this.#script = script;
    if (script.message !== undefined) this.#started.resolve();
    this.far = {
      start: (sink) => {
        this.#sink = sink;
        this.#started.resolve();
      },
      send: (message, text = JSON.stringify(message)) => {
        this.event(text);
        return true;
      },
      pause: () => undefined,
      resume: () => undefined,
      close: async () => {
        this.#sink = undefined;
        this.end();
      },
    };
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/acp`);
    return this;
  }

  /** Writes to a stream as it is; session "" is the connection. */
  write(bytes: string | Uint8Array, session = ""): void {
    if (this.#isOver) return;
    const stream = this.#streams.get(session);
    if (stream !== undefined) stream.write(bytes);
    else this.#early.set(session, [...(this.#early.get(session) ?? []), bytes]);
  }

  event(text: string, session = ""): void {
    const lines = text.split("\n").map((line) => `data: ${line}\n`);
    this.write(`${lines.join("")}\n`, session);
  }

  /** Answers a request of the client on a stream. */
  reply({ id }: Message, result: unknown, session = ""): void {
    this.event(JSON.stringify({ jsonrpc: "2.0", id, result }), session);
  }

  /** Resolves when the requests that were seen are as they should be. */
  async until(isTrue: (seen: readonly SeenRequest[]) => boolean): Promise<void> {
    while (!isTrue(this.seen)) await this.#moved.promise;
  }

  /** Ends one stream in order. */
  endStream(session = ""): void {
    this.#streams.get(session)?.end();
    this.#streams.delete(session);
  }

  /** Cuts one stream off, and nothing else. */
  cutStream(session = ""): void {
    this.#streams.get(session)?.destroy();
    this.#streams.delete(session);
  }

  /** The connection is over: its streams end, and nobody knows it any more. */
  end(): void {
    this.#isOver = true;
    for (const session of [...this.#streams.keys()]) this.endStream(session);
  }

  cut(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#started.resolve();
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    request.setEncoding("utf8");
    for await (const text of request) body += text;
    const seen = { method: request.method ?? "", headers: request.headers, body };
    this.seen.push(seen);
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
    if (this.#script.answer?.(seen, response, this)) return;
    if (seen.method === "GET") this.stream(seen, response);
    else if (seen.method === "DELETE") this.#delete(response);
    else await this.#post(seen, response);
  }

  /** Opens an event stream, with what was written already. */
  stream({ headers }: SeenRequest, response: ServerResponse, { flush = true } = {}): void {
    const session = String(headers["acp-session-id"] ?? "");
    if (this.#isOver && !this.#early.has(session)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (flush) response.flushHeaders();
    this.#streams.set(session, response);
    for (const bytes of this.#early.get(session) ?? []) response.write(bytes);
    this.#early.delete(session);
    if (this.#isOver) this.endStream(session);
  }

  async #post({ headers, body }: SeenRequest, response: ServerResponse): Promise<void> {
    if (headers["acp-connection-id"] === undefined) {
      response.writeHead(200, {
        "content-type": "application/json",
        "acp-connection-id": connectionId,
        ...this.#script.headers,
      });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id ?? 0, result: {} }));
    }
    await this.#started.promise;
    if (this.#isOver) return void response.writeHead(404).end();
    this.#sink?.message(JSON.parse(body), body);
    this.#script.message?.(JSON.parse(body), this);
    response.writeHead(202).end();
  }

  #delete(response: ServerResponse): void {
    response.writeHead(202).end();
    this.end();
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end({ kind: "closed" });
  }
}
