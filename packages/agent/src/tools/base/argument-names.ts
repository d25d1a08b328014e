// Reads arguments under the names and in the shapes that models know from other agents, before they are checked.

import { isObject } from "@parley/acp/jsonrpc";
import type { ObjectSchema, Schema } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/** What models call the path of a file. */
export const pathNames = ["file_path", "filePath", "filename", "file_name", "file", "absolute_path"];
/** What models call the path of a directory. */
export const folderNames = ["directory", "dir", "folder", "dir_path", "dirPath", "directory_path"];

/** Names of arguments besides those of the schema. */
export interface ArgumentNames extends Pick<Tool, "aliases"> {
  /** Arguments that models add by habit and that mean nothing here. */
  readonly ignores?: readonly string[];
}

/** The arguments under our names; what cannot be understood stays as it is, for the check to report. */
export function withOurNames(schema: ObjectSchema, names: ArgumentNames, input: unknown): unknown {
  return lifted(schema, renamed(schema, names, input));
}

function renamed(schema: Schema, names: ArgumentNames, given: unknown): unknown {
  if (schema.type === "array") {
    const value = parsed(given);
    const items = Array.isArray(value) ? value : isOneItem(schema.items, value) ? [value] : undefined;
    return items?.map((item: unknown) => renamed(schema.items, names, item)) ?? given;
  }
  const value = schema.type === "object" ? parsed(given) : given;
  return schema.type === "object" && isObject(value) ? renamedObject(schema, names, value) : given;
}

/** A list of one is often written without its brackets. */
function isOneItem(items: Schema, value: unknown): boolean {
  return items.type === "object" ? isObject(value) : items.type === "string" && typeof value === "string";
}

function renamedObject(schema: ObjectSchema, names: ArgumentNames, given: object): Record<string, unknown> {
  const result = new Map<string, unknown>();
  const isOurs = (name: string) => Object.hasOwn(schema.properties, name);
  for (const [name, value] of Object.entries(given)) if (isOurs(name)) result.set(name, value);
  for (const [name, value] of Object.entries(given)) {
    if (isOurs(name)) continue;
    const ours = Object.keys(names.aliases ?? {}).find(
      (each) => names.aliases?.[each]?.includes(name) && (isOurs(each) || isOfItems(schema, each)),
    );
    if (ours === undefined) {
      if (names.ignores?.includes(name) !== true) result.set(name, value);
      continue;
    }
    // the same said twice is fine, a contradiction is reported under the unknown name
    const isSaid = result.has(ours) && result.get(ours) !== value;
    result.set(isSaid ? name : ours, value);
  }
  // keys may be "__proto__": no plain assignment
  return Object.fromEntries(
    Array.from(result, ([name, value]) => {
      const property = isOurs(name) ? schema.properties[name] : undefined;
      return [name, property === undefined ? value : renamed(property, names, value)];
    }),
  );
}

/** The list of objects of a tool that has exactly one. */
function listOf({
  properties,
}: ObjectSchema): { readonly name: string; readonly items: ObjectSchema } | undefined {
  const lists = Object.entries(properties).flatMap(([name, property]) =>
    property.type === "array" && property.items.type === "object" ? [{ name, items: property.items }] : [],
  );
  return lists.length === 1 ? lists[0] : undefined;
}

function isOfItems(schema: ObjectSchema, name: string): boolean {
  return Object.hasOwn(listOf(schema)?.items.properties ?? {}, name);
}

/** The parts of the only item, written beside the other arguments, become a list of one. */
function lifted(schema: ObjectSchema, given: unknown): unknown {
  const list = listOf(schema);
  if (list === undefined || !isObject(given) || Object.hasOwn(given, list.name)) return given;
  const isPart = (name: string) => !Object.hasOwn(schema.properties, name) && isOfItems(schema, name);
  const entries = Object.entries(given);
  const item = entries.filter(([name]) => isPart(name));
  if (item.length === 0) return given;
  const rest = entries.filter(([name]) => !isPart(name));
  return Object.fromEntries([...rest, [list.name, [Object.fromEntries(item)]]]);
}

/** Some models write JSON in a string. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
