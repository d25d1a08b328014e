// A gateway with an agent in this process, and clients that send what they like.

import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { agent } from "@parley/acp";
import { type Gateway, type GatewayOptions, startGateway } from "@parley/gateway";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  /** Beside the token; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} },
});

export class ServedEcho {
  readonly gateway: Gateway;
  /** Connections that reached the agent. */
  readonly count: () => number;

  constructor(gateway: Gateway, count: () => number) {
    this.gateway = gateway;
    this.count = count;
  }

  get host(): string {
    return `127.0.0.1:${this.gateway.port}`;
  }

  #headers(call: Call): OutgoingHttpHeaders {
    const given = { authorization: `Bearer ${this.gateway.token}`, ...call.headers };
    const type = call.body === undefined ? {} : { "content-type": "application/json" };
    return Object.fromEntries(
      Object.entries({ ...type, ...given }).filter(([, value]) => value !== undefined),
    );
  }

  /** One request over HTTP/1.1, on its own socket. */
  call(call: Call = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { method = "POST", path = "/acp", body } = call;
      const request = httpRequest(
        {
          host: "127.0.0.1",
          port: this.gateway.port,
          method,
          path,
          headers: this.#headers(call),
          agent: false,
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("error", reject);
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
            request.destroy();
          });
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  }

  /** One request over HTTP/2 without TLS. */
  async call2(call: Call = {}): Promise<Answer> {
    const { method = "POST", path = "/acp", body } = call;
    const session = connectHttp2(`http://${this.host}`);
    session.on("error", () => undefined);
    try {
      const stream = session.request({ ":method": method, ":path": path, ...this.#headers(call) });
      stream.end(body);
      const [head] = await once(stream, "response");
      let text = "";
      for await (const chunk of stream.setEncoding("utf8")) text += chunk;
      return { status: head[":status"], headers: head, body: text };
    } finally {
      session.destroy();
    }
  }

  /** Sends bytes, and returns what comes back until the server closes the socket. */
  raw(bytes: string | Buffer, localAddress?: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect({
        host: "127.0.0.1",
        port: this.gateway.port,
        ...(localAddress !== undefined && { localAddress }),
      });
      let text = "";
      socket.setEncoding("latin1").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
      socket.write(bytes);
    });
  }

  /** A good client: opens a connection and ends it. */
  async goodClient(): Promise<number> {
    const { status, headers } = await this.call({ body: initialize });
    if (status !== 200) return status;
    const id = String(headers["acp-connection-id"]);
    const { status: ended } = await this.call({ method: "DELETE", headers: { "acp-connection-id": id } });
    return ended === 202 ? 200 : ended;
  }
}

/** Ends with the test. */
export async function serveEcho(t: TestContext, options: Partial<GatewayOptions> = {}): Promise<ServedEcho> {
  let count = 0;
  const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
  const gateway = await startGateway({
    connect(transport) {
      count++;
      return echo.connect(transport);
    },
    ...options,
  });
  t.after(() => gateway.close());
  return new ServedEcho(gateway, () => count);
}

/** What nothing reports is looked for again and again. */
export async function until(isTrue: () => boolean, message: string): Promise<void> {
  const end = performance.now() + 10_000;
  while (!isTrue()) {
    assert.ok(performance.now() < end, message);
    await new Promise(setImmediate);
  }
}
