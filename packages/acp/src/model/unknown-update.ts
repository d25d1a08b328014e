// The update of a kind that an edition does not know.

import type { UnknownTag } from "../validation/unknown-tag.ts";

/** An update of a kind that the edition does not know, as it came. */
export interface UnknownUpdate {
  /** The kind as it came. */
  readonly sessionUpdate: `_${string}` | UnknownTag;
  /** Always true; no other update has this field. */
  readonly unknown: true;
  /** The whole update as it came, unchecked. */
  readonly raw: unknown;
}
