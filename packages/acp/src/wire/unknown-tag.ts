// Two types that the generated types of both versions share.

/** Custom data: the one place of a protocol object where fields of one's own may go (X2). */
export type Meta = { [key: string]: unknown };

declare const unknownTag: unique symbol;

/**
 * The tag of a variant that this version does not know. It is a plain string at run time; the brand keeps it
 * apart from the known tags, so that `switch (block.type)` narrows to one variant per case and to the unknown
 * one in `default`. With `string` instead, the unknown variant would be left over in every case.
 */
export type UnknownTag = string & { readonly [unknownTag]: true };
