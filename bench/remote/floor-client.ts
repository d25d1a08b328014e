// The floor of a client: the `ws` package and node:http by hand, without checks.

import { Agent, type IncomingMessage, request } from "node:http";
import { WebSocket } from "ws";
import type { BenchClient } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";
import type { Address, Wire } from "./server-process.ts";

interface Incoming {
  readonly id?: number;
  readonly result?: unknown;
}

export async function connect({ url }: Address, wire: Wire): Promise<BenchClient> {
  const pending = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  let updates = 0;
  const receive = ({ id, result }: Incoming) => {
    if (id === undefined) {
      updates += 1;
      return;
    }
    pending.get(id)?.(result);
    pending.delete(id);
  };
  const { send, close } = wire === "ws" ? await openSocket(url, receive) : await openStream(url, receive);
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      lastId += 1;
      pending.set(lastId, resolve);
      send(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }));
    });
  if (wire === "ws") await ask("initialize", initializeParams());
  await ask("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => ask("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => ask("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close,
  };
}

interface Open {
  send(text: string): void;
  close(): unknown;
}

async function openSocket(url: string, receive: (message: Incoming) => void): Promise<Open> {
  const socket = new WebSocket(url.replace(/^http/, "ws"));
  socket.on("message", (data: Buffer) => receive(JSON.parse(data.toString())));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return {
    send: (text) => socket.send(text),
    close: () => new Promise<void>((resolve) => socket.once("close", () => resolve()).close()),
  };
}

async function openStream(url: string, receive: (message: Incoming) => void): Promise<Open> {
  const agent = new Agent({ keepAlive: true });
  const call = (method: string, headers: Record<string, string>, body?: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { method, headers, agent }, resolve).on("error", reject).end(body);
    });
  const json = { "content-type": "application/json" };
  const first = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams() };
  const opened = await call("POST", json, JSON.stringify(first));
  opened.resume();
  const name = { "acp-connection-id": String(opened.headers["acp-connection-id"]) };
  const events = await call("GET", name);
  let rest = "";
  events.setEncoding("utf8").on("data", (chunk: string) => {
    const pieces = (rest + chunk).split("\n\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) receive(JSON.parse(piece.slice("data: ".length)));
  });
  events.on("error", () => undefined);
  return {
    send: (text) => {
      // the last one may be cut off by the close
      call("POST", { ...json, ...name }, text).then(
        (response) => response.resume(),
        () => undefined,
      );
    },
    close: () => {
      events.destroy();
      agent.destroy();
    },
  };
}
