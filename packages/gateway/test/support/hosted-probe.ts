// A hosted agent whose processes are played, and clients of it over WebSocket.

import { once } from "node:events";
import type { TestContext } from "node:test";
import type { Transport } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { hostAgent, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";
import { until } from "./served-echo.ts";

export type Message = Readonly<Record<string, unknown>>;

/** A process that answers everything, says which one it is, and never answers a prompt. */
export class FakeProcess {
  readonly got: Message[] = [];
  isOver = false;
  readonly transport: Transport;
  /** Its end, which takes as long as the test says. */
  readonly gone: Promise<unknown>;
  readonly #inside: Transport;

  constructor(name: string, gone: Promise<unknown>) {
    this.gone = gone;
    const [outside, inside] = memoryPair();
    this.transport = outside;
    this.#inside = inside;
    inside.start({
      message: (value) => {
        const message = value as Message; // what the test sends
        this.got.push(message);
        const { id, method } = message;
        if (id === undefined || method === undefined || method === "session/prompt") return;
        if (JSON.stringify(message).includes("unloadable"))
          return inside.send({ jsonrpc: "2.0", id, error: { code: -32002, message: "unknown" } });
        const sessionId = method === "session/new" ? { sessionId: "s1" } : {};
        inside.send({ jsonrpc: "2.0", id, result: { name, ...sessionId } });
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => {
        this.isOver = true;
      },
    });
  }

  /** What it was asked to do, in order. */
  get asked(): unknown[] {
    return this.got.map(({ method }) => method);
  }

  say(message: Message): void {
    this.#inside.send({ jsonrpc: "2.0", ...message });
  }

  crash(): Promise<void> {
    return this.#inside.close();
  }
}

interface HostProbe {
  readonly maxProcesses?: number;
  readonly useClientFiles?: boolean;
  readonly graceMs?: number;
  /** The processes are gone when it resolves. */
  readonly lingering?: Promise<unknown>;
}

export async function host(t: TestContext, { lingering, graceMs, ...more }: HostProbe = {}) {
  const processes: FakeProcess[] = [];
  const hosted = hostAgent({
    start: async () => {
      const process = new FakeProcess(`p${processes.length}`, lingering ?? Promise.resolve());
      processes.push(process);
      return process;
    },
    ...more,
  });
  const gateway = await startGateway({ connect: hosted.connect, graceMs });
  t.after(() => gateway.close());
  /** A client, over a WebSocket. It is cut off by `socket.terminate()`. */
  const open = async (more: Readonly<Record<string, string>> = {}, protocols: string[] = []) => {
    const headers = { authorization: `Bearer ${gateway.token}`, ...more };
    const socket = new WebSocket(gateway.url.replace("http", "ws"), protocols, { headers });
    const peer = new Peer(socket);
    await once(socket, "open");
    return peer;
  };
  /** Cuts a client off. */
  const cut = async (peer: Peer) => {
    const before = gateway.connections.filter(({ isAttached }) => isAttached).length;
    peer.socket.terminate();
    const attached = () => gateway.connections.filter(({ isAttached }) => isAttached).length;
    await until(() => attached() < before, "a cut is noticed");
  };
  return { processes, hosted, gateway, open, cut };
}

export class Peer {
  readonly socket: WebSocket;
  readonly got: Message[] = [];
  readonly closed: Promise<unknown>;
  #id = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.got.push(JSON.parse(String(data))));
    this.closed = once(socket, "close");
  }

  send(message: Message): void {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  async ask(method: string, params: object = {}): Promise<Message> {
    const id = this.#id++;
    this.send({ id, method, params });
    return this.until((each) => each["id"] === id && each["method"] === undefined, `no answer to ${method}`);
  }

  /** What fits of what it got, now or later. */
  async until(fits: (message: Message) => boolean, problem: string): Promise<Message> {
    await until(() => this.got.some(fits), problem);
    return this.got.find(fits) ?? {};
  }
}
