// Checks whether the permission rules can be read.

import { RuleError, rememberedRules } from "@parley/client/policy";
import { machinePolicy, readPolicy } from "../permissions/policy-rules.ts";
import { permissionsPath, policyPath } from "../settings/data-folder.ts";
import type { Finding } from "./examine.ts";

/** The policy of the user; that of the machine and remembered answers only if there are any. */
export function examinePolicy(): Finding[] {
  const remembered = rememberedRules(permissionsPath());
  const own = policyPath();
  const findings = [
    examined("machine policy", machinePolicy, () => readPolicy(machinePolicy, "operator")),
    examined("policy", own, () => readPolicy(own, "user")) ?? {
      what: "policy",
      state: "ok" as const,
      detail: `no file at ${own}, so the defaults apply`,
    },
    examined("remembered rules", permissionsPath(), () => {
      const rules = remembered.list();
      return rules.length === 0 ? undefined : rules;
    }),
  ];
  return findings.filter((each) => each !== undefined);
}

/** Undefined if there are no rules to read. */
function examined(
  what: string,
  path: string,
  read: () => readonly unknown[] | undefined,
): Finding | undefined {
  try {
    const rules = read();
    if (rules === undefined) return undefined;
    return { what, state: "ok", detail: `${path}, ${rules.length} ${rules.length === 1 ? "rule" : "rules"}` };
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    // nothing can be decided without the rules
    return {
      what,
      state: "broken",
      detail: error.message,
      todo: `edit ${path}; no agent can run until then`,
    };
  }
}
