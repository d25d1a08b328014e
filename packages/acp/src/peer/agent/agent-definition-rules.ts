// Checks the definition of an agent when it is created.

import { milliseconds } from "../../base/deadline.ts";
import { protocolVersions } from "../../edition/negotiate.ts";
import { checkDefinition, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { AgentDefinition } from "./agent-definition.ts";

const agentKeys: Keys<AgentDefinition> = {
  ...sharedKeys,
  prompt: true,
  open: true,
  close: true,
  setOption: true,
  cancelTool: true,
  cancelTerminal: true,
  accepts: true,
  mcp: true,
  authMethods: true,
  login: true,
  isLoggedIn: true,
  logout: true,
  store: true,
  maxUnstored: true,
  clientTimeoutMs: true,
  steering: true,
  concurrentPrompts: true,
};

/** Throws a TypeError for a definition that could not be served. */
export function checkAgentDefinition(definition: AgentDefinition): void {
  checkDefinition("agent", definition, agentKeys);
  if (typeof definition.prompt !== "function")
    throw new TypeError("agent: prompt must be a function; it is called with each turn");
  const { maxUnstored, authMethods = [], versions = protocolVersions } = definition;
  if (maxUnstored !== undefined && !(typeof maxUnstored === "number" && maxUnstored >= 0)) {
    throw new TypeError(`agent: maxUnstored must be a number of characters, got ${String(maxUnstored)}`);
  }
  if (definition.clientTimeoutMs !== undefined) milliseconds("clientTimeoutMs", definition.clientTimeoutMs);
  // an agent that lists a way to log in must have it (A12)
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

/** With a name twice it would be unclear which value counts (A15). */
function checkEnv(methodId: string, env: readonly { readonly name: string }[]): void {
  const names = env.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new TypeError(
    `agent: the env of the authMethod ${JSON.stringify(methodId)} has ${JSON.stringify(twice)} twice`,
  );
}
