// Words of others on one line, where they cannot act and cannot look like something else.

const maxCells = 200;
/** Control characters, line ends, and marks that hide, join or reorder text. */
const misleading = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** Each such character is shown by its number; the rest is cut where a line ends (N136). */
export function shownLine(text: string, most = maxCells): string {
  // what lies far behind the end would cost time for nothing
  const near = text.slice(0, most * 4);
  const escaped = near.replaceAll(misleading, (character) => {
    if (/\s/.test(character)) return " ";
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  const line = escaped.replaceAll(/ +/g, " ").trim();
  const characters = [...line];
  if (characters.length <= most && near.length === text.length) return line;
  return `${characters.slice(0, most - 1).join("")}…`;
}
