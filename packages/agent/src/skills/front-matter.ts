// Splits a Markdown file into its front matter and its body. Of YAML, only texts are read: in whatever way a project nests the
// rest, it costs nothing.

import { oneLine } from "../text/safe-text.ts";

export interface FrontMatter {
  /** The texts at its top level. Empty when there is none. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

export function frontMatterOf(text: string): FrontMatter {
  const plain = text.replace(/^\ufeff/, "");
  const [whole, yaml] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/.exec(plain) ?? [];
  if (whole === undefined || yaml === undefined) return { fields: new Map(), body: plain };
  return { fields: fieldsOf(yaml), body: plain.slice(whole.length) };
}

function fieldsOf(yaml: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const lines = yaml.split(/\r?\n/);
  for (let at = 0; at < lines.length; ) {
    const [, name, first = ""] = /^([\w-]+):(?:[ \t]+(.*))?$/.exec(lines[at++] ?? "") ?? [];
    const more: string[] = [];
    while (at < lines.length && /^(?:[ \t]|$)/.test(lines[at] ?? "")) more.push((lines[at++] ?? "").trim());
    const value = name === undefined ? undefined : textIn(first.trim(), more);
    if (name !== undefined && value !== undefined) fields.set(name, value);
  }
  return fields;
}

/** Undefined for what is no text: a list, an object, an alias. People write `Use it for: …` without quotes, which is text. */
function textIn(first: string, more: readonly string[]): string | undefined {
  const rest = more.join("\n").trim();
  if (/^[|>][-+\d]*$/.test(first)) return rest;
  if (first === "") return /^(?:-\s|[\w-]+:(?:\s|$)|[&*{[|>])/.test(rest) ? undefined : rest;
  if (/^[&*{[|>]/.test(first)) return undefined;
  const whole = `${first}\n${rest}`.trim();
  const [, quote, quoted = ""] = /^(["'])([\s\S]*)\1$/.exec(whole) ?? [];
  if (quote === "'") return quoted.replaceAll("''", "'");
  if (quote === undefined) return whole;
  return quoted.replaceAll(/\\(.)/g, (_, each: string) => (/[nrt]/.test(each) ? " " : each));
}

/** A field as one line of text; undefined when it is missing or empty. */
export function lineOf(value: string | undefined, maxCharacters: number): string | undefined {
  const text = oneLine((value ?? "").replaceAll(/\s+/g, " "), maxCharacters);
  return text === "" ? undefined : text;
}
