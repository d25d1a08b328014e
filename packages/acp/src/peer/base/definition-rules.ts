// Checks the parts that definitions of agents and clients share.

import { unknownOption } from "../../base/known-options.ts";
import { nearestWord } from "../../base/nearest-word.ts";
import { isObject } from "../../base/objects.ts";
import { knownDialects } from "../../edition/dialect-tells.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Meta } from "../../model/content.ts";
import { unstableFeatures } from "../../validation/unstable-features.ts";
import { checkProxies } from "./own-proxies.ts";

/**
 * Custom data of the parts of a handshake.
 *
 * @inline
 */
export interface HandshakeMeta {
  /** For the message itself. The other side reads it as `_meta` of its connection (an agent: `clientMeta`). */
  readonly initialize?: Meta;
  /** For the name and version: `info._meta`. */
  readonly info?: Meta;
  /**
   * For parts of the capabilities, by their path in v2, such as "session.prompt": `capabilities.partsMeta`. A part that is
   * not declared has none.
   */
  readonly parts?: Readonly<Record<string, Meta>>;
}

/** Names that other libraries and older versions have for parts of a definition, and what to write instead. */
const otherNames: Readonly<Record<"agent" | "client", Readonly<Record<string, string>>>> = {
  agent: {
    versions: "is called editions",
    steering: 'is called concurrentPrompts: "inbox"',
    cancel: "is not needed: turn.signal aborts when the turn is cancelled",
    cancelTool: "is not needed: make the call with cancellable: true, and its signal aborts",
    authMethods: "is called auth: { methods }",
    authenticate: "is called auth: { login }",
    newSession: "is called session: { open }",
    loadSession: "is called session: { open }",
    setSessionMode: "is called session: { setConfigOption }",
    extMethod: "is called extensions: { requests }",
    extNotification: "is called extensions: { notifications }",
    tools: "is not needed: prompt() runs them and reports each call with turn.tool()",
  },
  client: {
    versions: "is called editions",
    permission: "is called requestPermission",
    onPermission: "is called requestPermission",
    onUpdate: "belongs to a session: newSession({ cwd, onUpdate })",
    sessionUpdate: "is called onUpdate and belongs to a session: newSession({ cwd, onUpdate })",
    readTextFile: "is called files: { readText }",
    writeTextFile: "is called files: { writeText }",
    createTerminal: "is called terminals: { create }",
    extMethod: "is called extensions: { requests }",
    extNotification: "is called extensions: { notifications }",
  },
};

/** The same for groups of a definition. These were called like the action that they precede. */
const otherNamesIn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agent: session": {
    list: "onList",
    delete: "onDelete",
    archive: "onArchive",
    unarchive: "onUnarchive",
    setTitle: "onSetTitle",
    status: "onStatus",
  },
};

/** Throws a TypeError for what the compiler would refuse: for authors who write JavaScript. */
export function checkDefinition(
  role: "agent" | "client",
  definition: unknown,
  known: Readonly<Record<string, true>>,
  groups: Readonly<Record<string, Readonly<Record<string, true>>>>,
): void {
  if (!isObject(definition)) {
    const wanted = role === "agent" ? "name, version and prompt" : "name and version";
    throw new TypeError(`${role}: expected an object with ${wanted}, got ${argumentText(definition)}`);
  }
  const other = plainKeys(definition).find((key) => Object.hasOwn(otherNames[role], key));
  if (other !== undefined) throw new TypeError(`${role}: ${other} ${otherNames[role][other]}`);
  for (const [group, keys] of Object.entries(groups)) {
    const misplaced = plainKeys(definition).find(
      (key) => Object.hasOwn(keys, key) && !Object.hasOwn(known, key),
    );
    if (misplaced !== undefined)
      throw new TypeError(`${role}: ${misplaced} belongs in ${group}: { ${misplaced} }`);
  }
  refuseUnknown(role, definition, known);
  for (const [group, keys] of Object.entries(groups)) {
    const given = definition[group];
    if (given === undefined) continue;
    if (!isObject(given))
      throw new TypeError(`${role}: ${group} must be an object, got ${argumentText(given)}`);
    const method = group === "extensions" && plainKeys(given).find((key) => key.startsWith("_"));
    if (typeof method === "string")
      throw new TypeError(
        `${role}: extensions: ${method} belongs in requests or notifications: { requests: { ${argumentText(method)} } }`,
      );
    refuseUnknown(`${role}: ${group}`, given, keys);
  }
  const { log, mcp } = definition;
  if (mcp !== undefined && !(isObject(mcp) && typeof mcp["providers"] === "function"))
    throw new TypeError(
      `${role}: mcp must be a kit such as mcpKit() of @parley/mcp, got ${argumentText(mcp)}`,
    );
  // a callback that is no function would fail when it is needed
  if (log !== undefined && typeof log !== "function")
    throw new TypeError(`${role}: log must be a function, got ${argumentText(log)}`);
  const extensions = isObject(definition["extensions"]) ? definition["extensions"] : {};
  for (const field of ["requests", "notifications"])
    checkMethods(`${role}: extensions.${field}`, extensions[field]);
  checkEditions(role, definition["editions"]);
  checkUnstable(`${role}: unstable`, definition["unstable"]);
  checkOwnProxies(role, definition["proxies"], definition["unstable"]);
  // both sides introduce themselves (A6, C3)
  for (const field of ["name", "version"]) {
    const value = definition[field];
    if (typeof value !== "string" || value === "")
      throw new TypeError(`${role}: ${field} must be a string that is not empty, got ${String(value)}`);
  }
}

function checkEditions(role: string, editions: unknown): void {
  if (editions === undefined) return;
  const known = '"v2", "v1" and dialects';
  if (!Array.isArray(editions) || editions.length === 0) {
    const got = Array.isArray(editions) ? "an empty list" : argumentText(editions);
    throw new TypeError(`${role}: editions must be a list of ${known}, or left out; got ${got}`);
  }
  const wrong: unknown = editions.find((each) => each !== "v1" && each !== "v2" && !isDialect(each));
  if (wrong === undefined) return;
  const hint = knownDialects.includes(wrong) ? `; write ${wrong}(), which is in @parley/dialects` : "";
  throw new TypeError(
    `${role}: there is no edition ${argumentText(wrong)}; the editions are ${known}${hint}`,
  );
}

function isDialect(value: unknown): boolean {
  if (!isObject(value) || typeof value["name"] !== "string") return false;
  const { isSpokenByClient, isSpokenByAgent, load } = value;
  return [isSpokenByClient, isSpokenByAgent, load].every((each) => typeof each === "function");
}

/** Without its feature an option would do nothing. */
function checkOwnProxies(role: string, proxies: unknown, unstable: unknown): void {
  checkProxies(role, proxies);
  if (proxies === undefined || unstable === "*" || (Array.isArray(unstable) && unstable.includes("proxies")))
    return;
  throw new TypeError(`${role}: proxies is unstable: it needs unstable: ["proxies"]`);
}

/** Throws a TypeError for what is no list of features. `where` names the option in the message. */
export function checkUnstable(where: string, unstable: unknown): void {
  if (unstable === undefined || unstable === "*") return;
  const known = unstableFeatures.map((feature) => JSON.stringify(feature)).join(", ");
  if (!Array.isArray(unstable))
    throw new TypeError(`${where} must be "*" or a list of ${known}; got ${argumentText(unstable)}`);
  const wrong: unknown = unstable.find((each) => !unstableFeatures.some((feature) => feature === each));
  if (wrong === undefined) return;
  const nearest = nearestWord(String(wrong), unstableFeatures);
  const instead =
    nearest === undefined ? `the features are ${known}` : `did you mean ${JSON.stringify(nearest)}?`;
  throw new TypeError(`${where}: there is no feature ${argumentText(wrong)}; ${instead}`);
}

function refuseUnknown(where: string, given: object, known: Readonly<Record<string, true>>): void {
  const wrong = plainKeys(given).find((key) => !Object.hasOwn(known, key));
  if (wrong === undefined) return;
  const renamed = otherNamesIn[where]?.[wrong];
  if (renamed !== undefined) throw new TypeError(`${where}: ${wrong} is called ${renamed}`);
  throw unknownOption(where, wrong, Object.keys(known));
}

/** Only methods outside the protocol have handlers of their own. */
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

/** The keys of a plain object. An instance of a class may have fields of its own, by any name. */
function plainKeys(given: object): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === Object.prototype || prototype === null ? Object.keys(given) : [];
}
