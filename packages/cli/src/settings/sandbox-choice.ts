// Reads the option --sandbox.

import type { CommandProfile } from "@parley/sandbox";
import { type Invocation, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** `off`: commands run as they are, and are asked about. */
export const sandboxChoices = [
  "workspace",
  "read-only",
  "strict",
  "off",
] as const satisfies readonly CommandProfile[];

/** Of `parley run --sandbox`: a profile of commands, or that the agent itself runs in a sandbox. */
export const sandboxWords = ["agent", ...sandboxChoices] as const;

export type SandboxChoice = (typeof sandboxChoices)[number];

/** Undefined where none was typed. */
export function sandboxChoice(values: Invocation["values"]): SandboxChoice | undefined {
  const given = textOption(values, "sandbox");
  const chosen = sandboxChoices.find((each) => each === given);
  if (given === undefined || chosen !== undefined) return chosen;
  throw usageError(
    `--sandbox: expected ${sandboxChoices.join(", ")}, got ${escapedLine(given)}`,
    "docs/sandbox.md says what each lets through",
  );
}
