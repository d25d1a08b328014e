// Fields that both versions write alike.

import { optional } from "../base/optional.ts";
import type { Meta } from "../model/content.ts";

/** `_meta` of a message as the model has it: absent when there is none. */
export function metaOf(params: object): { meta?: Meta } {
  const { _meta } = params as { _meta?: Meta | null };
  return optional({ meta: _meta ?? undefined });
}

export function withMeta(meta: Meta | undefined): { _meta?: Meta } {
  return optional({ _meta: meta });
}

/** A copy of the list; undefined when it is empty. */
export function nonEmpty<Item>(list: readonly Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : [...list];
}
