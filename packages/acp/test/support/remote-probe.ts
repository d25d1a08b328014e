// A remoteServer() with an agent, asked without a network.

import { agent } from "../../src/index.ts";
import { type RemoteServer, type RemoteServerOptions, remoteServer } from "../../src/server.ts";

export const address = "http://localhost/acp";

/** Says each word of a prompt, and asks for permission before the word "ask". */
export const talker = () =>
  agent({
    name: "talker",
    version: "1.0.0",
    async prompt(turn) {
      for (const word of turn.text.split(" ")) {
        const isAllowed = word !== "ask" || (await turn.requestPermission("Go on?")) !== undefined;
        await turn.say(isAllowed ? `${word} ` : "no ");
      }
    },
  });

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Plain requests to a server. */
export class RemoteProbe {
  readonly server: RemoteServer;
  connectionId = "";
  #id = 0;

  constructor(options: Partial<RemoteServerOptions> = {}) {
    const app = talker();
    this.server = remoteServer({
      connect: (transport) => app.connect(transport),
      closeTimeoutMs: 20,
      ...options,
    });
  }

  async ask(method: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
    const response = await this.server.fetch(
      new Request(address, { method, headers, ...(body !== undefined && { body }) }),
    );
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  post(message: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const body = typeof message === "string" ? message : JSON.stringify(message);
    return this.ask("POST", { "content-type": "application/json", ...headers }, body);
  }

  request(
    method: string,
    params: unknown = {},
  ): { jsonrpc: "2.0"; id: number; method: string; params: unknown } {
    this.#id++;
    return { jsonrpc: "2.0", id: this.#id, method, params };
  }

  /** Opens a connection. */
  async initialize(headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await this.post(this.request("initialize", { protocolVersion: 1 }), headers);
    this.connectionId = reply.headers.get("acp-connection-id") ?? "";
    return reply;
  }

  get names(): Record<string, string> {
    return { "acp-connection-id": this.connectionId };
  }

  /** Opens a stream. */
  async stream(headers: Record<string, string> = {}): Promise<EventReader> {
    const response = await this.server.fetch(
      new Request(address, { headers: { accept: "text/event-stream", ...this.names, ...headers } }),
    );
    return new EventReader(response);
  }
}

export class EventReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  #text = "";

  constructor(response: Response) {
    this.response = response;
    // a decoder of the standard does, only its type differs
    this.#reader = response.body?.pipeThrough(new TextDecoderStream() as never).getReader() as never;
  }

  get status(): number {
    return this.response.status;
  }

  /** The next event; undefined at the end. */
  async next(): Promise<{ id: string; data: Record<string, unknown> } | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
        const id = lines.find((line) => line.startsWith("id: "))?.slice(4) ?? "";
        if (data.length > 0) return { id, data: JSON.parse(data.join("\n")) };
        continue;
      }
      const { done = true, value = "" } = (await this.#reader?.read()) ?? {};
      if (done) return undefined;
      this.#text += value;
    }
  }

  async cancel(): Promise<void> {
    await this.#reader?.cancel();
  }
}
