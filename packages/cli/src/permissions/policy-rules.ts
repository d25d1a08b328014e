// Where rules come from: the machine's, the user's, the workspace's, a file and flags of this run.

import { lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Effect, type ParsedPolicy, parsePolicy, parseRule, type Rule, RuleError } from "@parley/client";
import { usageError } from "../command/command-error.ts";
import { policyPath } from "../settings/data-folder.ts";
import { readSource, TooLargeError } from "../settings/read-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** For all users of a machine; nobody's answer goes beyond it. */
const operatorPolicy = "/etc/parley/policy";
const workspacePolicy = join(".parley", "policy");
const maxBytes = 256 * 1024;
const help = "see docs/policy.md, or parley help permissions add";

/** Read once: it may be a pipe. */
export interface PolicyFile {
  readonly path: string;
  readonly text: string;
}

/** What `--policy` names. Throws a usage error where it cannot be read. */
export async function policyFile(path: string | undefined): Promise<PolicyFile | undefined> {
  if (path === undefined) return undefined;
  try {
    return { path, text: (await readSource(path, { maxBytes })).toString("utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // of fs
    if (error instanceof TooLargeError || code === "EISDIR")
      throw usageError(`${escapedLine(path)} is no file of rules`, help);
    if (code === "ENOENT") throw usageError(`there is no file ${escapedLine(path)}`, help);
    throw usageError(`--policy ${escapedLine(path)} cannot be read: ${code}`, help);
  }
}

export interface RunRules {
  /** A file of rules that was named for this run. */
  readonly policy?: PolicyFile | undefined;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Throws a usage error for what cannot be meant: a rule that is left out might have been one that forbids. */
export function configuredRules({ policy, allow = [], deny = [] }: RunRules): Rule[] {
  try {
    return [
      ...readPolicy(operatorPolicy, "operator").rules,
      ...readPolicy(policyPath(), "user").rules,
      ...(policy === undefined ? [] : parsePolicy(policy.text, "launch", policy.path).rules),
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

function readPolicy(path: string, origin: Rule["origin"]): ParsedPolicy {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { rules: [], warnings: [] };
  // before it is opened: a pipe would make us wait
  if (!stat.isFile() || stat.size > maxBytes) throw new RuleError(`${path} is no file of rules`);
  return parsePolicy(readFileSync(path, "utf8"), origin, path);
}
