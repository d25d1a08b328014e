// Rules that root may not use.

import { describeRule, type Rule } from "@parley/client/policy";
import { usageError } from "../command/command.ts";

export function allowsEverything({ effect, operation }: Pick<Rule, "effect" | "operation">): boolean {
  return effect === "allow" && operation === "*";
}

/** As root, an agent that may do everything could damage the whole machine. */
export function refuseForRoot(rule: Rule, shown: string = describeRule(rule)): void {
  if (process.getuid?.() !== 0 || process.env["PARLEY_SANDBOX"] === "1") return;
  throw usageError(
    `${shown} is refused for root: it would give an agent full control of this machine`,
    "use another user, allow only what is needed, or set PARLEY_SANDBOX=1 on a disposable machine",
  );
}
