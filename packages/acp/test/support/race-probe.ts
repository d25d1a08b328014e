// A client and an agent with a relay between them, on wires that record messages and can break at any of them.

import type { Sink, Transport } from "../../src/jsonrpc/transport.ts";
import { agent } from "../../src/peer/agent/agent.ts";
import type { AgentDefinition } from "../../src/peer/agent/agent-definition.ts";
import { client } from "../../src/peer/client/client.ts";
import type { ClientDefinition } from "../../src/peer/client/client-definition.ts";
import { type Relay, relay } from "../../src/peer/relay/relay.ts";
import { memoryPair } from "../../src/transport/memory.ts";

export type Version = 1 | 2;
export type Side = "client" | "agent";

/** Client, agent. */
export const versionPairs: readonly (readonly [Version, Version])[] = [
  [1, 1],
  [2, 2],
  [1, 2],
  [2, 1],
];

interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

/** What one peer and the relay have said to one another. */
export class WatchedWire {
  readonly said: { readonly by: "peer" | "relay"; readonly message: Message }[] = [];
  readonly transport: Transport;
  /** Called after each message, with how many there were. */
  crossed: (count: number) => void = () => undefined;
  readonly #inner: Transport;
  #isDead = false;
  #sink: Sink | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
    this.transport = {
      start: (sink) => inner.start(this.#watched(sink)),
      send: (message, text) => {
        // what it was about to say is said, and then it is gone
        const hasRoom = inner.send(message, text);
        this.#note("peer", message);
        return hasRoom;
      },
      pause: () => inner.pause(),
      resume: () => inner.resume(),
      close: (reason) => inner.close(reason),
    };
  }

  /** The peer is gone, in the middle of whatever it was doing. */
  crash(): void {
    this.#isDead = true;
    // closing a pair in memory cannot fail
    void this.#inner.close();
    // the program on this side is to let go of its timers
    this.#sink?.end({ kind: "closed", message: "crashed" });
  }

  /** The requests of one side that did not get exactly one answer, with how many they got. */
  wronglyAnswered(by: "peer" | "relay"): string[] {
    const open = new Map<string | number, { readonly method: string; answers: number }>();
    const all: { readonly method: string; answers: number }[] = [];
    for (const { by: speaker, message } of this.said) {
      const { id, method } = message;
      if (id === undefined) continue;
      if (speaker === by && method !== undefined) {
        // an id may be used again once it has been answered (J4)
        const asked = { method, answers: 0 };
        open.set(id, asked);
        all.push(asked);
      }
      if (speaker !== by && method === undefined) {
        const asked = open.get(id);
        if (asked !== undefined) asked.answers += 1;
      }
    }
    return all
      .filter(({ answers }) => answers !== 1)
      .map(({ method, answers }) => `${method} has ${answers} answers`);
  }

  #watched(sink: Sink): Sink {
    this.#sink = sink;
    return {
      message: (value, text) => {
        this.#note("relay", value as object);
        if (!this.#isDead) sink.message(value, text);
      },
      idle: () => sink.idle(),
      reject: (fault) => sink.reject(fault),
      drain: () => sink.drain(),
      end: (reason) => sink.end(reason),
    };
  }

  #note(by: "peer" | "relay", message: object): void {
    if (this.#isDead) return;
    this.said.push({ by, message });
    this.crossed(this.said.length);
  }
}

export interface RelayedPair {
  readonly between: Relay;
  readonly wires: Readonly<Record<Side, WatchedWire>>;
  readonly editor: ReturnType<typeof client>;
  /** The requests that the relay has read from the client and not answered once. What came too late was not read. */
  wronglyAnsweredToClient(): string[];
}

/** Both ends are ready; the client has not connected yet. */
export function relayedPair(
  [clientVersion, agentVersion]: readonly [Version, Version],
  agentParts: Partial<AgentDefinition>,
  clientParts: Partial<ClientDefinition>,
): RelayedPair {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  const wires = { client: new WatchedWire(toRelay), agent: new WatchedWire(atAgent) };
  agent({
    name: "scripted",
    version: "1.0.0",
    prompt: () => undefined,
    ...agentParts,
    editions: [`v${agentVersion}`],
  }).connect(wires.agent.transport);
  // seen from the relay, the other one is the client
  const relaysEnd = new WatchedWire(clientEnd);
  const between = relay(relaysEnd.transport, agentEnd);
  const editor = client({
    name: "editor",
    version: "1.0.0",
    ...clientParts,
    editions: [`v${clientVersion}`],
  });
  return { between, wires, editor, wronglyAnsweredToClient: () => relaysEnd.wronglyAnswered("relay") };
}
