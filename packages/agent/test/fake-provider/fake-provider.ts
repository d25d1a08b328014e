// A model provider on the loopback interface: real HTTP, scripted answers, recorded requests.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The same for all requests of one connection. */
  readonly clientPort: number | undefined;
  /** The decoded body: tests look into it as they like. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
  readonly body: any;
}

/** One request and the means to answer it, well or badly. */
export interface Exchange {
  readonly request: FakeRequest;
  /** Resolves when the client has gone, or has read everything. */
  readonly closed: Promise<"complete" | "gone">;
  json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  text(status: number, body: string, contentType: string): void;
  /** Begins a stream of events. */
  open(headers?: Readonly<Record<string, string>>): void;
  /** Resolves when it has been given to the network. */
  write(bytes: string | Uint8Array): Promise<void>;
  end(): void;
  /** Cuts the connection without the end of the body. */
  cut(): void;
}

export type Answer = (exchange: Exchange, index: number) => void | Promise<void>;

export interface FakeProvider {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Asserted by tests: errors of the scripts themselves. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

/** Each request gets the next answer; the last one goes on for ever. */
export async function fakeProvider(...answers: readonly Answer[]): Promise<FakeProvider> {
  const requests: FakeRequest[] = [];
  const faults: unknown[] = [];
  const server = createServer((message, response) => {
    void (async () => {
      const request = await readRequest(message);
      const index = requests.push(request) - 1;
      const answer = answers[Math.min(index, answers.length - 1)];
      await answer?.(exchangeOf(request, response), index);
    })().catch((error: unknown) => faults.push(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(message: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: message.headers,
    clientPort: message.socket.remotePort,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function exchangeOf(request: FakeRequest, response: ServerResponse): Exchange {
  const closed = new Promise<"complete" | "gone">((resolve) => {
    response.once("close", () => resolve(response.writableFinished ? "complete" : "gone"));
  });
  const text = (status: number, body: string, headers: Readonly<Record<string, string>>): void => {
    response.writeHead(status, headers);
    response.end(body);
  };
  return {
    request,
    closed,
    json: (status, body, headers = {}) =>
      text(status, JSON.stringify(body), { "content-type": "application/json", ...headers }),
    text: (status, body, contentType) => text(status, body, { "content-type": contentType }),
    open(headers = {}) {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        ...headers,
      });
      response.flushHeaders();
    },
    write: (bytes) =>
      new Promise((resolve, reject) => response.write(bytes, (error) => (error ? reject(error) : resolve()))),
    end: () => response.end(),
    cut: () => response.destroy(),
  };
}

/** A whole stream at once. */
export function streamed(events: readonly string[]): Answer {
  return (exchange) => {
    exchange.open();
    void exchange.write(events.join(""));
    exchange.end();
  };
}

/** The same in pieces of so many bytes, wherever that cuts: in a key, in a character, between CR and LF. */
export function streamedInPieces(events: readonly string[], size: number): Answer {
  return async (exchange) => {
    exchange.open();
    const bytes = Buffer.from(events.join(""));
    for (let at = 0; at < bytes.length; at += size) await exchange.write(bytes.subarray(at, at + size));
    exchange.end();
  };
}

export function failed(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (exchange) => exchange.json(status, body, headers);
}

/** One server-sent event. */
export function sse(data: unknown, event?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
