// Refuses options that do not exist, which would otherwise be ignored without a word.

import { nearestWord } from "./nearest-word.ts";

/** Throws a TypeError for an option that is not in the table. One that is undefined counts as left out. */
export function checkOptions(where: string, options: object, known: Readonly<Record<string, true>>): void {
  const wrong = Object.entries(options).find(
    ([key, value]) => value !== undefined && !Object.hasOwn(known, key),
  )?.[0];
  if (wrong === undefined) return;
  const names = Object.keys(known);
  const near = nearestWord(wrong, names);
  const all = `the options are ${names.join(", ")}`;
  const instead = near === undefined ? all : `did you mean ${near}? ${all}`;
  throw new TypeError(`${where}: there is no option ${wrong}; ${instead}`);
}
