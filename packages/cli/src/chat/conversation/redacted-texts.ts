// Removes known secrets from texts, which are loaded with the first one.

import type { SecretsLoader } from "../../settings/known-secrets.ts";

/** Calls back with the texts in the order of the calls. */
export function redactedTexts(secrets: SecretsLoader): (text: string, use: (text: string) => void) => void {
  let redact: ((text: string) => string) | undefined;
  const waiting: (() => void)[] = [];
  const load = async (): Promise<void> => {
    const [{ streamRedactor }, known] = await Promise.all([import("@parley/acp/redact"), secrets()]);
    const redactor = streamRedactor(known);
    redact = (text) => redactor.text(text);
    for (const work of waiting.splice(0)) work();
  };
  return (text, use) => {
    if (redact !== undefined) return use(redact(text));
    waiting.push(() => use(redact?.(text) ?? ""));
    // it cannot fail but for a broken installation
    if (waiting.length === 1) void load();
  };
}
