// Two types that the generated types of both versions share.

/** Custom data: the one place of a protocol object where fields of one's own may go (X2). */
export type Meta = { [key: string]: unknown };

/**
 * The tag of a variant that this version does not know: any other string at run time. As a type it must be a
 * unit that no literal compares to, or else `switch (block.type)` would leave the unknown variant over in
 * every case. `string`, `string & {}` and branded strings all do; an ambient enum does not, and is erased.
 */
export declare enum UnknownTag {
  other = "",
}
