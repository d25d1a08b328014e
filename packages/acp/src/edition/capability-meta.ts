// Reads and writes the `_meta` of the parts of capabilities, which the model has flat.

import { isObject, optional } from "../base/objects.ts";
import type { Meta } from "../model/content.ts";
import type { Lost, PartsMeta } from "./agent-edition.ts";

type Paths = readonly (readonly [from: string, to: string])[];

/** The parts of version 1 that have another path in version 2: longer ones first. */
const fromV1: Paths = [
  ["promptCapabilities", "session.prompt"],
  ["mcpCapabilities", "session.mcp"],
  ["sessionCapabilities", "session"],
];
const toV1: Paths = fromV1.map(([v1, model]) => [model, v1]);

/** The `_meta` of every part of the capabilities, by path. */
export function partsMetaOf(capabilities: object, paths: Paths = []): { partsMeta?: PartsMeta } {
  const found: [string, Meta][] = [];
  const walk = (part: object, path: string): void => {
    for (const [name, value] of Object.entries(part)) {
      if (!isObject(value)) continue;
      const at = path === "" ? name : `${path}.${name}`;
      if (name !== "_meta") walk(value, at);
      else if (path !== "") found.push([moved(path, paths), value]);
    }
  };
  walk(capabilities, "");
  return optional({ partsMeta: found.length === 0 ? undefined : Object.fromEntries(found) });
}

/** The same for capabilities of version 1. */
export function partsMetaFromV1(capabilities: object): { partsMeta?: PartsMeta } {
  return partsMetaOf(capabilities, fromV1);
}

/** The same capabilities with the `_meta` of their parts. Parts that are not there are reported as lost. */
export function withPartsMeta<Capabilities extends object>(
  capabilities: Capabilities,
  partsMeta: PartsMeta = {},
  lost?: Lost,
  paths: Paths = [],
): Capabilities {
  let result = capabilities;
  for (const [path, meta] of Object.entries(partsMeta)) {
    const changed = withPartMeta(result, moved(path, paths).split("."), meta);
    if (changed === undefined) lost?.(`the metadata of the capability ${path}`);
    else result = changed as Capabilities; // the same parts, and `_meta`, which each of them may have
  }
  return result;
}

/** The same for capabilities of version 1. */
export function withPartsMetaInV1<Capabilities extends object>(
  capabilities: Capabilities,
  partsMeta: PartsMeta | undefined,
  lost?: Lost,
): Capabilities {
  return withPartsMeta(capabilities, partsMeta, lost, toV1);
}

function withPartMeta(part: object, [name, ...rest]: readonly string[], meta: Meta): object | undefined {
  if (name === undefined) return { ...part, _meta: meta };
  const value: unknown = Object.hasOwn(part, name) ? (part as Record<string, unknown>)[name] : undefined;
  const changed = isObject(value) ? withPartMeta(value, rest, meta) : undefined;
  return changed && { ...part, [name]: changed };
}

function moved(path: string, paths: Paths): string {
  const found = paths.find(([from]) => path === from || path.startsWith(`${from}.`));
  return found === undefined ? path : found[1] + path.slice(found[0].length);
}
