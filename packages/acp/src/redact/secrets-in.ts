// What of a value is secret, for whoever was given it and must not tell it on: a section of a config, stored keys, an
// argv, the MCP servers of a session.

import { Redactor } from "./redactor.ts";
import { shortestSecret } from "./secret-forms.ts";
import { address, decoded, secretKey } from "./secret-patterns.ts";

/**
 * By where they stand: values of `env` and `headers`, of keys whose names say so, arguments after `--token` and the like,
 * user-info and query of addresses. What is shorter than eight characters may be part of anything, and is not among them.
 */
export function secretsIn(value: unknown): string[] {
  const redactor = new Redactor({ names: false });
  redactor.value(value);
  const passwords: string[] = [];
  for (const url of addresses(value)) {
    redactor.text(url);
    passwords.push(...passwordsOf(url));
  }
  return [...new Set([...redactor.found, ...passwords])].filter((secret) => secret.length >= shortestSecret);
}

function* addresses(value: unknown): Generator<string> {
  if (typeof value === "string") for (const [url] of value.matchAll(address)) yield url;
  else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) yield* addresses(item);
  }
}

/** In what others say, a password that is a common word may be an example; in an address of ours it is one. */
function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const named = [...searchParams].flatMap(([key, value]) => (secretKey.test(key) ? [value] : []));
  return [password, decoded(password), ...named];
}
