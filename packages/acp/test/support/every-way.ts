// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Connects our agent and our client directly in each version, and through a relay between the versions.

import { test } from "node:test";
import {
  type Agent,
  type AgentDefinition,
  agent,
  type ClientConnection,
  type ClientDefinition,
  client,
  type Edition,
} from "../../src/index.ts";
import { relay } from "../../src/relay.ts";
import { memoryPair } from "../../src/transport.ts";
import type { Prompted, Wire } from "./peer-probe.ts";

export interface Way {
  readonly client: Edition;
  readonly agent: Edition;
}

export interface Connected {
  readonly agent: Agent;
  readonly connection: ClientConnection;
  /** What the client sent and received. */
  readonly wire: Wire[];
  readonly log: string[];
  /** Another client of the same agent. */
  again(): Promise<ClientConnection>;
}

const ways: readonly Way[] = [
  { client: "v1", agent: "v1" },
  { client: "v2", agent: "v2" },
  { client: "v1", agent: "v2" },
  { client: "v2", agent: "v1" },
];

/** The same test in version 1, in version 2, and through a relay in both directions. */
export function inEveryWay(name: string, run: (way: Way) => Promise<void>): void {
  for (const way of ways) {
    const label = way.client === way.agent ? way.client : `${way.client} client, ${way.agent} agent`;
    test(`${name} (${label})`, { timeout: 10_000 }, () => run(way));
  }
}

export async function connected(
  way: Way,
  definition: Partial<AgentDefinition> & { readonly prompt: Prompted },
  clientDefinition: Partial<ClientDefinition> = {},
): Promise<Connected> {
  const wire: Wire[] = [];
  const log: string[] = [];
  const served = agent({
    name: "probe-agent",
    version: "1",
    editions: [way.agent],
    log: (level, message) => log.push(`agent ${level}: ${message}`),
    ...definition,
  });
  const app = client({
    name: "probe-client",
    version: "1",
    editions: [way.client],
    log: (level, message) => log.push(`client ${level}: ${message}`),
    ...clientDefinition,
    connection: {
      tap: (direction, text) =>
        wire.push({ from: direction === "in" ? "agent" : "client", message: JSON.parse(text) }),
    },
  });
  const connect = (): Promise<ClientConnection> => {
    if (way.client === way.agent) return app.connect(served);
    const [toRelay, clientEnd] = memoryPair();
    const [agentEnd, atAgent] = memoryPair();
    served.connect(atAgent);
    relay(clientEnd, agentEnd, { log: (level, message) => log.push(`relay ${level}: ${message}`) });
    return app.connect(toRelay);
  };
  return { agent: served, connection: await connect(), wire, log, again: connect };
}

/** The methods that the client sent, in order. */
export function asked(wire: readonly Wire[]): unknown[] {
  return wire
    .filter(({ from, message }) => from === "client" && message["method"] !== undefined)
    .map(({ message }) => message["method"]);
}
