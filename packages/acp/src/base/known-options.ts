// Refuses options that do not exist, which would otherwise be ignored without a word.

import { nearestWord } from "./nearest-word.ts";

/** Every key of the options. A missing or an unknown one does not compile. */
export type Keys<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Refuses options that do not exist. One that is undefined counts as left out.
 *
 * @param where - Begins the message: the name of the function.
 * @param options - What the caller gave.
 * @param known - An object with the names of all options.
 * @throws {TypeError} When an option is not known. The message names the nearest one, and all of them.
 *
 * @example
 * import { checkOptions } from "@parley/acp/jsonrpc";
 *
 * export function openDoor(options: { readonly slowly?: boolean } = {}): void {
 *   checkOptions("openDoor", options, { slowly: true });
 * }
 */
export function checkOptions(where: string, options: object, known: Readonly<Record<string, unknown>>): void {
  // most calls have few options or none: no list is made for them
  for (const key in options)
    if (!Object.hasOwn(known, key) && Object.hasOwn(options, key) && Reflect.get(options, key) !== undefined)
      throw unknownOption(where, key, Object.keys(known));
}

/** The error for an option that is not one of these. */
export function unknownOption(where: string, wrong: string, names: readonly string[]): TypeError {
  const lowered = new Map(names.map((name) => [name.toLowerCase(), name]));
  const near =
    nearestWord(wrong, names) ?? lowered.get(nearestWord(wrong.toLowerCase(), [...lowered.keys()]) ?? "");
  const all = `the options are ${names.join(", ")}`;
  const instead = near === undefined ? all : `did you mean ${near}? ${all}`;
  return new TypeError(`${where}: there is no option ${wrong}; ${instead}`);
}
