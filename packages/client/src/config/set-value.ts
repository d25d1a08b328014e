// Changes one value of a config file and keeps its comments, order and spaces.

import { type Position, parseWithPositions } from "./json-with-comments.ts";

/** The text with that value; what does not exist on the way to it is made. An undefined value is taken away. */
export function setConfigValue(text: string, path: readonly string[], value: unknown): string {
  if (path.length === 0)
    throw new TypeError("setConfigValue: expected the path of a value, got an empty path");
  if (text.trim() === "")
    return value === undefined ? text : `${JSON.stringify(nested(path, value), null, 2)}\n`;
  let { position } = parseWithPositions(text);
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth + 1);
    const inside = position.members?.get(name);
    // something else than an object stands where one is needed: it goes
    if (inside === undefined) {
      if (value === undefined) return text;
      if (position.members === undefined)
        return replaced(text, position, nested(path.slice(depth), value), depth);
      return inserted(text, position, name, nested(rest, value), depth + 1);
    }
    if (rest.length === 0 && value === undefined) return removed(text, inside, position);
    if (rest.length === 0) return replaced(text, inside, value, depth + 1);
    position = inside;
  }
  return text;
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

function written(value: unknown, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent(depth)}`);
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}

function replaced(text: string, { start, end }: Position, value: unknown, depth: number): string {
  return text.slice(0, start) + written(value, depth) + text.slice(end);
}

function inserted(text: string, object: Position, name: string, value: unknown, depth: number): string {
  const member = `\n${indent(depth)}${JSON.stringify(name)}: ${written(value, depth)}`;
  const last = [...(object.members?.values() ?? [])].at(-1);
  if (last === undefined) {
    // what stands between the braces of an empty object are comments at most
    const inside = text.slice(object.start + 1, object.end - 1).trimEnd();
    return `${text.slice(0, object.start + 1)}${inside}${member}\n${indent(depth - 1)}${text.slice(object.end - 1)}`;
  }
  const { afterComma } = object;
  const at = afterComma ?? last.end;
  const isOnOneLine = !text.slice(object.start, object.end).includes("\n");
  const added = isOnOneLine ? ` ${member.trimStart()}` : member;
  return `${text.slice(0, at)}${afterComma === undefined ? "," : ""}${added}${text.slice(at)}`;
}

/** With the comma behind it, or that in front of the last one: other readers of JSON take none too many. */
function removed(text: string, { start, end, name = start }: Position, object: Position): string {
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
  const rest = text.slice(end + comma);
  const previous =
    [...(object.members?.values() ?? [])].findLast((member) => member.end <= name)?.end ?? name;
  const between = text.slice(previous, name);
  const before = text.slice(0, previous) + (comma > 0 ? between : between.replace(/^(\s*),/, "$1"));
  // a line that would be empty goes
  return /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*\n/.test(rest)
    ? before.replace(/[ \t]*$/, "") + rest.replace(/^[ \t]*\n/, "")
    : before.trimEnd() + rest;
}
