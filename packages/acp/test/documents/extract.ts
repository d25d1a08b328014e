// Finds the sections and the JSON examples of a document in Markdown. Run as a program, it compares those of a document
// with what is committed: npx node packages/acp/test/documents/extract.ts official PATH

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type Document, documents, quoted, type Section } from "./documents.ts";

export interface FoundExample {
  /** The title of the section. */
  readonly section: string;
  /** The line at which the example begins, from 1. */
  readonly line: number;
  /** The example, where it is JSON. Absent where it is only like JSON. */
  readonly value?: unknown;
  /** The text of an example that is only like JSON. */
  readonly text?: string;
}

export interface Found {
  readonly sections: readonly Section[];
  readonly examples: readonly FoundExample[];
}

/** One block may hold several messages, each after a comment that begins with `//`. */
export function examplesIn(markdown: string): Found {
  const sections: Section[] = [];
  const examples: FoundExample[] = [];
  let language: string | undefined;
  let block: { line: number; text: string }[] = [];
  for (const [index, text] of markdown.split("\n").entries()) {
    const line = index + 1;
    const fence = /^```(\w*)$/.exec(text);
    const heading = /^#{1,6} +(.*)$/.exec(text);
    if (language === undefined && heading) sections.push({ title: heading[1] ?? "", line });
    else if (language === undefined && fence) language = fence[1];
    else if (fence && language !== undefined) {
      const section = sections.at(-1)?.title ?? "";
      for (const found of language === "json" ? splitBlock(block) : wireLines(language, block))
        examples.push({ section, ...found });
      language = undefined;
      block = [];
    } else if (language !== undefined) block.push({ line, text });
  }
  return { sections, examples };
}

type Lines = readonly { readonly line: number; readonly text: string }[];

function* splitBlock(block: Lines): Iterable<Omit<FoundExample, "section">> {
  let rest: { line: number; text: string }[] = [];
  for (const each of block) {
    if (each.text.startsWith("//") || (rest.length === 0 && each.text === "")) continue;
    rest.push(each);
    // a message ends where a line closes what the first line opened
    if (each.text !== "}") continue;
    yield example(rest);
    rest = [];
  }
  if (rest.some(({ text }) => text !== "")) yield example(rest);
}

/** Messages as they are sent, one per line. */
function* wireLines(language: string, block: Lines): Iterable<Omit<FoundExample, "section">> {
  if (language === "text")
    for (const each of block) if (each.text.startsWith('{"jsonrpc"')) yield example([each]);
}

function example(lines: Lines): Omit<FoundExample, "section"> {
  const text = lines.map((each) => each.text).join("\n");
  const line = lines[0]?.line ?? 0;
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    return { line, text };
  }
}

/** What differs between a document and what is committed of it. */
export function differences({ sections, examples, counts }: Document, markdown: string): string[] {
  const found = examplesIn(markdown);
  const wrong: string[] = [];
  // a document without headings has its sections from a reader
  if (found.sections.length > 0 && !isDeepStrictEqual(found.sections, sections))
    wrong.push("the sections differ");
  for (const { line, section, value } of found.examples) {
    const ours = examples.find((each) => each.line === line);
    if (ours === undefined) wrong.push(`line ${line}: the example is missing`);
    else if (ours.section !== section) wrong.push(`line ${line}: the section is ${section}`);
    else if (value === undefined ? ours.completed === undefined : !isDeepStrictEqual(quoted(ours), value))
      wrong.push(`line ${line}: the example differs`);
  }
  const json = found.examples.filter((each) => "value" in each).length;
  if (json !== counts.json || found.examples.length - json !== counts.almostJson)
    wrong.push(`the document has ${json} examples, and ${found.examples.length - json} that are almost JSON`);
  return wrong;
}

if (import.meta.main) {
  const [name = "", path = ""] = process.argv.slice(2);
  const document = documents.get(name);
  if (document === undefined) throw new Error(`got ${name}, want one of ${[...documents.keys()].join(", ")}`);
  const wrong = differences(document, readFileSync(path, "utf8"));
  process.stdout.write(`${name}: ${wrong.length === 0 ? "all as committed" : wrong.join("; ")}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
