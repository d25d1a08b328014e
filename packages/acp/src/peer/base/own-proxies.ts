// Proxies that an agent or a client of this process has in front of itself.

import { isObject } from "../../base/objects.ts";
import type { Editions } from "../../edition/negotiate.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryPair } from "../../transport/memory.ts";

/** What can stand between a client and an agent, such as a proxy of `proxy()` of `@parley/acp/proxy`. */
export interface Between {
  /** Stands between the two, until one of them ends. `editions` are those that they may speak. */
  between(client: Transport, agent: Transport, editions?: Editions): void;
}

interface Definition {
  readonly proxies?: readonly Between[] | undefined;
  readonly editions?: Editions | undefined;
}

/** The transport of the agent with the proxies in front of it, the first of them next to the client. */
export function behindProxies({ proxies = [], editions }: Definition, agent: Transport): Transport {
  return proxies.reduceRight((behind, proxy) => {
    const [near, far] = memoryPair();
    proxy.between(far, behind, editions);
    return near;
  }, agent);
}

/** The transport of the client with the proxies in front of an agent of this process. */
export function servedBehind({ proxies = [], editions }: Definition, client: Transport): Transport {
  return proxies.reduce((before, proxy) => {
    const [near, far] = memoryPair();
    proxy.between(before, near, editions);
    return far;
  }, client);
}

/** Throws for what is no list of proxies. */
export function checkProxies(role: string, proxies: unknown): void {
  if (proxies === undefined) return;
  const wrong: unknown = Array.isArray(proxies)
    ? proxies.find((each) => !isObject(each) || typeof each["between"] !== "function")
    : proxies;
  if (wrong === undefined) return;
  throw new TypeError(
    `${role}: proxies must be a list of what proxy() of @parley/acp/proxy has made, got ${argumentText(wrong)}`,
  );
}
