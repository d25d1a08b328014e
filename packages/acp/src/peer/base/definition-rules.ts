// Checks the parts that definitions of agents and clients share.

import { isObject } from "../../base/is-object.ts";
import { argumentText } from "../../jsonrpc/argument.ts";
import { misspeltKey } from "./misspelt-key.ts";

/** Every key of a definition. A missing or an unknown one does not compile. */
export type Keys<Definition> = Readonly<Record<keyof Definition, true>>;

export const sharedKeys = {
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

/** Throws a TypeError for what the compiler would refuse: for authors who write JavaScript. */
export function checkDefinition(
  role: "agent" | "client",
  definition: unknown,
  known: Readonly<Record<string, true>>,
): void {
  if (!isObject(definition)) {
    const wanted = role === "agent" ? "name, version and prompt" : "name and version";
    throw new TypeError(`${role}: wanted an object with ${wanted}, got ${argumentText(definition)}`);
  }
  const wrong = misspeltKey(definition, known);
  if (wrong !== undefined)
    throw new TypeError(`${role}: there is no ${wrong.got} in a definition; did you mean ${wrong.wanted}?`);
  for (const field of ["requests", "notifications"]) checkMethods(`${role}: ${field}`, definition[field]);
  // both sides introduce themselves (A6, C3)
  for (const field of ["name", "version"]) {
    const value = definition[field];
    if (typeof value !== "string" || value === "")
      throw new TypeError(`${role}: ${field} must be a string that is not empty, got ${String(value)}`);
  }
}

/** Only methods outside the protocol have handlers of their own (X3). */
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
