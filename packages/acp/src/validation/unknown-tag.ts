// Types that the generated types of both versions share.

/** Custom data of a protocol object. */
export type Meta = { readonly [key: string]: unknown };

/**
 * A tag or value that only newer peers know: any other string at run time. Nobody can write one, but what was received
 * can be sent on. It is an ambient enum, because with any string type `switch (block.type)` would include the unknown
 * variant in every case.
 */
export declare enum UnknownTag {
  other = "",
}
