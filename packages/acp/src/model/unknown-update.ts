// The update of a kind that an edition does not know.

import type { UnknownTag } from "../validation/unknown-tag.ts";

/** An update of a kind that the edition does not know, as it came. */
export interface UnknownUpdate {
  readonly sessionUpdate: `_${string}` | UnknownTag;
  readonly unknown: true;
  readonly raw: unknown;
}
