// Reads permission rules: of the machine, the user, and the file and options of a run.

import { readFileSync, statSync } from "node:fs";
import {
  enforcementOf,
  parsePolicy,
  parseRule,
  type Rule,
  type RuleEffect,
  RuleError,
  type RuleMount,
} from "@parley/client/policy";
import { usageError } from "../command/command.ts";
import { policyPath } from "../settings/data-folder.ts";
import { readSource, TooLargeError } from "../settings/read-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** For all users of a machine; no answer overrides it. */
export const machinePolicy = "/etc/parley/policy";
const maxBytes = 256 * 1024;
const help = "see docs/policy.md, or parley help permissions add";

/** Read once, since it may be a pipe. */
export interface PolicyFile {
  readonly path: string;
  readonly text: string;
}

/** The file of `--policy`. Throws a usage error if it cannot be read. */
export async function policyFile(path: string | undefined): Promise<PolicyFile | undefined> {
  if (path === undefined) return undefined;
  try {
    return { path, text: (await readSource(path, { maxBytes })).toString("utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // of fs
    if (error instanceof TooLargeError || code === "EISDIR")
      throw usageError(`--policy: ${escapedLine(path)} is not a file of at most 256 KiB`, help);
    if (code === "ENOENT") throw usageError(`--policy: file not found: ${escapedLine(path)}`, help);
    throw usageError(`--policy: cannot read ${escapedLine(path)}: ${code}`, help);
  }
}

export interface RunRules {
  readonly policy?: PolicyFile | undefined;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** Throws a usage error for an invalid rule: ignoring it might ignore a denial. */
export function configuredRules({ policy, allow = [], ask = [], deny = [] }: RunRules): Rule[] {
  try {
    return [
      ...(readPolicy(machinePolicy, "operator") ?? []),
      ...(readPolicy(policyPath(), "user") ?? []),
      ...(policy === undefined ? [] : parsePolicy(policy.text, "launch", policy.path).rules),
      ...deny.map((text) => typed("deny", text)),
      ...ask.map((text) => typed("ask", text)),
      ...allow.map((text) => typed("allow", text)),
    ];
  } catch (error) {
    if (error instanceof RuleError) throw usageError(error.message, help);
    throw error;
  }
}

function typed(effect: RuleEffect, text: string): Rule {
  try {
    return parseRule(text, { effect, origin: "launch", source: `--${effect}` });
  } catch (error) {
    if (error instanceof RuleError) throw new RuleError(`--${effect}: ${error.message}`);
    throw error;
  }
}

/** The plain paths that rules deny, for the sandbox in which an agent runs. */
export function mountsOf(
  rules: readonly Rule[],
  roots: readonly string[],
): { readonly hide: readonly string[]; readonly readOnly: readonly string[] } {
  const mounts = enforcementOf(rules, roots).flatMap((each) => each.mounts);
  const paths = (access: RuleMount["access"]) =>
    mounts.flatMap((each) => (each.access === access ? [each.path] : []));
  return { hide: paths("none"), readOnly: paths("read") };
}

/** Undefined if there is no file. Throws a RuleError for a file that cannot be used. */
export function readPolicy(path: string, origin: "operator" | "user"): readonly Rule[] | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    // checked before it is opened, since a pipe would block
    if (!stat.isFile() || stat.size > maxBytes)
      throw new RuleError(`${path} is not a file of at most 256 KiB`);
    return parsePolicy(readFileSync(path, "utf8"), origin, path).rules;
  } catch (error) {
    if (error instanceof RuleError) throw error;
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs
    throw new RuleError(`${path} cannot be read (${code})`);
  }
}
