// `parley permissions list`, `add` and `revoke`: the rules in force and the remembered ones.

import { realpathSync } from "node:fs";
import { optional } from "@parley/acp/jsonrpc";
import {
  directoryIdentity,
  enforcementOf,
  parseRule,
  type RememberedRules,
  type Rule,
  RuleError,
  rememberedRules,
  ruleText,
} from "@parley/client/policy";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { directoryOption, parseTime } from "../command/option-values.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import { commandToType } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";
import { trustedSettings } from "../trust/workspace-trust.ts";
import { configuredRules } from "./policy-rules.ts";
import { allowsEverything, refuseForRoot } from "./rules-for-root.ts";

export async function listRules({ values, json }: Invocation): Promise<number> {
  const cwd = directoryOption(values) ?? process.cwd();
  const { rules: workspace, notices: warnings } = trustedSettings(cwd);
  const identity = directoryIdentity(realpathSync(cwd));
  const isHere = ({ workspace: only }: Rule): boolean => only === undefined || only.identity === identity;
  const all = [...configuredRules({}), ...workspace, ...remembered().list()];
  const [here, elsewhere] = [all.filter(isHere), all.filter((rule) => !isHere(rule))];
  const width = Math.max(0, ...all.map((rule) => Math.min(widest, escapedLine(ruleText(rule)).length)));
  const hint = `Add your own rules to ${policyPath()}, one per line: allow exec npm test`;
  const text = [
    ...(here.length === 0
      ? [
          "No rules apply here: reads in the workspace and commands in a sandbox are allowed. Everything else is asked.",
        ]
      : here.map((rule) => ruleLine(rule, width))),
    ...(elsewhere.length === 0 ? [] : ["Only in other directories:"]),
    ...elsewhere.map((rule) => ruleLine(rule, width)),
    ...warnings.map((warning) => `warning: ${escapedLine(warning)}`),
    hint,
  ].join("\n");
  const rules = [...here, ...elsewhere].map((rule) => ({ ...ruleJson(rule), appliesHere: isHere(rule) }));
  const data = { rules, warnings, policy: policyPath() };
  const shown = withoutSecrets({ text, data });
  return printAnswer(wrapLines(shown.text, columnsOf(process.stdout), wrapIndent), shown.data, json);
}

function remembered(): RememberedRules {
  return rememberedRules(permissionsPath());
}

/** Longer rules do not widen the column. */
const widest = 40;
/** Rules that expire sooner are shown with the hour. */
const soonMs = 2 * 86_400_000;

export function ruleLine(rule: Rule, width = 0): string {
  const { effect, id, scope, expires, source, workspace, origin } = rule;
  const where = [
    id === undefined ? (source ?? origin) : `id ${id}`,
    scope === "workspace" ? `in ${workspace?.path}` : undefined,
    scope === "always" ? "everywhere" : undefined,
    expires === undefined ? undefined : `until ${moment(expires)}`,
    heldBy(rule),
  ].filter((part) => part !== undefined);
  return `${effect.padEnd(5)}  ${escapedLine(ruleText(rule)).padEnd(width)}  (${escapedLine(where.join(", "))})`;
}

/** What a rule is worth where a command runs in a sandbox. A rule that allows holds nothing back. */
export function heldBy(rule: Rule): string | undefined {
  if (rule.effect === "allow" && rule.operation !== "net") return undefined;
  return enforcement(rule) === "system" ? "enforced by the system in a sandbox" : "enforced by Parley";
}

function enforcement(rule: Rule): "system" | "parley" {
  return enforcementOf([rule], [])[0]?.by ?? "parley";
}

function moment(time: number): string {
  const [day = "", hour = ""] = new Date(time).toISOString().split("T");
  return time - Date.now() < soonMs ? `${day} ${hour.slice(0, 5)} UTC` : day;
}

export function ruleJson(rule: Rule): object {
  const { effect, origin, id, scope, expires, source, workspace } = rule;
  return {
    effect,
    rule: ruleText(rule),
    origin,
    enforcedBy: enforcement(rule),
    ...optional({
      id,
      scope,
      expires: expires === undefined ? undefined : new Date(expires).toISOString(),
      source,
      workspace: workspace?.path,
    }),
  };
}

const help = "see parley help permissions add";

export async function addRule({ values, positionals, json }: Invocation): Promise<number> {
  const rule = parsed(typedRule(positionals));
  const scope = scopeOf(values["scope"]);
  if (scope === "always") checkReach(rule);
  // it would refuse every later run
  if (allowsEverything(rule)) refuseForRoot(rule, "allow *");
  const cwd = realpathSync(directoryOption(values) ?? ".");
  const lasts = duration(values["for"]);
  const { operation, pattern, effect } = rule;
  const kept = remembered().add({
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
  return printAnswer(text, ruleJson(kept), json);
}

/** The shell has taken the quotes off words that are given one by one. */
function typedRule([effect = "", operation = "", ...words]: readonly string[]): string {
  const isCommand = operation === "exec" && words.length > 1;
  const kept = words.map((word) =>
    isCommand && /\s/.test(word) && !word.startsWith("(") ? `'${word.replaceAll("'", "'\\''")}'` : word,
  );
  return [effect, operation, ...kept].join(" ");
}

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
  if (operation === "exec" && pattern !== undefined && !pattern.endsWith("**")) return;
  const message = "--scope always accepts only reads and exact commands";
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

/** The ids that were typed, or all. Throws for one that is not there. */
export function wantedIds(all: readonly string[], { values, positionals }: Invocation): readonly string[] {
  // the beginning of an id is enough where it is that of one alone
  const whole = (given: string): string => {
    const [only = given, another] = all.filter((id) => id.startsWith(given));
    return another === undefined ? only : given;
  };
  const wanted = values["all"] === true ? all : positionals.map(whole);
  if (wanted.length === 0 && values["all"] !== true)
    throw usageError("expected the id of a rule, or --all", "parley permissions list shows the ids");
  const unknown = wanted.filter((id) => !all.includes(id));
  if (unknown.length > 0) {
    const message = `unknown rule id: ${escapedLine(unknown.join(", "))}`;
    throw new CommandError("not_found", message, "parley permissions list shows the ids");
  }
  return wanted;
}

export async function revokeRules(invocation: Invocation): Promise<number> {
  const { json } = invocation;
  const answers = remembered();
  const wanted = wantedIds(
    answers.list().map(({ id }) => id),
    invocation,
  );
  for (const id of wanted) answers.revoke(id);
  const text = wanted.length === 0 ? "No rules to revoke." : `Revoked: ${wanted.join(", ")}`;
  return printAnswer(text, { revoked: wanted }, json);
}
