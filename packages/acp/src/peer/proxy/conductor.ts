// conductor(): a chain of proxies with an agent at its end, which looks like one agent.

import { checkOptions, type Keys } from "../../base/known-options.ts";
import type { Editions } from "../../edition/negotiate.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryPair } from "../../transport/memory.ts";
import { type ServedAgent, served } from "../agent/served-agent.ts";
import type { Between } from "../base/own-proxies.ts";
import { Chain, type ChainOptions } from "./chain.ts";
import {
  bypassRefusal,
  type ChainComponent,
  type ChainPart,
  type ChainStageComponent,
  componentOf,
  flattened,
  isAgent,
  markChain,
} from "./component.ts";
import type { WatchHops } from "./hops.ts";
import { type SuccessorClient, successorClient } from "./successor-client.ts";

/** A chain, made by `conductor()`. It is served as an agent is, and can be a part of another chain. */
export interface Conductor extends ServedAgent, Between {}

/** The options of `conductor`. */
export interface ConductorOptions {
  /** The name of the chain, in logs. Default: "conductor". */
  readonly name?: string;
  /** The editions that the client and the agent may speak, as of `agent()`: no others. Default: those of an agent in this process, else v2 and v1. */
  readonly editions?: Editions;
  /** Receives errors and warnings. */
  readonly log?: Log;
  /** Called with every message between two neighbours of the chain. It makes the chain slower. */
  readonly watch?: WatchHops;
}

const optionKeys: Keys<ConductorOptions> = { name: true, editions: true, log: true, watch: true };

/**
 * Creates a chain: proxies in order from the client, then an agent. It looks like one agent to every client, and is served
 * like one. When a client sends `initialize`, the components are started for it. Without an agent at its end, the chain is a
 * proxy for another conductor.
 *
 * @param parts The components: proxies, functions that start one and return its transport, and the agent.
 * @param options The name, the editions and the log.
 * @returns The chain, which is served as an agent is.
 * @throws {TypeError} When a part is neither a proxy, an agent nor a function, or when a proxy with `policy` could be bypassed.
 * @example
 * import { serveStdio, spawnTransport } from "@parley/acp/node";
 * import { conductor, proxy } from "@parley/acp/proxy";
 *
 * const counting = proxy({
 *   name: "counting",
 *   version: "1.0.0",
 *   session: () => ({ prompts: 0 }),
 *   prompt(_, { data, sessionId }) {
 *     data.prompts += 1;
 *     console.error(`${sessionId}: prompt ${data.prompts}`);
 *   },
 * });
 *
 * await serveStdio(conductor([counting, () => spawnTransport("my-agent")]));
 */
export function conductor(parts: readonly ChainPart[], options: ConductorOptions = {}): Conductor {
  checkOptions("conductor", options, optionKeys);
  if (!Array.isArray(parts))
    throw new TypeError(`conductor: expected a list of components, got ${argumentText(parts)}`);
  const { name = "conductor", log, watch } = options;
  const all = parts.map((part: ChainPart, at) => componentOf(part, at, at === parts.length - 1));
  const flat = flattened(all);
  for (const each of flat) {
    const refused = isAgent(each) ? bypassRefusal(each) : undefined;
    if (refused !== undefined) throw new TypeError(`conductor: ${refused}`);
  }
  const made: Conductor = {
    definition: { name, ...(log && { log }) },
    between(client, agent, spoken) {
      const chain = [...flat, { name: "the agent", start: () => agent }];
      new Chain(client, {
        components: chain,
        editions: options.editions ?? spoken,
        log: guardedLog(log),
        watch,
      });
    },
    ...served(name, (transport, outer) =>
      startChain(transport, {
        components: flat,
        editions: options.editions,
        log: guardedLog(log ?? outer),
        watch,
      }),
    ),
  };
  markChain(made, flat);
  return made;
}

function startChain(transport: Transport, options: ChainOptions): Chain {
  const { components, editions = editionsOf(components) } = options;
  return new Chain(transport, { ...options, components: joinedAgents(options), editions });
}

/** The editions of a chain are those of its first agent, which the client talks to. */
function editionsOf(components: readonly ChainComponent[]): Editions | undefined {
  const front = components.find(isAgent);
  // as: only an agent of agent() has editions
  return (front?.start as { readonly definition: { readonly editions?: Editions } } | undefined)?.definition
    .editions;
}

/**
 * Agents that stand one behind another are one agent for the chain: the first of them has the client, and prompts the next one
 * by `turn.successor`. Made for each client.
 */
function joinedAgents({ components, ...options }: ChainOptions): readonly ChainStageComponent[] {
  const first = components.findIndex(isAgent);
  const front = components[first];
  const behind = components.slice(first + 1);
  if (front === undefined || behind.length === 0) return components;
  const agent = front.start as ServedAgent; // isAgent has found it
  const { log } = options;
  const { place = 0 } = options.firstHop ?? {};
  const firstHop = { from: front.name, place: place + first + 1 };
  let successor: SuccessorClient | undefined;
  const startBehind = (): Transport => {
    const [end, chainEnd] = memoryPair();
    startChain(chainEnd, { ...options, components: behind, firstHop });
    return end;
  };
  const start = (): Transport => {
    const [near, far] = memoryPair();
    const mine = successorClient(front.name, startBehind, log);
    successor = mine;
    const { closed } = agent.connect(far, { successor: mine });
    void closed.then(() => mine.close());
    return near;
  };
  const sessionEnded = (sessionId: string): void => successor?.ended(sessionId);
  return [...components.slice(0, first), { ...front, start, sessionEnded }];
}
