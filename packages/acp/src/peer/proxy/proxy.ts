// proxy(): creates a proxy, which stands between a client and an agent and looks at the messages.

import { milliseconds } from "../../base/deadline.ts";
import { checkOptions, type Keys } from "../../base/known-options.ts";
import { isObject } from "../../base/objects.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import { type ServedAgent, served } from "../agent/served-agent.ts";
import type { Between } from "../base/own-proxies.ts";
import { Chain } from "./chain.ts";
import { markProxy } from "./component.ts";
import type { ProxyDefinition } from "./proxy-definition.ts";

/** A proxy, made by `proxy()`. Put it into a chain with `conductor`, or serve it on stdio with `serveStdio`. */
export interface AcpProxy extends ServedAgent, Between {
  /** The definition that was passed to `proxy()`. */
  readonly definition: ProxyDefinition<unknown>;
}

const definitionKeys: Keys<ProxyDefinition<unknown>> = {
  name: true,
  version: true,
  session: true,
  open: true,
  opened: true,
  prompt: true,
  update: true,
  permission: true,
  elicitation: true,
  turnEnd: true,
  messages: true,
  results: true,
  errors: true,
  policy: true,
  hookMs: true,
  agent: true,
  editions: true,
  log: true,
  closed: true,
};

const hooks = [
  "session",
  "open",
  "opened",
  "prompt",
  "update",
  "permission",
  "elicitation",
  "turnEnd",
  "agent",
  "closed",
] as const;

/**
 * Creates a proxy. With an empty definition, everything passes. The first message decides its role: `proxy/initialize` makes it
 * a component of a chain, and `initialize` a proxy in front of one agent, which `agent` starts.
 *
 * @param given What the proxy does with the messages.
 * @returns The proxy. Put it into a chain with `conductor`, or serve it on stdio with `serveStdio` of `@parley/acp/node`.
 * @throws {TypeError} When a part of the definition is missing, wrong or unknown.
 * @example
 * import { serveStdio, spawnTransport } from "@parley/acp/node";
 * import { proxy } from "@parley/acp/proxy";
 *
 * const polite = proxy({
 *   name: "polite",
 *   version: "1.0.0",
 *   prompt: ({ content }) => ({ content: [...content, { type: "text", text: "Please be brief." }] }),
 *   agent: () => spawnTransport("my-agent"),
 * });
 *
 * await serveStdio(polite);
 */
export function proxy<Data = undefined>(given: ProxyDefinition<Data>): AcpProxy {
  // the data of a session is whatever its hook returned: nothing else looks at it
  const definition = given as ProxyDefinition<unknown>;
  checkDefinition(definition);
  const { name, editions, log } = definition;
  const made: AcpProxy = {
    definition,
    between(client, agent, spoken) {
      const components = [
        { name, start: made },
        { name: "the agent", start: () => agent },
      ];
      new Chain(client, { components, editions: editions ?? spoken, log: guardedLog(log), watch: undefined });
    },
    ...served(name, (transport, outer) => {
      const components = [{ name, start: made }];
      return new Chain(transport, { components, editions, log: guardedLog(log ?? outer), watch: undefined });
    }),
  };
  markProxy(made);
  return made;
}

function checkDefinition(definition: ProxyDefinition<unknown>): void {
  checkOptions("proxy", definition, definitionKeys);
  for (const key of ["name", "version"] as const) {
    const value: unknown = definition[key];
    if (typeof value !== "string" || value === "")
      throw new TypeError(`proxy: ${key} must be a string that is not empty, got ${argumentText(value)}`);
  }
  for (const key of hooks) {
    const value: unknown = definition[key];
    if (value !== undefined && typeof value !== "function")
      throw new TypeError(`proxy: ${key} must be a function, got ${argumentText(value)}`);
  }
  for (const key of ["messages", "results"] as const) {
    const value: unknown = definition[key];
    if (value === undefined) continue;
    if (!isObject(value))
      throw new TypeError(`proxy: ${key} must be an object of functions, got ${argumentText(value)}`);
    for (const [method, hook] of Object.entries(value)) {
      if (typeof hook === "function") continue;
      const name = `${key}[${JSON.stringify(method)}]`;
      throw new TypeError(`proxy: ${name} must be a function, got ${argumentText(hook)}`);
    }
  }
  if (definition.hookMs !== undefined) milliseconds("proxy: hookMs", definition.hookMs);
  const given: unknown = definition.policy;
  if (given !== undefined && given !== true)
    throw new TypeError(`proxy: policy must be true, or left out, got ${argumentText(given)}`);
  const { errors, policy, name } = definition;
  if (errors !== undefined && errors !== "open" && errors !== "closed")
    throw new TypeError(`proxy: errors must be "open" or "closed", got ${argumentText(errors)}`);
  if (policy === true && errors === "open")
    throw new TypeError(`proxy: the errors of ${name} cannot be open: it decides what is allowed`);
}
