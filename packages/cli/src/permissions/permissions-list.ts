// `parley permissions list`: lists the rules in force.

import { optional } from "@parley/acp/internal";
import { type Rule, rememberedRules, ruleText } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { directoryOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { configuredRules, workspacePolicyOf } from "./policy-rules.ts";

export async function run({ values, json }: Invocation): Promise<number> {
  const cwd = directoryOption(values) ?? process.cwd();
  const { rules: workspace, warnings } = workspacePolicyOf(cwd);
  const rules = [...configuredRules({}), ...workspace, ...rememberedRules(permissionsPath()).list()];
  const width = Math.max(0, ...rules.map((rule) => Math.min(widest, escapedLine(ruleText(rule)).length)));
  const lines = rules.map((rule) => ruleLine(rule, width));
  const hint = `Add your own rules to ${policyPath()}, one per line: allow exec npm test`;
  const text = [
    ...(lines.length === 0
      ? ["No rules: reads in the workspace are allowed, everything else is asked."]
      : lines),
    ...warnings.map((warning) => `ignored: ${escapedLine(warning)}`),
    hint,
  ].join("\n");
  const data = { rules: rules.map(ruleJson), warnings, policy: policyPath() };
  const shown = await withoutSecrets({ text, data });
  printAnswer(shown.text, shown.data, json);
  return 0;
}

/** Longer rules do not widen the column. */
const widest = 40;
/** Rules that expire sooner are shown with the hour. */
const soonMs = 2 * 86_400_000;

export function ruleLine(rule: Rule, width = 0): string {
  const { effect, id, scope, expires, source, workspace, origin, cwd } = rule;
  const where = [
    id === undefined ? (source ?? origin) : `id ${id}`,
    scope === "workspace" ? `in ${workspace?.path}` : undefined,
    cwd !== undefined ? `when run in ${cwd}` : scope === "always" ? "everywhere" : undefined,
    expires === undefined ? undefined : `until ${moment(expires)}`,
  ].filter((part) => part !== undefined);
  return `${effect.padEnd(5)}  ${escapedLine(ruleText(rule)).padEnd(width)}  (${escapedLine(where.join(", "))})`;
}

function moment(time: number): string {
  const [day = "", hour = ""] = new Date(time).toISOString().split("T");
  return time - Date.now() < soonMs ? `${day} ${hour.slice(0, 5)} UTC` : day;
}

export function ruleJson(rule: Rule): object {
  const { effect, origin, id, scope, expires, source, workspace, cwd } = rule;
  return {
    effect,
    rule: ruleText(rule),
    origin,
    ...optional({
      id,
      scope,
      expires: expires === undefined ? undefined : new Date(expires).toISOString(),
      source,
      workspace: workspace?.path,
      cwd,
    }),
  };
}
