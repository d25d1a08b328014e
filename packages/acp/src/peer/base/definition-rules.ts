// What agent() and client() refuse at once: a definition that could not be served.

import { milliseconds } from "../../base/deadline.ts";
import { isObject } from "../../base/is-object.ts";
import { protocolVersions } from "../../edition/negotiate.ts";
import { argumentText } from "../../jsonrpc/argument.ts";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { ClientDefinition } from "../client/client-definition.ts";
import { meantKey } from "./meant-key.ts";

type Keys<Definition> = Readonly<Record<keyof Definition, true>>;

/** A name too many, or one that is missing, is an error of the compiler. */
const sharedKeys = {
  name: true,
  version: true,
  title: true,
  versions: true,
  unstable: true,
  meta: true,
  requests: true,
  notifications: true,
  limits: true,
  log: true,
  tap: true,
  batches: true,
  drainMs: true,
} as const;
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
const clientKeys: Keys<ClientDefinition> = {
  ...sharedKeys,
  permission: true,
  elicit: true,
  elicitationCompleted: true,
  elicitationModes: true,
  files: true,
  terminals: true,
  terminalAuth: true,
  strict: true,
  handshakeTimeoutMs: true,
  otherRequest: true,
  otherNotification: true,
  noise: true,
  maxUnreadUpdates: true,
  maxUnreadChars: true,
};

/** Before anything else: for those who write JavaScript, the compiler knows it all. */
function checkShape(
  who: "agent" | "client",
  definition: object,
  known: Readonly<Record<string, true>>,
): void {
  if (!isObject(definition)) {
    const wanted = who === "agent" ? "name, version and prompt" : "name and version";
    throw new TypeError(`${who}: wanted an object with ${wanted}, got ${argumentText(definition)}`);
  }
  const wrong = meantKey(definition, known);
  if (wrong !== undefined)
    throw new TypeError(`${who}: there is no ${wrong.got} in a definition; did you mean ${wrong.meant}?`);
  for (const field of ["requests", "notifications"]) checkMethods(`${who}: ${field}`, definition[field]);
}

/** Methods of the protocol are not answered here, and no others are passed on (X3). */
function checkMethods(where: string, methods: unknown): void {
  if (methods === undefined) return;
  if (!isObject(methods))
    throw new TypeError(`${where} must be an object of functions by name, got ${argumentText(methods)}`);
  for (const [name, handler] of Object.entries(methods)) {
    if (!name.startsWith("_")) {
      const instead = argumentText(`_${name}`);
      throw new TypeError(`${where} has ${argumentText(name)}; such a name begins with "_", as ${instead}`);
    }
    if (typeof handler !== "function" && handler !== undefined)
      throw new TypeError(`${where}: ${argumentText(name)} must be a function, got ${argumentText(handler)}`);
  }
}

export function checkClientDefinition(definition: ClientDefinition): void {
  checkShape("client", definition, clientKeys);
  checkIntroduction("client", definition);
  if (definition.versions?.length === 0)
    throw new TypeError("client: versions is an empty list; leave it out, or name the versions to speak");
}

/** Both sides say who they are (A6, C3). */
function checkIntroduction(who: "agent" | "client", { name, version }: Introduction): void {
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
  checkShape("agent", definition, agentKeys);
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
