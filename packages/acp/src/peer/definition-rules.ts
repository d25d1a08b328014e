// What agent() and client() refuse at once: a definition that could not be served.

import { protocolVersions } from "../edition/negotiate.ts";
import { milliseconds } from "../jsonrpc/deadline.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Both sides say who they are (A6, C3). For those who write JavaScript: the compiler knows the rest. */
export function checkIntroduction(who: "agent" | "client", { name, version }: Introduction): void {
  for (const [field, value] of Object.entries({ name, version })) {
    if (typeof value !== "string" || value === "")
      throw new TypeError(`${who}: ${field} must be a string that is not empty, got ${String(value)}`);
  }
}

interface Introduction {
  readonly name: unknown;
  readonly version: unknown;
}

export function checkDefinition(definition: AgentDefinition): void {
  checkIntroduction("agent", definition);
  if (typeof definition.prompt !== "function")
    throw new TypeError("agent: prompt must be a function; it is called with each turn");
  const { maxUnstored, authMethods = [], versions = protocolVersions } = definition;
  if (maxUnstored !== undefined && !(typeof maxUnstored === "number" && maxUnstored >= 0)) {
    throw new TypeError(`agent: maxUnstored must be a number of characters, got ${String(maxUnstored)}`);
  }
  if (definition.clientTimeoutMs !== undefined) milliseconds("clientTimeoutMs", definition.clientTimeoutMs);
  // whoever lists a way to log in has the methods for it (A12)
  if (authMethods.some(({ type }) => type !== "terminal") && definition.login === undefined)
    throw new TypeError("agent: authMethods need login(), which is called with the method that was chosen");
  if (authMethods.length > 0 && versions.includes(2) && definition.logout === undefined)
    throw new TypeError("agent: authMethods need logout(), which version 2 demands beside login()");
  const ids = new Set<unknown>();
  for (const method of authMethods) {
    if (ids.has(method.methodId))
      throw new TypeError(`agent: two authMethods have the id ${JSON.stringify(method.methodId)}`);
    ids.add(method.methodId);
    if (method.type === "terminal") checkEnv(method.methodId, method.env ?? []);
  }
}

/** A name twice would leave open which of the two counts (A15). */
function checkEnv(methodId: string, env: readonly { readonly name: string }[]): void {
  const names = env.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new TypeError(
    `agent: the env of the authMethod ${JSON.stringify(methodId)} has ${JSON.stringify(twice)} twice`,
  );
}
