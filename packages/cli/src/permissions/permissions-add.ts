// `parley permissions add EFFECT RULE`.

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { directoryIdentity, parseRule, type Rule, RuleError, rememberedRules } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { parseTime } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { ruleJson, ruleLine } from "./permissions-list.ts";

const help = "see parley help permissions add";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const rule = parsed(positionals.join(" "));
  const scope = scopeOf(values["scope"]);
  if (scope === "always") checkReach(rule);
  const cwd = realpathSync(resolve(typeof values["cwd"] === "string" ? values["cwd"] : "."));
  const lasts = duration(values["for"]);
  const { of, operation, pattern, effect } = rule;
  const kept = rememberedRules(permissionsPath()).add({
    of,
    operation,
    ...(pattern === undefined ? {} : { pattern }),
    effect,
    scope,
    ...(scope === "workspace" ? { workspace: { path: cwd, identity: directoryIdentity(cwd) } } : {}),
    ...(lasts === undefined ? {} : { expires: Date.now() + lasts }),
  });
  const text = `${ruleLine(kept)}\nTake it back: parley permissions revoke ${kept.id}`;
  printAnswer(text, ruleJson(kept), json);
  return 0;
}

/** One rule, and no line of a file: a # is part of it. */
function parsed(text: string): Rule {
  const [, effect = "", rule = ""] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (effect === "") throw usageError("which rule? type: parley permissions add allow exec npm test", help);
  if (effect !== "allow" && effect !== "ask" && effect !== "deny")
    throw usageError(
      `a rule begins with allow, ask or deny, got "${escapedLine(effect.slice(0, 50))}"`,
      help,
    );
  try {
    return parseRule(rule, { effect, origin: "user" });
  } catch (error) {
    throw error instanceof RuleError ? usageError(escapedLine(error.message), help) : error;
  }
}

function scopeOf(given: unknown): "workspace" | "always" {
  if (given === "workspace" || given === "always") return given;
  throw usageError(`--scope takes workspace or always, got ${escapedLine(String(given))}`, help);
}

/** Everywhere and for months: only what changes nothing, and what is exactly this command. */
function checkReach({ effect, operation, pattern }: Rule): void {
  if (effect !== "allow" || operation === "read") return;
  if (operation === "exec" && pattern !== undefined && !/\*$/.test(pattern)) return;
  const message = "always allows reading and exact commands only";
  throw usageError(message, `use --scope workspace, or write the rule into ${policyPath()}`);
}

function duration(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const lasts = parseTime(String(given), ["m", "h", "d", "w"]);
  if (lasts !== undefined) return lasts;
  throw usageError(`--for takes a time such as 30m, 12h, 30d or 4w, got ${escapedLine(String(given))}`, help);
}
