// Checks the definition of an agent when the agent is created.

import { milliseconds } from "../../base/deadline.ts";
import { isObject } from "../../base/objects.ts";
import { agentGroups, agentKeys } from "../../base/option-keys.gen.ts";
import { defaultEditions } from "../../edition/negotiate.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import { lists } from "../../validation/unstable-features.ts";
import { checkDefinition } from "../base/definition-rules.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Throws a TypeError for a definition that could not be served. */
export function checkAgentDefinition(definition: AgentDefinition): void {
  checkDefinition("agent", definition, agentKeys, agentGroups);
  if (typeof definition.prompt !== "function")
    throw new TypeError("agent: prompt must be a function; it is called with each turn");
  const { session: { maxUnstored } = {}, auth: { methods = [], login, logout } = {} } = definition;
  const { editions = defaultEditions, connection: { clientTimeoutMs, cancelGraceMs } = {} } = definition;
  if (maxUnstored !== undefined && !(typeof maxUnstored === "number" && maxUnstored >= 0)) {
    throw new TypeError(
      `agent: session.maxUnstored must be a number of characters, got ${String(maxUnstored)}`,
    );
  }
  const { concurrentPrompts: mode } = definition;
  if (mode !== undefined && !["queue", "reject", "inbox"].includes(mode))
    throw new TypeError(
      `agent: concurrentPrompts must be "queue", "reject" or "inbox", got ${argumentText(mode)}`,
    );
  const { store } = definition.session ?? {};
  // a path, or a function that makes a store, would only fail when the first session is opened
  if (store !== undefined && (!isObject(store) || typeof store["append"] !== "function"))
    throw new TypeError(
      `agent: session.store must be a store such as sqliteStore("/path/sessions.db"), got ${argumentText(store)}`,
    );
  checkUnstableParts(definition);
  if (clientTimeoutMs !== undefined) milliseconds("connection.clientTimeoutMs", clientTimeoutMs);
  if (cancelGraceMs !== undefined) milliseconds("connection.cancelGraceMs", cancelGraceMs);
  // an agent that lists a way to log in must have it (A12)
  if (methods.some(({ type }) => type !== "terminal") && login === undefined)
    throw new TypeError("agent: auth.methods need auth.login(), which is called with the chosen method");
  if (methods.length > 0 && editions.includes("v2") && logout === undefined)
    throw new TypeError("agent: auth.methods need auth.logout(), which v2 requires in addition to login()");
  const ids = new Set<unknown>();
  for (const method of methods) {
    if (ids.has(method.methodId))
      throw new TypeError(`agent: two auth.methods have the id ${JSON.stringify(method.methodId)}`);
    ids.add(method.methodId);
    if (method.type === "terminal") checkEnv(method.methodId, method.env ?? []);
  }
}

/** A handler without its feature would never be called, and a feature without its handlers would do nothing. */
function checkUnstableParts({ session, auth, providers, mcpAgents, unstable = [] }: AgentDefinition): void {
  const parts = [
    ["session.onArchive", session?.onArchive, "archive"],
    ["session.onUnarchive", session?.onUnarchive, "archive"],
    ["session.onSetTitle", session?.onSetTitle, "session_title"],
    ["session.onStatus", session?.onStatus, "session_status"],
    ["auth.status", auth?.status, "auth_status"],
    ["providers", providers, "providers"],
    ["mcpAgents", mcpAgents, "mcp_over_acp"],
  ] as const;
  for (const [name, given, feature] of parts)
    if (given !== undefined && !lists(unstable, feature))
      throw new TypeError(`agent: ${name} is unstable: it needs unstable: ["${feature}"]`);
  if (providers === undefined) {
    if (unstable === "*" || !unstable.includes("providers")) return;
    throw new TypeError('agent: unstable: ["providers"] needs providers: { list, set, disable }');
  }
  for (const name of ["list", "set", "disable"] as const)
    if (typeof providers[name] !== "function")
      throw new TypeError(
        `agent: providers.${name} must be a function, got ${argumentText(providers[name])}`,
      );
}

/** If a name occurred twice, it would be unclear which value counts. */
function checkEnv(methodId: string, env: readonly { readonly name: string }[]): void {
  const names = env.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new TypeError(
    `agent: the env of the auth method ${JSON.stringify(methodId)} has ${JSON.stringify(twice)} twice`,
  );
}
