// Builders for the options in command tables.

import type { Option } from "./command.ts";

/** An option without a value. */
export function flag(summary: string, more: Pick<Option, "short"> = {}): Option {
  return { type: "boolean", summary, ...more };
}

/** An option with a value; help shows its name, as in `--cwd DIR`. */
export function option(
  value: string,
  summary: string,
  more: Pick<Option, "short" | "multiple" | "default" | "completes"> = {},
): Option {
  return { type: "string", value, summary, ...more };
}
