// Applies patches: absent keeps, null clears, a value replaces.

import type { ContentBlock, Meta } from "../model/content.ts";

/** Patches these fields of an item. */
export function patchFields<Key extends string, Item extends { [Field in Key]: unknown }>(
  item: Item,
  patch: { readonly [Field in Key]?: Item[Field] | null | undefined },
  keys: readonly Key[],
): void {
  for (const key of keys) item[key] = patched(item[key], patch[key]) as Item[Key]; // null became undefined
}

export function patched<T>(stored: T | undefined, value: T | null | undefined): T | undefined {
  return value === undefined ? stored : (value ?? undefined);
}

/**
 * Patches metadata by top-level key: null removes a key, null as a whole removes all. The stored object is
 * changed in place.
 */
export function patchedMeta(stored: Meta | undefined, patch: Meta | null | undefined): Meta | undefined {
  if (patch === undefined) return stored;
  if (patch === null) return undefined;
  const meta = stored ?? {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete meta[key];
    // an assignment would set the prototype
    else if (key === "__proto__") Object.defineProperty(meta, key, ownProperty(value));
    else meta[key] = value;
  }
  return meta;
}

function ownProperty(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

/** Whether a block is text without annotations or metadata, which can be joined with its neighbours. */
function isPlainText(block: ContentBlock): block is Extract<ContentBlock, { type: "text" }> {
  return (
    block.type === "text" &&
    (block.annotations === undefined || block.annotations === null) &&
    (block._meta === undefined || block._meta === null)
  );
}

/**
 * Copies plain text blocks, because later chunks are appended to them and entries must not change.
 */
export function ownBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.map((block) => (isPlainText(block) ? { ...block } : block));
}

/** Appends a chunk; text is joined with the text before it. */
export function appendBlock(content: ContentBlock[], block: ContentBlock): void {
  if (!isPlainText(block)) {
    content.push(block);
    return;
  }
  const last = content.at(-1);
  if (last !== undefined && isPlainText(last)) last.text += block.text;
  else content.push({ ...block });
}
