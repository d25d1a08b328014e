// Converts an HTML page to Markdown-like text for a model.

import { Parser } from "htmlparser2";

const skipped: ReadonlySet<string> = new Set(
  "script style noscript template svg head iframe object canvas nav footer button select dialog".split(" "),
);
const blocks: ReadonlySet<string> = new Set(
  "p div section article main aside header ul ol dl dt dd table figure figcaption blockquote address details summary form hr".split(
    " ",
  ),
);

export interface PageText {
  readonly title: string | undefined;
  readonly text: string;
}

export function htmlText(html: string, base: URL): PageText {
  const page = new Page(base);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => page.open(name, attributes),
      ontext: (text) => page.add(text),
      onclosetag: (name) => page.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  for (let at = 0; at < html.length && page.depth <= maxDepth; at += chunkChars) {
    parser.write(html.slice(at, at + chunkChars));
  }
  if (page.depth <= maxDepth) parser.end();
  return page.result();
}

/** Deeper nesting is an attack, since the parser's cost grows with the depth: the rest is dropped. */
const maxDepth = 1_000;
const chunkChars = 16 * 1024;

interface OpenLink {
  readonly lines: number;
  readonly at: number;
  readonly href: string | undefined;
}

/** Builds the text line by line, at a cost linear in its length. */
class Page {
  readonly #base: URL;
  readonly #lines: string[] = [];
  #line = "";
  /** The line has only its bullet. */
  #isBullet = false;
  depth = 0;
  #title: string | undefined;
  #inTitle = false;
  /** Nesting depth inside a skipped element. */
  #skipping = 0;
  #pre = 0;
  readonly #lists: { readonly isOrdered: boolean; count: number }[] = [];
  readonly #links: OpenLink[] = [];

  constructor(base: URL) {
    this.#base = base;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.depth += 1;
    if (name === "title" && this.#title === undefined) this.#inTitle = true;
    if (skipped.has(name)) this.#skipping += 1;
    if (this.#skipping > 0) return;
    if (/^h[1-6]$/.test(name)) {
      this.#block();
      this.#line = `${"#".repeat(Number(name[1]))} `;
    } else if (name === "pre") this.#openCode();
    else if (name === "br") this.#endLine();
    else if (name === "li") this.#openItem();
    else if (name === "tr") this.#endLineIfAny();
    else if (name === "td" || name === "th") this.#line += this.#line === "" ? "" : " | ";
    else if (name === "code" && this.#pre === 0) this.#write("`");
    else if (name === "a") this.#openLink(attributes["href"]);
    else if (name === "img" && attributes["alt"]) this.add(`[image: ${attributes["alt"]}]`);
    else if (blocks.has(name)) this.#block();
    if (name === "ul" || name === "ol") this.#lists.push({ isOrdered: name === "ol", count: 0 });
  }

  close(name: string): void {
    this.depth -= 1;
    if (name === "title") this.#inTitle = false;
    if (skipped.has(name)) this.#skipping = Math.max(0, this.#skipping - 1);
    if (this.#skipping > 0 || skipped.has(name)) return;
    if (name === "ul" || name === "ol") this.#lists.pop();
    if (name === "pre") this.#closeCode();
    else if (name === "code" && this.#pre === 0) this.#write("`");
    else if (name === "a") this.#closeLink();
    else if (name === "li" || name === "tr") this.#endLineIfAny();
    else if (blocks.has(name) || /^h[1-6]$/.test(name)) this.#block();
  }

  add(text: string): void {
    if (this.#inTitle) this.#title = `${this.#title ?? ""}${text}`;
    if (this.#inTitle || this.#skipping > 0) return;
    if (this.#pre > 0) this.#addCode(text);
    else {
      const words = text.replace(/\s+/g, " ");
      this.#write(this.#line === "" || this.#line.endsWith(" ") ? words.trimStart() : words);
    }
  }

  result(): PageText {
    this.#endLineIfAny();
    return { title: this.#title?.replace(/\s+/g, " ").trim(), text: this.#lines.join("\n").trim() };
  }

  #write(text: string): void {
    if (text === "") return;
    this.#line += text;
    this.#isBullet = false;
  }

  #endLine(): void {
    this.#lines.push(this.#line.trimEnd());
    this.#line = "";
    this.#isBullet = false;
  }

  #endLineIfAny(): void {
    if (this.#line.trim() !== "" && !this.#isBullet) this.#endLine();
  }

  /** Adds an empty line between blocks, but not between list items. */
  #block(): void {
    // a paragraph in a list item stays on the line of its bullet
    if (this.#isBullet) return;
    this.#endLineIfAny();
    if (this.#lists.length === 0 && this.#lines.at(-1) !== "") this.#lines.push("");
  }

  #openItem(): void {
    this.#endLineIfAny();
    const list = this.#lists.at(-1);
    if (list !== undefined) list.count += 1;
    const bullet = list?.isOrdered === true ? `${list.count}. ` : "- ";
    this.#line = `${"  ".repeat(Math.max(0, this.#lists.length - 1))}${bullet}`;
    this.#isBullet = true;
  }

  #openCode(): void {
    this.#block();
    if (this.#line !== "") this.#endLine();
    this.#lines.push("```");
    this.#pre += 1;
  }

  #addCode(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#line += first;
    for (const line of rest) {
      this.#endLine();
      this.#line = line;
    }
  }

  #closeCode(): void {
    this.#pre = Math.max(0, this.#pre - 1);
    if (this.#line !== "") this.#endLine();
    this.#lines.push("```", "");
  }

  #openLink(href: string | undefined): void {
    this.#links.push({ lines: this.#lines.length, at: this.#line.length, href });
  }

  #closeLink(): void {
    const link = this.#links.pop();
    if (link?.href === undefined || this.#pre > 0) return;
    const target = this.#absolute(link.href);
    // a link over several lines stays plain text
    if (target === undefined || link.lines !== this.#lines.length) return;
    const text = this.#line.slice(link.at).trim();
    if (text !== "") this.#line = `${this.#line.slice(0, link.at)}[${text}](${target})`;
  }

  #absolute(href: string): string | undefined {
    if (href.startsWith("#")) return undefined;
    try {
      const url = new URL(href, this.#base);
      return /^(?:https?|mailto):$/.test(url.protocol) ? url.href : undefined;
    } catch {
      return undefined;
    }
  }
}
