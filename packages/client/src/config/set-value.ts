// Changes one value of a config file and keeps its comments, order and spaces.

import type { Node } from "jsonc-parser";
import { parser, parseWithPositions } from "./json-with-comments.ts";

/**
 * Changes one value in the text of a config file and keeps its comments, order and spaces. Missing objects on the path are
 * created. `undefined` removes the value.
 *
 * @throws {TypeError} When the path is empty.
 *
 * @example
 * import { setConfigValue } from "@parley/client/config";
 *
 * console.log(setConfigValue('{ "client": {} } // mine', ["client", "agent"], "gemini"));
 */
export function setConfigValue(text: string, path: readonly string[], value: unknown): string {
  if (path.length === 0)
    throw new TypeError("setConfigValue: expected the path of a value, got an empty path");
  if (text.trim() === "")
    return value === undefined ? text : `${JSON.stringify(nested(path, value), null, 2)}\n`;
  let node = parseWithPositions(text);
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth + 1);
    const member = node.type === "object" ? node.children?.find((each) => nameOf(each) === name) : undefined;
    const inside = member?.children?.[1];
    // something else than an object stands where one is needed: it goes
    if (member === undefined || inside === undefined) {
      if (value === undefined) return text;
      if (node.type !== "object") return replaced(text, node, nested(path.slice(depth), value), depth);
      return inserted(text, node, name, nested(rest, value), depth + 1);
    }
    if (rest.length === 0 && value === undefined) return removed(text, member, node);
    if (rest.length === 0) return replaced(text, inside, value, depth + 1);
    node = inside;
  }
  return text;
}

function nameOf({ children }: Node): unknown {
  return children?.[0]?.value;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
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

function replaced(text: string, node: Node, value: unknown, depth: number): string {
  return text.slice(0, node.offset) + written(value, depth) + text.slice(endOf(node));
}

function inserted(text: string, object: Node, name: string, value: unknown, depth: number): string {
  const [start, end] = [object.offset, endOf(object)];
  const member = `\n${indent(depth)}${JSON.stringify(name)}: ${written(value, depth)}`;
  const last = object.children?.at(-1);
  if (last === undefined) {
    // what stands between the braces of an empty object are comments at most
    const inside = text.slice(start + 1, end - 1).trimEnd();
    return `${text.slice(0, start + 1)}${inside}${member}\n${indent(depth - 1)}${text.slice(end - 1)}`;
  }
  const comma = commaAfter(text, endOf(last));
  const at = comma === undefined ? endOf(last) : comma + 1;
  const isOnOneLine = !text.slice(start, end).includes("\n");
  const added = isOnOneLine ? ` ${member.trimStart()}` : member;
  return `${text.slice(0, at)}${comma === undefined ? "," : ""}${added}${text.slice(at)}`;
}

/** Where the next comma is, if nothing but comments comes before it. */
function commaAfter(text: string, position: number): number | undefined {
  const scanner = parser().createScanner(text, true);
  scanner.setPosition(position);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** With the comma behind it, or that in front of the last one: other readers of JSON take none too many. */
function removed(text: string, member: Node, object: Node): string {
  const comma = /^\s*,/.exec(text.slice(endOf(member)))?.[0].length ?? 0;
  const rest = text.slice(endOf(member) + comma);
  const before = object.children?.findLast((each) => each.offset < member.offset);
  const previous = before === undefined ? member.offset : endOf(before);
  const between = text.slice(previous, member.offset);
  const kept = text.slice(0, previous) + (comma > 0 ? between : between.replace(/^(\s*),/, "$1"));
  // a line that would be empty goes
  return /(?:^|\n)[ \t]*$/.test(kept) && /^[ \t]*\n/.test(rest)
    ? kept.replace(/[ \t]*$/, "") + rest.replace(/^[ \t]*\n/, "")
    : kept.trimEnd() + rest;
}
