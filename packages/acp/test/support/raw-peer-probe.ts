// A client or an agent whose messages the test writes, for relays.

import type { Transport } from "../../src/jsonrpc/transport.ts";
import { relay } from "../../src/peer/relay/relay.ts";
import type { RelayOptions } from "../../src/peer/relay/relay-options.ts";
import { memoryPair } from "../../src/transport/memory.ts";

export type Message = Record<string, unknown>;

/** A peer by hand. */
export class RawPeer {
  readonly got: Message[] = [];
  readonly texts: string[] = [];
  readonly ended = Promise.withResolvers<void>();
  readonly #transport: Transport;
  #arrived = Promise.withResolvers<void>();

  constructor(transport: Transport, receive: (message: Message, peer: RawPeer) => void = () => undefined) {
    this.#transport = transport;
    transport.start({
      message: (value, text) => {
        this.got.push(value as Message);
        this.texts.push(text);
        receive(value as Message, this);
        this.#arrived.resolve();
        this.#arrived = Promise.withResolvers();
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => this.ended.resolve(),
    });
  }

  send(message: object, text?: string): void {
    this.#transport.send(message, text);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  answer(request: Message, result: unknown): void {
    this.send({ jsonrpc: "2.0", id: request.id, result });
  }

  async until(isIt: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.got.find(isIt);
      if (found !== undefined) return found;
      await this.#arrived.promise;
    }
  }

  /** Sends a request and waits for its answer. */
  ask(id: number, method: string, params: object): Promise<Message> {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  /** What it was told in a session, and forgets. */
  said(): unknown[] {
    const updates = this.got.filter(({ method }) => method === "session/update");
    this.got.length = 0;
    return updates.map(({ params }) => {
      const { update } = params as { update: { sessionUpdate: string; content?: unknown } };
      const [block] = [update.content ?? {}].flat() as { text?: string }[];
      return block?.text ?? update.sessionUpdate;
    });
  }
}

export const introduction = (version: number): object =>
  version === 1
    ? { protocolVersion: 1, clientCapabilities: {} }
    : { protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: {} };

export const welcome = (version: number, agentCapabilities: object = { loadSession: true }): object =>
  version === 1
    ? { protocolVersion: 1, agentCapabilities, authMethods: [] }
    : { protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: { session: {} } };

export function between(
  agent: (message: Message, peer: RawPeer) => void,
  options: RelayOptions = {},
  client?: (message: Message, peer: RawPeer) => void,
) {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  const relayed = relay(clientEnd, agentEnd, options);
  return {
    relayed,
    client: new RawPeer(toRelay, client),
    agent: new RawPeer(atAgent, agent),
    leave: () => toRelay.close(),
  };
}

/** The updates that a client of version 1 sees of what an agent of version 2 says in a turn, and the turn's answer. */
export async function turnOfVersion2(
  said: readonly object[],
  options: RelayOptions = {},
): Promise<{ updates: Message[]; result: Message }> {
  const { client, relayed } = between((message, peer) => {
    if (message.method === "initialize") peer.answer(message, welcome(2));
    if (message.method === "session/new")
      peer.answer(message, { sessionId: "s", configOptions: [], availableCommands: [] });
    if (message.method !== "session/prompt") return;
    peer.answer(message, { messageId: "m" });
    const running = { sessionUpdate: "state_update", state: "running" };
    const idle = { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" };
    for (const update of [running, ...said, idle])
      peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  }, options);
  await client.ask(1, "initialize", introduction(1));
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const prompt = [{ type: "text", text: "go" }];
  const { result } = await client.ask(3, "session/prompt", { sessionId: "s", prompt });
  await relayed.close();
  const updates = client.got
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => (params as { update: Message }).update);
  return { updates, result: result as Message };
}
