// Finds the secrets in a value, such as a config section, stored keys, an argv or the MCP servers of a session.

import { Redactor } from "./redactor.ts";
import { shortestSecret } from "./secret-forms.ts";
import { address, decoded, secretKey } from "./secret-patterns.ts";

/**
 * Finds secrets by their position: values of `env` and `headers`, of keys with telling names, arguments after options
 * such as `--token`, and the user info and query of URLs. Values shorter than eight characters are left out.
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

/** Passwords in our own URLs count even if they are common words. */
function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const named = [...searchParams].flatMap(([key, value]) => (secretKey.test(key) ? [value] : []));
  return [password, decoded(password), ...named];
}
