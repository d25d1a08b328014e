// Where rules come from: the machine's, the user's, the workspace's, a file and flags of this run.

import { lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Effect, type ParsedPolicy, parsePolicy, parseRule, type Rule, RuleError } from "@parley/client";
import { usageError } from "../command-error.ts";
import { policyPath } from "../data-folder.ts";

/** For all users of a machine; nobody's answer goes beyond it. */
const operatorPolicy = "/etc/parley/policy";
const workspacePolicy = join(".parley", "policy");
const maxBytes = 256 * 1024;

export interface RunRules {
  /** A file of rules that was named for this run. */
  readonly policy?: string | undefined;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Throws a usage error for what cannot be meant: a rule that is left out might have been one that forbids. */
export function configuredRules({ policy, allow = [], deny = [] }: RunRules): Rule[] {
  const help = "see docs/policy.md, or parley help permissions add";
  try {
    return [
      ...readPolicy(operatorPolicy, "operator").rules,
      ...readPolicy(policyPath(), "user").rules,
      ...(policy === undefined ? [] : readPolicy(policy, "launch", true).rules),
      ...deny.map((text) => typed("deny", text)),
      ...allow.map((text) => typed("allow", text)),
    ];
  } catch (error) {
    if (error instanceof RuleError) throw usageError(error.message, help);
    throw error;
  }
}

/** What a workspace says, with what was left out of it. */
export function workspacePolicyOf(root: string): ParsedPolicy {
  try {
    // what is wrong with a line is shown: a link would show lines of whatever file it leads to
    for (const path of [".parley", workspacePolicy].map((each) => join(root, each)))
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
        throw new RuleError(`${path} is a link, so no rules of this workspace are read`);
    return readPolicy(join(root, workspacePolicy), "workspace");
  } catch (error) {
    if (error instanceof RuleError) return { rules: [], warnings: [error.message] };
    throw error;
  }
}

function typed(effect: Effect, text: string): Rule {
  try {
    return parseRule(text, { effect, origin: "launch", source: `--${effect}` });
  } catch (error) {
    if (error instanceof RuleError) throw new RuleError(`--${effect}: ${error.message}`);
    throw error;
  }
}

function readPolicy(path: string, origin: Rule["origin"], isWanted = false): ParsedPolicy {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined && !isWanted) return { rules: [], warnings: [] };
  if (stat === undefined) throw new RuleError(`there is no file ${path}`);
  // before it is opened: a pipe would make us wait
  if (!stat.isFile() || stat.size > maxBytes) throw new RuleError(`${path} is no file of rules`);
  return parsePolicy(readFileSync(path, "utf8"), origin, path);
}
