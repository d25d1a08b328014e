// How a patch meets what is stored: absent keeps, null clears, a value replaces.

import type { ContentBlock, Meta } from "../model/content.ts";

export function patched<T>(stored: T | undefined, value: T | null | undefined): T | undefined {
  return value === undefined ? stored : (value ?? undefined);
}

/**
 * Metadata is patched by top-level key: null removes one, null as a whole removes all. The stored object is the
 * fold's own and is changed in place, since a copy would cost more with every key that ever came.
 */
export function patchedMeta(stored: Meta | undefined, patch: Meta | null | undefined): Meta | undefined {
  if (patch === undefined) return stored;
  if (patch === null) return undefined;
  const meta = stored ?? {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete meta[key];
    // Assigning to "__proto__" would set the prototype.
    else if (key === "__proto__") Object.defineProperty(meta, key, ownProperty(value));
    else meta[key] = value;
  }
  return meta;
}

function ownProperty(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

/** Text that joins with the text before and after it: nothing is said about this piece alone. */
function isPlainText(block: ContentBlock): block is Extract<ContentBlock, { type: "text" }> {
  return (
    block.type === "text" &&
    (block.annotations === undefined || block.annotations === null) &&
    (block._meta === undefined || block._meta === null)
  );
}

/**
 * Blocks to keep. Entries belong to everybody and may be frozen, so plain text, which later chunks grow, is
 * copied: every plain text block in a view is the fold's own.
 */
export function ownBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.map((block) => (isPlainText(block) ? { ...block } : block));
}

/** Appends a chunk; text continues the text before it. */
export function appendBlock(content: ContentBlock[], block: ContentBlock): void {
  if (!isPlainText(block)) {
    content.push(block);
    return;
  }
  const last = content.at(-1);
  if (last !== undefined && isPlainText(last)) last.text += block.text;
  else content.push({ ...block });
}
