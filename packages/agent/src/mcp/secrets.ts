// Removes an MCP server's credentials from its results, errors and stderr.

import { scrub } from "../text/scrub.ts";

/** Replacing shorter values would damage ordinary words. */
const minLength = 4;
const secretName = /key|token|secret|passw|pwd|credential|auth|cookie|private|dsn|\bpat\b|_pat$/i;

export class Secrets {
  /** Longest first, since one may contain another. */
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    const long = values.filter((value) => value.length >= minLength);
    this.#values = [...new Set(long)].sort((a, b) => b.length - a.length);
  }

  /** For errors and logs: also removes anything that looks like a key. */
  scrub(text: string): string {
    return scrub(text, this.#values);
  }

  /** Removes the secrets from every string in the value. */
  clean<Value>(value: Value): Value {
    if (this.#values.length === 0) return value;
    return this.#cleaned(value) as Value; // strings stay strings, the rest keeps its shape
  }

  #cleaned(value: unknown): unknown {
    if (typeof value === "string") {
      return this.#values.reduce((text, secret) => text.replaceAll(secret, "***"), value);
    }
    if (Array.isArray(value)) return value.map((item) => this.#cleaned(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#cleaned(key), this.#cleaned(item)]),
    );
  }
}

export function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.values(headers).flatMap((value) => {
    const [, scheme = "", rest = ""] = /^(\w+)\s+(\S.*)$/.exec(value) ?? [];
    if (rest === "") return [value];
    if (scheme.toLowerCase() !== "basic") return [value, rest];
    const [, password = ""] = /^[^:]*:([\s\S]*)$/.exec(Buffer.from(rest, "base64").toString()) ?? [];
    return [value, rest, password];
  });
}

export function secretsOfUrl(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [];
  const named = [...parsed.searchParams].filter(([name]) => secretName.test(name)).map(([, value]) => value);
  return [parsed.password, decodeURIComponent(parsed.password), ...named];
}

export function secretsOfEnvironment(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (secretName.test(name) || looksRandom(value)) return [value];
    return /^\w+:\/\//.test(value) ? secretsOfUrl(value) : [];
  });
}

/** Long, one word, digits and letters, not a path. */
function looksRandom(value: string): boolean {
  return /^[\w.~+=-]{16,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) && !value.startsWith(".");
}
