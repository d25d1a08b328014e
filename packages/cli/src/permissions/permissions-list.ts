// `parley permissions list`.

import { resolve } from "node:path";
import { type Rule, rememberedRules, ruleText } from "@parley/client";
import type { Invocation } from "../command.ts";
import { permissionsPath, policyPath } from "../data-folder.ts";
import { printAnswer } from "../print-answer.ts";
import { printable } from "../wire-printer.ts";
import { configuredRules, workspacePolicyOf } from "./policy-rules.ts";

export async function run({ values, json }: Invocation): Promise<number> {
  const cwd = resolve(typeof values["cwd"] === "string" ? values["cwd"] : ".");
  const { rules: workspace, warnings } = workspacePolicyOf(cwd);
  const rules = [...configuredRules({}), ...workspace, ...rememberedRules(permissionsPath()).list()];
  const lines = rules.map(ruleLine);
  const hint = `Rules of yours go into ${policyPath()}, one to a line: allow exec npm test`;
  const text = [
    ...(lines.length === 0
      ? ["There are no rules: reading in the workspace is allowed, all else is asked."]
      : lines),
    ...warnings.map((warning) => `ignored: ${printable(warning)}`),
    hint,
  ].join("\n");
  printAnswer(text, { rules: rules.map(ruleJson), warnings, policy: policyPath() }, json);
  return 0;
}

export function ruleLine(rule: Rule): string {
  const { effect, id, scope, expires, source, workspace, origin, cwd } = rule;
  const where = [
    id === undefined ? (source ?? origin) : `id ${id}`,
    scope === "workspace" ? `in ${workspace?.path}` : scope === "always" ? "everywhere" : undefined,
    cwd === undefined ? undefined : `when run in ${cwd}`,
    expires === undefined ? undefined : `until ${new Date(expires).toISOString().slice(0, 10)}`,
  ].filter((part) => part !== undefined);
  return `${effect.padEnd(5)}  ${printable(ruleText(rule))}  (${printable(where.join(", "))})`;
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
