// Refuses options that do not exist.

import { argumentText, isObject, nearestWord } from "@parley/acp/internal";

/** Throws a TypeError for a key that is not known: a misspelt option would otherwise be ignored. */
export function checkKeys(where: string, given: unknown, known: Readonly<Record<string, true>>): void {
  if (!isObject(given))
    throw new TypeError(`${where}: expected an object of options, got ${argumentText(given)}`);
  const wrong = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (wrong === undefined) return;
  const names = Object.keys(known);
  const near = nearestWord(wrong, names);
  const instead = near === undefined ? `there are ${names.sort().join(", ")}` : `did you mean ${near}?`;
  throw new TypeError(`${where}: there is no option ${wrong}; ${instead}`);
}
