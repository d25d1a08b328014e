// Splits a Markdown file into its YAML front matter and its body.

import { isObject } from "@parley/acp/internal";
import { oneLine } from "../text/safe-text.ts";

export interface FrontMatter {
  /** Empty when there is none, or when it is not valid YAML. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export async function frontMatterOf(text: string): Promise<FrontMatter> {
  const plain = text.replace(/^\ufeff/, "");
  const [whole, yaml] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/.exec(plain) ?? [];
  if (whole === undefined || yaml === undefined) return { fields: {}, body: plain };
  return { fields: await fieldsOf(yaml), body: plain.slice(whole.length) };
}

async function fieldsOf(yaml: string): Promise<FrontMatter["fields"]> {
  const { parse } = await import("yaml");
  // people write `description: Use it for: …` without quotes: such a line is text
  const lines = Object.fromEntries(
    Array.from(yaml.matchAll(/^([\w-]+):[ \t]+([^\s&*{[|>].*?)[ \t]*\r?$/gm), ([, name = "", value]) => [
      name,
      value,
    ]),
  );
  try {
    const value: unknown = parse(yaml, { maxAliasCount: 0, logLevel: "silent" });
    if (!isObject(value)) return lines;
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, isObject(field) ? (lines[name] ?? field) : field]),
    );
  } catch {
    return lines;
  }
}

/** A field as one line of text; undefined when it is something else or empty. */
export function lineOf(value: unknown, maxCharacters: number): string | undefined {
  const text = typeof value === "string" ? oneLine(value.replaceAll(/\s+/g, " "), maxCharacters) : "";
  return text === "" ? undefined : text;
}
