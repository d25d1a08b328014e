// `parley permissions add EFFECT RULE`: remembers a rule.

import { realpathSync } from "node:fs";
import { optional } from "@parley/acp/internal";
import { directoryIdentity, parseRule, type Rule, RuleError, rememberedRules } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { directoryOption, parseTime } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import { commandToType } from "../settings/installation.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { ruleJson, ruleLine } from "./permissions-list.ts";

const help = "see parley help permissions add";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const rule = parsed(positionals.join(" "));
  const scope = scopeOf(values["scope"]);
  if (scope === "always") checkReach(rule);
  const cwd = realpathSync(directoryOption(values) ?? ".");
  const lasts = duration(values["for"]);
  const { of, operation, pattern, effect } = rule;
  const kept = rememberedRules(permissionsPath()).add({
    of,
    operation,
    effect,
    scope,
    ...optional({
      pattern,
      workspace: scope === "workspace" ? { path: cwd, identity: directoryIdentity(cwd) } : undefined,
      expires: lasts === undefined ? undefined : Date.now() + lasts,
    }),
  });
  const text = `${ruleLine(kept)}\nTo revoke it: ${commandToType()} permissions revoke ${kept.id}`;
  printAnswer(text, ruleJson(kept), json);
  return 0;
}

/** Unlike in a policy file, # does not start a comment. */
function parsed(text: string): Rule {
  const [, effect = "", rule = ""] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (effect === "")
    throw usageError("expected a rule, for example: parley permissions add allow exec npm test", help);
  if (effect !== "allow" && effect !== "ask" && effect !== "deny")
    throw usageError(`expected allow, ask or deny, got "${escapedLine(effect.slice(0, 50))}"`, help);
  try {
    return parseRule(rule, { effect, origin: "user" });
  } catch (error) {
    throw error instanceof RuleError ? usageError(escapedLine(error.message), help) : error;
  }
}

function scopeOf(given: unknown): "workspace" | "always" {
  if (given === "workspace" || given === "always") return given;
  throw usageError(`--scope: expected workspace or always, got ${escapedLine(String(given))}`, help);
}

/** Rules for all directories last for months, so they are limited to reads and exact commands. */
function checkReach({ effect, operation, pattern }: Rule): void {
  if (effect !== "allow" || operation === "read") return;
  if (operation === "exec" && pattern !== undefined && !/\*$/.test(pattern)) return;
  const message = "--scope always is limited to reads and exact commands";
  throw usageError(message, `use --scope workspace, or add the rule to ${policyPath()}`);
}

function duration(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const lasts = parseTime(String(given), ["m", "h", "d", "w"]);
  if (lasts !== undefined) return lasts;
  throw usageError(
    `--for: expected a time such as 30m, 12h, 30d or 4w, got ${escapedLine(String(given))}`,
    help,
  );
}
