// The gate of a command that talks to agents: with the rules of this machine, of this user and of this run, with
// what was remembered, and with a log of what is done.

import { accessSync, constants, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  auditLog,
  describeRule,
  type Gate,
  type GateOptions,
  permissionGate,
  type Rule,
  rememberedRules,
} from "@parley/client";
import { usageError } from "../command/command-error.ts";
import {
  auditFolder,
  configPath,
  dataFolder,
  permissionsPath,
  stateFolder,
} from "../settings/data-folder.ts";
import { configuredRules, type RunRules, workspacePolicyOf } from "./policy-rules.ts";

export interface OpenGateOptions
  extends RunRules,
    Pick<GateOptions, "asker" | "agent" | "extraRoots" | "environment"> {
  /** What must not be in the log. */
  readonly secrets?: Iterable<string>;
  /** What of a workspace's rules was left out. */
  warn?(message: string): void;
}

export interface OpenedGate {
  readonly gate: Gate;
  /** Ends the log. */
  close(): void;
}

/** Throws a usage error where a rule cannot be meant. */
export function openGate(options: OpenGateOptions): OpenedGate {
  const { asker, agent, extraRoots, environment, warn } = options;
  warnOfReadOnly(auditFolder(), warn);
  const audit = auditLog(auditFolder(), { secrets: options.secrets ?? [] });
  const rules = configuredRules(options);
  const everything = rules.find(({ effect, operation }) => effect === "allow" && operation === "*");
  if (everything !== undefined) {
    refuseForRoot(everything);
    warn?.("everything is allowed for this run, except what is always asked");
  }
  const known = new Map<string, readonly Rule[]>();
  const gate = permissionGate({
    rules,
    workspaceRules(root) {
      const found = known.get(root);
      if (found !== undefined) return found;
      const { rules, warnings } = workspacePolicyOf(root);
      for (const warning of warnings) warn?.(warning);
      known.set(root, rules);
      return rules;
    },
    remembered: rememberedRules(permissionsPath()),
    audit,
    own: [dirname(configPath()), dataFolder(), stateFolder()],
    ...(asker === undefined ? {} : { asker }),
    ...(agent === undefined ? {} : { agent }),
    ...(extraRoots === undefined ? {} : { extraRoots }),
    ...(environment === undefined ? {} : { environment }),
  });
  return { gate, close: () => audit.close() };
}

/** What cannot be written down is not done: better to hear that before every tool of an agent fails by it. */
function warnOfReadOnly(folder: string, warn: OpenGateOptions["warn"]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    warn?.(
      `${folder} cannot be written (${code}), so whatever needs a permission will be refused; PARLEY_HOME moves it`,
    );
  }
}

/** An agent that may do everything may then do it to the whole machine. Windows has no such user. */
function refuseForRoot(rule: Rule): void {
  if (process.getuid?.() !== 0 || process.env["PARLEY_SANDBOX"] === "1") return;
  throw usageError(
    `${describeRule(rule)} is refused for root: it would let an agent do everything to this machine`,
    "be another user, allow what is needed only, or set PARLEY_SANDBOX=1 where nothing is lost with the machine",
  );
}
