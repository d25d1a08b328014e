// Escapes foreign text so that it is safe to show on one line.

const maxCells = 200;
/** Control characters, line ends, and marks that hide, join or reorder text. */
const misleading = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** Letters that look like Latin ones. Alone they are a language; among Latin letters they are a disguise. */
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const lookAlikes = new RegExp(lookAlike, "gu");

/** Each such character is shown by its number; the rest is cut where a line ends. */
export function shownLine(text: string, most = maxCells): string {
  // what lies far behind the end would cost time for nothing
  const near = text.slice(0, most * 4);
  const escaped = disguised(
    near.replaceAll(misleading, (character) => (/\s/.test(character) ? " " : byNumber(character))),
  );
  const line = escaped.replaceAll(/ +/g, " ").trim();
  const characters = [...line];
  if (characters.length <= most && near.length === text.length) return line;
  return `${characters.slice(0, most - 1).join("")}…`;
}

/**
 * Replaces the characters of a text that hide, reorder or look like others by their numbers. Line ends and tabs stay.
 *
 * @example
 * import { shownSource } from "@parley/client/policy";
 *
 * console.log(shownSource("rm -rf \u202e/pmt"));
 */
export function shownSource(text: string): string {
  return disguised(
    text.replaceAll(misleading, (character) => (/[\n\t]/.test(character) ? character : byNumber(character))),
  );
}

function disguised(text: string): string {
  return text.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, (word) =>
    lookAlike.test(word) && /\p{Script=Latin}/u.test(word) ? word.replaceAll(lookAlikes, byNumber) : word,
  );
}

function byNumber(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
