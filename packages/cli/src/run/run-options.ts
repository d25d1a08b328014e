// Parses the options of `parley run`.

import { type Invocation, usageError } from "../command/command.ts";
import { listOption, parseTime, textOption } from "../command/option-values.ts";
import { type LiveOptions, liveOptions } from "../live/live-options.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { PromptSource } from "./prompt-source.ts";

export const formats = ["text", "json", "quiet"] as const;

export interface RunOptions extends LiveOptions {
  readonly prompt: PromptSource;
  readonly images: readonly string[];
  readonly format: (typeof formats)[number];
  readonly timeoutMs: number | undefined;
}

const help = "see parley help run";

export async function runOptions(invocation: Invocation): Promise<RunOptions> {
  const { values, words, json } = invocation;
  const text = (name: string) => textOption(values, name);
  const options = await liveOptions(invocation, help);
  const format = formatOf(text("format") ?? "text", json);
  return {
    ...options,
    prompt: { words, files: listOption(values, "file") },
    images: listOption(values, "image"),
    format,
    timeoutMs: duration(text("timeout")),
    hidesNotice: format === "json",
  };
}

/** `--json` overrides a valid format. */
function formatOf(given: string, json: boolean): RunOptions["format"] {
  const format = formats.find((each) => each === given);
  if (format === undefined)
    throw usageError(`--format: expected ${formats.join(", ")}, got ${escapedLine(given)}`, help);
  return json ? "json" : format;
}

function duration(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseTime(given, ["ms", "s", "m", "h"], "s");
  // Node's timers fire at once beyond this
  if (ms === undefined || ms >= 2 ** 31) {
    throw usageError(
      `--timeout: expected a time such as 90, 90s, 10m or 1h, got ${escapedLine(given)}`,
      help,
    );
  }
  return ms;
}
