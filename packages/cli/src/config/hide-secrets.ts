// Hides the secrets of a config: keys, headers, variables, and secrets in arguments and addresses.

import { Redactor } from "@parley/acp/redact";

const hidden = "(hidden)";

export function hideSecrets(value: unknown, path: readonly string[] = []): unknown {
  const [parent, name] = [path.at(-2), path.at(-1)];
  const isSecret = name === "apiKey" || parent === "headers" || parent === "env";
  if (isSecret && typeof value === "string") return hidden;
  if (Array.isArray(value)) {
    if (name === "args" && value.every((each) => typeof each === "string")) return withoutValues(value);
    return value.map((each, index) => hideSecrets(each, [...path, String(index)]));
  }
  if (typeof value === "string") return withoutValues([value])[0];
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, hideSecrets(each, [...path, key])]),
  );
}

function withoutValues(words: readonly string[]): string[] {
  const redactor = new Redactor({ names: false });
  return redactor.command(words).map((word) => word.replaceAll(/\[(?:redacted|secret \d+)\]/g, hidden));
}
