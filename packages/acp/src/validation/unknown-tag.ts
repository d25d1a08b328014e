// Types that the generated types of both versions share.

/** Custom data of a protocol object. */
export type Meta = { [key: string]: unknown };

/**
 * The tag of an unknown variant: any other string at run time. It is an ambient enum, because with any string type
 * `switch (block.type)` would include the unknown variant in every case.
 */
export declare enum UnknownTag {
  other = "",
}
