// Writes the parts of the reference in Markdown: headings, links between types, prose and code.

import type { Symbol as Sym } from "typescript/unstable/sync";
import { fileNameOf } from "./entry-points.ts";
import { type Declaration, isWire, type PublicApi } from "./public-api.ts";

/** The one section that lists the types of the wire. */
export const wireHeading = "Types of the wire";

/** Functions are told apart from types of the same name, as `agent()` from `Agent`. */
export function headingOf({ kind, name }: Pick<Declaration, "kind" | "name">): string {
  return kind === "function" ? `${name}()` : `${kind} ${name}`;
}

/** How GitHub names the place of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** A link to where a public name is described; `from` is the entry point of the page, or undefined for the index. */
export function linkTo(api: PublicApi, symbol: Sym, from: string | undefined): string | undefined {
  const home = api.home(symbol);
  if (home === undefined) return undefined;
  const declaration = api.declaration(symbol);
  const page = `${from === undefined ? "api/" : ""}${fileNameOf(home.entry.name)}.md`;
  const heading = isWire(declaration) ? wireHeading : headingOf({ ...declaration, name: home.name });
  return `[\`${home.name}\`](${home.entry.name === from ? "" : page}#${anchorOf(heading)})`;
}

/** Joins the lines that a comment was wrapped into; lists and paragraphs stay. */
export function prose(text: string): string {
  return text.replaceAll(/(?<!\n)\n(?!\n|\s*[-*] |\s*\d+\. |```)/g, " ");
}

/** Code that is shown and, unlike examples, no module of its own. */
export function declarationBlock(code: string): string {
  return `\`\`\`ts declaration\n${code}\n\`\`\``;
}

/** An example is a whole module; the tests of the documentation compile it. */
export function exampleBlock(example: string): string {
  return example.startsWith("```") ? example : `\`\`\`ts\n${example}\n\`\`\``;
}

/** Code within a line. `readonly` is not repeated: users write to few things, and their hover texts say so. */
export function inlineCode(text: string): string {
  const line = text
    .replaceAll("readonly ", "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll(/;(?= \}|$)/g, "")
    .replaceAll(/(?<=\[) | (?=\])/g, "");
  return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
}
