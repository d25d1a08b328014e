// Splits a request into steps, without looking into quoted text and code.

/** A text with placeholders for its quoted parts. */
export interface Masked {
  readonly text: string;
  /** Restores the quoted parts of a piece; a piece that is just one quote loses its quotation marks. */
  restore(piece: string): string;
}

/** Matches fences, backticks and quotes; a quote inside a word is an apostrophe. */
const quoted =
  /(`{3,})(?!`)[^\n]*\n([\s\S]*?)\n?\1|`([^`\n]+)`|"([^"\n]*)"|“([^”\n]*)”|(?<![\w])'([^'\n]*)'(?!\w)/g;
const mark = /\uE000(\d+)\uE001/g;

export function mask(text: string): Masked {
  const parts: { readonly inner: string; readonly whole: string }[] = [];
  const masked = text.replaceAll(quoted, (whole: string, ...groups: unknown[]) => {
    const inner = groups.slice(1, 6).find((group) => typeof group === "string");
    const isFence = whole.startsWith("```");
    parts.push({ inner: `${String(inner ?? "")}${isFence ? "\n" : ""}`, whole });
    return `\uE000${parts.length - 1}\uE001`;
  });
  return {
    text: masked,
    restore(piece) {
      const trimmed = piece.trim();
      const alone = /^\uE000(\d+)\uE001$/.exec(trimmed);
      if (alone !== null) return parts[Number(alone[1])]?.inner ?? "";
      return trimmed.replaceAll(mark, (_, n: string) => parts[Number(n)]?.whole ?? "");
    },
  };
}

const listItem = /^\s*(?:\d+[.)]|[-*•])\s+(.+)$/;
const verbs =
  "run|execute|read|show|open|list|look|search|find|grep|explain|describe|summari[sz]e|create|make|write|add|append|" +
  "replace|change|delete|remove|move|rename|fetch|test|plan";
const joints =
  `\\s*[.,]?\\s+(?:and\\s+)?then,?\\s+|\\.\\s+(?=(?:${verbs})\\b)|` +
  `,?\\s+and\\s+(?!explain\\s+what)(?=(?:${verbs})\\b)|,\\s+(?=(?:${verbs})\\b)`;
const between = new RegExp(`\\s*;\\s+|${joints}`, "i");
/** Without the semicolon, which belongs to the shell. */
const betweenCommands = new RegExp(joints, "i");
const beginsCommand = /^\s*(?:(?:please|now|first|then)\s+)?(?:run|execute)\b/i;

/** The steps of a masked text: list items, or sentences joined with "then", "and" and the like. */
export function steps(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const items = lines.flatMap((line) => listItem.exec(line)?.[1] ?? []);
  const pieces =
    items.length >= 2
      ? items
      : joinFences(lines).flatMap((line) => line.split(beginsCommand.test(line) ? betweenCommands : between));
  return joinFileNames(pieces.map(plain).filter((piece) => piece !== ""));
}

/** Joins “in a.ts, replace …” to one step. */
function joinFileNames(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  for (const piece of pieces) {
    const before = joined.at(-1);
    if (before !== undefined && /^in\s+\S+$/i.test(before)) joined[joined.length - 1] = `${before}, ${piece}`;
    else joined.push(piece);
  }
  return joined;
}

/** Joins a fence on its own line to the line before it. */
function joinFences(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    if (joined.length > 0 && /^\s*\uE000\d+\uE001\s*$/.test(line))
      joined.push(`${joined.pop() ?? ""} ${line.trim()}`);
    else joined.push(line);
  }
  return joined;
}

/** Removes courtesies and headings. */
function plain(piece: string): string {
  return piece
    .trim()
    .replace(/^(?:plan|steps|todo|tasks?)\s*:\s+/i, "")
    .replace(/^(?:(?:ok(?:ay)?|now|then|please|first|next|finally|also|and)(?:[,\s]+|$))+/i, "")
    .replace(
      /^(?:(?:can|could|would|will)\s+you|i\s+want\s+you\s+to|i(?:'d|\s+would)\s+like\s+you\s+to|let(?:'s|\s+us))\s+/i,
      "",
    )
    .replace(/^please\s+/i, "")
    .replace(/[,\s]+(?:please|thanks|thank\s+you)[.!]?$/i, "")
    .replace(/[.!?\s]+$/, "");
}
