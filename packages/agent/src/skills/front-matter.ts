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
  try {
    const value: unknown = parse(yaml, { maxAliasCount: 0, logLevel: "silent" });
    return isObject(value) ? (value as FrontMatter["fields"]) : {};
  } catch {
    // people write `description: Use this: …` without quotes: take lines as they are
    const lines = yaml.matchAll(/^([\w-]+):[ \t]*(.*?)[ \t]*\r?$/gm);
    return Object.fromEntries(Array.from(lines, ([, name = "", value = ""]) => [name, value]));
  }
}

/** A field as one line of text; undefined when it is something else or empty. */
export function lineOf(value: unknown, maxCharacters: number): string | undefined {
  const text = typeof value === "string" ? oneLine(value.replaceAll(/\s+/g, " "), maxCharacters) : "";
  return text === "" ? undefined : text;
}
