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
  const escaped = near
    .replaceAll(misleading, (character) => (/\s/.test(character) ? " " : byNumber(character)))
    .replaceAll(/[\p{L}\p{M}\p{N}]+/gu, (word) =>
      lookAlike.test(word) && /\p{Script=Latin}/u.test(word) ? word.replaceAll(lookAlikes, byNumber) : word,
    );
  const line = escaped.replaceAll(/ +/g, " ").trim();
  const characters = [...line];
  if (characters.length <= most && near.length === text.length) return line;
  return `${characters.slice(0, most - 1).join("")}…`;
}

function byNumber(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
