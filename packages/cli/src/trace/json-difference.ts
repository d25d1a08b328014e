// The differences between two JSON values.

import { isObject } from "@parley/acp/jsonrpc";

/** At a JSON pointer. Without `before` it was added, without `after` it was removed. */
export interface Difference {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export function differencesOf(before: unknown, after: unknown, path = ""): Difference[] {
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(before, after, path);
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      differencesOf(before[name], after[name], `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    );
  }
  return before === after ? [] : [{ path, before, after }];
}

/** What was inserted at the beginning does not make all the rest differ. */
function ofLists(before: readonly unknown[], after: readonly unknown[], path: string): Difference[] {
  const isSame = (at: number, other: number) => JSON.stringify(before[at]) === JSON.stringify(after[other]);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(head, head)) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(before.length - 1 - tail, after.length - 1 - tail)) tail += 1;
  const longest = Math.max(before.length, after.length) - tail;
  const [old, fresh] = [before.slice(0, before.length - tail), after.slice(0, after.length - tail)];
  return Array.from({ length: longest - head }, (_, at) =>
    differencesOf(old[head + at], fresh[head + at], `${path}/${head + at}`),
  ).flat();
}
