// Opens the permission gate with the rules of the machine, the user and the run, remembered answers and an audit log.

import { accessSync, constants, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { auditLog } from "@parley/client/audit";

import {
  type Gate,
  type GateOptions,
  permissionGate,
  type Rule,
  RuleError,
  rememberedRules,
  reviewer,
} from "@parley/client/policy";
import {
  auditFolder,
  configPath,
  dataFolder,
  permissionsPath,
  stateFolder,
} from "../settings/data-folder.ts";
import type { SandboxChoice } from "../settings/sandbox-choice.ts";
import { trustedSettings } from "../trust/workspace-trust.ts";
import { configuredRules, type RunRules } from "./policy-rules.ts";
import { allowsEverything, refuseForRoot } from "./rules-for-root.ts";

export interface OpenGateOptions
  extends RunRules,
    Pick<GateOptions, "asker" | "isOwn" | "extraRoots" | "env" | "beforeWrite" | "sessionRules"> {
  /** The sandbox of commands. Default: workspace. */
  readonly sandbox?: SandboxChoice | undefined;
  /** The agent's name, which the reviewer gets. */
  readonly agent?: string | undefined;
  /** A command that is asked before the asker. */
  readonly reviewer?: string | undefined;
  /** Kept out of the log. */
  readonly secrets?: Iterable<string>;
  /** The rules of the workspace that take effect. Default: those of a trusted folder. */
  workspaceRules?(root: string): readonly Rule[];
  warn?(message: string): void;
}

export interface OpenedGate {
  readonly gate: Gate;
  /** Closes the log. */
  close(): void;
}

/** Throws a usage error for an invalid rule. */
export function openGate(options: OpenGateOptions): OpenedGate {
  const { asker, agent, isOwn, extraRoots, env, beforeWrite, sessionRules } = options;
  const { warn, sandbox: profile = "workspace" } = options;
  warnOfReadOnly(auditFolder(), warn);
  const audit = auditLog(auditFolder(), { secrets: options.secrets ?? [] });
  const rules = configuredRules(options);
  const remembered = rememberedRules(permissionsPath());
  const everything = [...rules, ...readable(remembered)].find(allowsEverything);
  if (everything !== undefined) {
    refuseForRoot(everything);
    warn?.("a rule allows everything, except what is always asked");
  }
  const gate = permissionGate({
    rules,
    workspaceRules: options.workspaceRules ?? ((root) => trustedSettings(root).rules),
    remembered,
    audit,
    own: [dirname(configPath()), dataFolder(), stateFolder()],
    ...(profile === "off" ? {} : { sandbox: { profile, ...optional({ tell: warn }) } }),
    ...optional({ asker, isOwn, extraRoots, env, beforeWrite, sessionRules }),
    ...(options.reviewer === undefined
      ? {}
      : { reviewer: reviewer({ command: options.reviewer, agent, ...optional({ note: warn }) }) }),
  });
  return { gate, close: () => audit.close() };
}

/** A file that cannot be read is reported when the first thing is decided. */
function readable(remembered: ReturnType<typeof rememberedRules>): readonly Rule[] {
  try {
    return remembered.list();
  } catch (error) {
    if (error instanceof RuleError) return [];
    throw error;
  }
}

/** Without an audit log everything that needs a permission fails, so the user is warned first. */
function warnOfReadOnly(folder: string, warn: OpenGateOptions["warn"]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    warn?.(
      `cannot write the log to ${folder} (${code}), so everything that needs a permission will be refused; set PARLEY_HOME to another folder`,
    );
  }
}
