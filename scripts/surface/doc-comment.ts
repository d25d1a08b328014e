// Reads the hover text of a declaration and the tags of its comment.

import {
  getTextOfJSDocComment,
  type JSDocTag,
  type JSDocThrowsTag,
  type Node,
} from "typescript/unstable/ast";
import {
  isJSDoc,
  isJSDocParameterTag,
  isJSDocThrowsTag,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

/** What the comment above a declaration says. */
export interface Doc {
  /** The hover text, without tags; empty when there is none. */
  readonly text: string;
  /** The texts of `@param`, by parameter. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly returns: string;
  readonly throws: readonly string[];
  readonly examples: readonly string[];
  /** Part of a draft: it may change in any release. */
  readonly experimental: boolean;
  /** A type that is deliberately not exported, because its declaration is all that users need of it. */
  readonly inline: boolean;
}

export function docOf(node: Node): Doc {
  const comment = commented(node)
    .jsDoc?.filter((candidate) => isJSDoc(candidate))
    .at(-1);
  const tags = comment?.tags ?? [];
  const texts = (name: string) =>
    tags.filter((tag) => tagName(tag) === name).map((tag) => textOf(tag.comment));
  return {
    text: textOf(comment?.comment),
    parameters: Object.fromEntries(
      tags.flatMap((tag) => (isJSDocParameterTag(tag) ? [[tag.name.getText(), textOf(tag.comment)]] : [])),
    ),
    returns: texts("returns").join(" "),
    throws: tags.flatMap((tag) => (isJSDocThrowsTag(tag) ? [errorText(tag)] : [])),
    examples: texts("example"),
    experimental: texts("experimental").length > 0,
    inline: texts("inline").length > 0,
  };
}

/** The comment of a `const` is above the statement that the declaration is part of. */
function commented(node: Node): Node {
  return isVariableDeclaration(node) ? node.parent.parent : node;
}

/** `@throws {TypeError} The name is empty.` */
function errorText(tag: JSDocThrowsTag): string {
  const type = tag.typeExpression?.getText().replaceAll(/[{}]/g, "");
  return `${type === undefined ? "" : `\`${type}\`: `}${textOf(tag.comment)}`;
}

function tagName(tag: JSDocTag): string {
  return tag.tagName.text;
}

function textOf(comment: Parameters<typeof getTextOfJSDocComment>[0]): string {
  return (getTextOfJSDocComment(comment) ?? "").trim().replace(/^- /, "");
}
