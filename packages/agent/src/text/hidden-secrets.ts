// Removes credentials from what servers and providers say.

import { redactor, type StreamRedactor, streamRedactor } from "@parley/acp/redact";
import { withoutControls } from "./safe-text.ts";

const mark = "***";

/** The credentials of one MCP server. */
export class HiddenSecrets {
  #values: readonly string[] = [];
  #known: StreamRedactor<object> = streamRedactor([]);

  constructor(values: readonly string[]) {
    this.add(values);
  }

  /** Tokens of a login become known later. */
  add(values: readonly string[]): void {
    this.#values = [...new Set([...this.#values, ...values])];
    this.#known = streamRedactor(this.#values, { mark });
  }

  /** For errors and logs: also removes anything that looks like a key. */
  scrub(text: string): string {
    return scrub(text, this.#values);
  }

  /** Removes the secrets from every string in the value. */
  clean<Value>(value: Value): Value {
    return this.#known.value(value);
  }
}

/** For errors and logs: without secrets, and without sequences for terminals. */
export function scrub(text: string, secrets: readonly string[]): string {
  return redactor({ secrets, names: false, mark }).text(withoutControls(text));
}
