// The public API as data: entry points, and the declarations that they export.

import type { Symbol as Sym } from "typescript/unstable/sync";
import type { ParameterText } from "./declaration-text.ts";
import type { Doc } from "./doc-comment.ts";
import type { EntryPoint } from "./entry-points.ts";

export type Kind = "function" | "class" | "interface" | "type" | "const";

/** A member of an interface or class; the members of a group (`session?: { … }`) are below it. */
export interface Member {
  readonly name: string;
  readonly text: string;
  readonly doc: Doc;
  readonly mentions: readonly Sym[];
  readonly members: readonly Member[];
}

/** One signature of a function. */
export interface Signature {
  readonly parameters: readonly (ParameterText & { readonly mentions: readonly Sym[] })[];
  readonly result: { readonly type: string; readonly mentions: readonly Sym[] };
}

/** One name, wherever it is exported. */
export interface Declaration {
  readonly name: string;
  readonly kind: Kind;
  readonly file: string;
  readonly text: string;
  /** The source with its comments, for types whose parts are documented one by one. */
  readonly source: string;
  readonly doc: Doc;
  readonly members: readonly Member[];
  readonly signatures: readonly Signature[];
  readonly mentions: readonly Sym[];
}

/** What one entry point exports. */
export interface Exported {
  readonly name: string;
  readonly symbol: Sym;
  /** A value too: it exists at run time. */
  readonly isValue: boolean;
}

/** One entry point with its names, sorted. */
export interface Entry extends EntryPoint {
  /** The comment at the top of its source. */
  readonly summary: string;
  readonly exports: readonly Exported[];
}

export interface PublicApi {
  readonly entries: readonly Entry[];
  /** The entry point that a name is described with: the first that exports it. */
  home(symbol: Sym): { readonly entry: EntryPoint; readonly name: string } | undefined;
  /** Works for types that are not exported too. */
  readonly declaration: (symbol: Sym) => Declaration;
}

/** The names that are described with this entry point. */
export function ownNames(api: PublicApi, entry: Entry): Exported[] {
  return entry.exports.filter(({ symbol }) => api.home(symbol)?.entry.name === entry.name);
}

/** Types of the wire are generated into files that hold nothing else: those are what a reviewer reads. */
export function isWire({ file }: Pick<Declaration, "file">): boolean {
  return file.startsWith("packages/acp/src/wire/");
}
