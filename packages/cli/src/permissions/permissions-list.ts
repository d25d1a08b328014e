// `parley permissions list`.

import { resolve } from "node:path";
import { type Rule, rememberedRules, ruleText } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { printAnswer } from "../command/print-answer.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { configuredRules, workspacePolicyOf } from "./policy-rules.ts";

export async function run({ values, json }: Invocation): Promise<number> {
  const cwd = resolve(typeof values["cwd"] === "string" ? values["cwd"] : ".");
  const { rules: workspace, warnings } = workspacePolicyOf(cwd);
  const rules = [...configuredRules({}), ...workspace, ...rememberedRules(permissionsPath()).list()];
  const width = Math.max(0, ...rules.map((rule) => Math.min(widest, escapedLine(ruleText(rule)).length)));
  const lines = rules.map((rule) => ruleLine(rule, width));
  const hint = `Rules of yours go into ${policyPath()}, one to a line: allow exec npm test`;
  const text = [
    ...(lines.length === 0
      ? ["There are no rules: reading in the workspace is allowed, all else is asked."]
      : lines),
    ...warnings.map((warning) => `ignored: ${escapedLine(warning)}`),
    hint,
  ].join("\n");
  const data = { rules: rules.map(ruleJson), warnings, policy: policyPath() };
  const told = await withoutSecrets({ text, data });
  printAnswer(told.text, told.data, json);
  return 0;
}

/** A longer rule does not move the others aside. */
const widest = 40;
/** Of a rule that ends within it the hour counts. */
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
    ...(id === undefined ? {} : { id }),
    ...(scope === undefined ? {} : { scope }),
    ...(expires === undefined ? {} : { expires: new Date(expires).toISOString() }),
    ...(source === undefined ? {} : { source }),
    ...(workspace === undefined ? {} : { workspace: workspace.path }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}
