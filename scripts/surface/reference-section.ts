// Writes the section of one public name in the reference.

import type { Symbol as Sym } from "typescript/unstable/sync";
import { declarationBlock, exampleBlock, headingOf, inlineCode, linkTo, prose } from "./markdown.ts";
import type { Declaration, Member, PublicApi, Signature } from "./public-api.ts";

/** What a section needs to know beside its declaration. */
export interface Page {
  readonly api: PublicApi;
  /** The entry point that the page is about. */
  readonly entry: string;
  /** The formatted text of a declaration. */
  readonly textOf: (declaration: Declaration) => string;
}

const experimental = "**Experimental.**";

type Doc = Declaration["doc"];

export function sectionOf(page: Page, declaration: Declaration): string {
  const { doc, members } = declaration;
  const parts = [
    `### ${headingOf(declaration)}`,
    doc.experimental
      ? `${experimental} It is part of a draft of the protocol and may change in any release.`
      : "",
    prose(doc.text),
    ...bodyOf(page, declaration),
    ...inlinedTypes(page, declaration),
    ...doc.examples.map(exampleBlock),
    ...members.filter((member) => member.doc.examples.length > 0).map(memberExample),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function bodyOf(page: Page, declaration: Declaration): string[] {
  const { kind, doc, source, members, mentions, signatures } = declaration;
  const text = page.textOf(declaration);
  if (kind === "function") {
    const lists = signatures.map((signature) => signatureList(page, signature, doc));
    return [declarationBlock(text), ...lists];
  }
  if (kind === "interface" || kind === "class") {
    const [head = ""] = text.split(" {", 1);
    const isPlain = head === `${kind} ${declaration.name}`;
    return [isPlain ? "" : declarationBlock(head), memberList(page, members)];
  }
  // comments within a type say what its parts are
  const code = source.includes("/**") ? source.replace(/^(?:export |declare )+/, "") : text;
  const links = linksOf(page, mentions).join(", ");
  return [declarationBlock(code), links === "" ? "" : `See ${links}.`];
}

function signatureList(page: Page, { parameters, result }: Signature, doc: Doc): string {
  const items = parameters.map(({ name, type, isOptional, mentions }) => {
    const text = doc.parameters[name.replace("...", "")] ?? "";
    return item(typed(page, mentions, type, `${name}${isOptional ? "?" : ""}`), text);
  });
  const returned = item(`Returns ${typed(page, result.mentions, result.type)}`, doc.returns);
  return [...items, returned, ...throwsOf(doc).map((text) => item(text))].join("\n");
}

function memberList(page: Page, members: readonly Member[]): string {
  const items = members.map(({ text, doc, mentions, members: group }) => {
    const property = text.replace(/^readonly /, "").replace(/^get (\w+)\(\):/, "$1:");
    const [, label, type = property] = /^(\w+\??): ([\s\S]*)$/.exec(property) ?? [];
    const code = group.length === 0 ? typed(page, mentions, type, label) : inlineCode(label ?? "");
    const below = group.length === 0 ? "" : `\n${memberList(page, group)}`.replaceAll("\n", "\n  ");
    return `${item(code, doc.experimental ? experimental : "", doc.text, ...throwsOf(doc))}${below}`;
  });
  return items.join("\n");
}

/** A type, after its name: a link when it is one of ours and nothing else, otherwise code with the links after it. */
function typed(page: Page, mentions: readonly Sym[], type: string, label?: string): string {
  const links = linksOf(page, mentions);
  const isName = links.length === 1 && type.replace(/;$/, "") === mentions[0]?.name;
  if (isName) return `${label === undefined ? "" : `\`${label}\`: `}${links[0]}`;
  const code = inlineCode(label === undefined ? type : `${label}: ${type}`);
  return links.length === 0 ? code : `${code} (${links.join(", ")})`;
}

function linksOf({ api, entry }: Page, mentions: readonly Sym[]): string[] {
  return mentions.flatMap((symbol) => linkTo(api, symbol, entry) ?? []);
}

function throwsOf(doc: Doc): string[] {
  return doc.throws.map((text) => `Throws ${prose(text)}`);
}

/** One item of a list: code, then what there is to say about it, each on a line of its own. */
function item(code: string, ...rest: readonly string[]): string {
  const lines = [code, ...rest.map(prose).filter((text) => text !== "")];
  return `- ${lines.map((line) => line.replaceAll("\n", "\n  ")).join("\\\n  ")}`;
}

function memberExample({ name, doc }: Member): string {
  return `An example of \`${name}\`:\n\n${doc.examples.map(exampleBlock).join("\n\n")}`;
}

/** Types that are not exported by design are shown where they are mentioned. */
function inlinedTypes({ api, textOf }: Page, { mentions }: Declaration): string[] {
  const hidden = mentions.filter((symbol) => api.home(symbol) === undefined).map(api.declaration);
  return hidden.filter(({ doc }) => doc.inline).map((declaration) => declarationBlock(textOf(declaration)));
}
