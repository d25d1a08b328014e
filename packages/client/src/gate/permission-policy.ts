// The permission policy: rules, remembered answers, an audit log and a person to ask.

import { isAbsolute, join } from "node:path";
import type { ClientPolicy } from "@parley/acp";
import { argumentText, optional } from "@parley/acp/internal";
import { auditLog } from "../audit/audit-log.ts";
import { checkKeys } from "../base/option-keys.ts";
import { parsePolicy } from "../rules/policy-text.ts";
import { rememberedRules } from "../rules/remembered.ts";
import type { PermissionDecision } from "./decision.ts";
import { DecisionReports } from "./decision-reports.ts";
import { permissionGate } from "./gate.ts";
import type { GateOptions, PermissionAsker } from "./gate-options.ts";
import { guardKey, type PolicyGuard } from "./policy-guard.ts";
import type { PermissionQuestion } from "./question.ts";
import type { Overlay } from "./service-options.ts";

export interface PermissionPolicyOptions {
  /** Lines such as "allow read src", "ask exec git push *" and "deny write .env". Default: everything is asked. */
  readonly rules?: string | readonly string[];
  /**
   * The folder of the remembered answers and the audit log. Absolute. Without it no answer outlives its session, and there
   * is no log.
   */
  readonly stateDir?: string;
  /**
   * Asks the user. Answer with the id of a choice; nothing means that nobody decided. Without it, what the rules want asked
   * is left to `requestPermission` of the client.
   */
  ask?(question: PermissionQuestion): Promise<string | undefined> | string | undefined;
  /**
   * The audit log in `stateDir`: false for none, or how long and how much of it is kept, and secrets that it must not have.
   * Default: true with a `stateDir`, 90 days and 256 MiB.
   */
  readonly audit?:
    | boolean
    | {
        readonly secrets?: Iterable<string>;
        readonly keepMs?: number;
        readonly keepBytes?: number;
      };
  /** Directories beside those of the session that agents may use. Absolute. */
  readonly extraRoots?: readonly string[];
  /** Unsaved text of an editor, which is read and written in place of the file. */
  readonly overlay?: Overlay;
  /** The environment of commands. Default: ours, without what is Parley's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long a question may stay open. Default 10 minutes, then nobody has decided. */
  readonly answerMs?: number;
}

/** Decides by rules and by asking, and remembers the answers. For `client()` and for `connectAgent()`. */
export interface PermissionPolicy extends Required<ClientPolicy> {
  /** Called for every decision. Returns a function that removes the listener. */
  onDecision(listener: (decision: PermissionDecision) => void): () => void;
  /** Closes the audit log in `stateDir`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const optionKeys: Readonly<Record<keyof PermissionPolicyOptions, true>> = {
  rules: true,
  stateDir: true,
  ask: true,
  audit: true,
  answerMs: true,
  extraRoots: true,
  overlay: true,
  env: true,
};

/** Throws a TypeError for wrong options, and a RuleError for rules that cannot be meant. */
export function permissionPolicy(options: PermissionPolicyOptions = {}): PermissionPolicy {
  checkOptions(options);
  const { stateDir, extraRoots, overlay, env, answerMs } = options;
  const { audit: wanted = stateDir !== undefined } = options;
  const audit =
    wanted === false || stateDir === undefined
      ? undefined
      : auditLog(join(stateDir, "audit"), wanted === true ? {} : wanted);
  const reports = new DecisionReports();
  const asker: PermissionAsker | undefined = options.ask && {
    permission: (question) => options.ask?.(question),
  };
  const given: GateOptions = {
    rules: parsePolicy([options.rules ?? []].flat().join("\n"), "user", "rules").rules,
    ...(stateDir === undefined
      ? {}
      : { remembered: rememberedRules(join(stateDir, "permissions.ndjson")), own: [stateDir] }),
    ...optional({ audit, asker, extraRoots, overlay, env, answerMs }),
  };
  const { policy } = permissionGate(given, reports);
  const close = async (): Promise<void> => audit?.close();
  const guard: PolicyGuard = {
    asks: asker !== undefined,
    gate: (more) => permissionGate({ ...given, ...more }, reports),
  };
  const made: PermissionPolicy & { readonly [guardKey]: PolicyGuard } = {
    ...policy,
    onDecision: (listener) => reports.listen(listener),
    close,
    [Symbol.asyncDispose]: close,
    [guardKey]: guard,
  };
  return made;
}

function checkOptions(options: PermissionPolicyOptions): void {
  checkKeys("permissionPolicy", options, optionKeys);
  const { stateDir, extraRoots = [], rules = [], ask, audit } = options;
  const paths = [
    ...(stateDir === undefined ? [] : [["stateDir", stateDir] as const]),
    ...extraRoots.map((root) => ["extraRoots", root] as const),
  ];
  for (const [name, path] of paths) {
    if (typeof path !== "string" || !isAbsolute(path))
      throw new TypeError(`permissionPolicy: ${name} must be absolute, got ${argumentText(path)}`);
  }
  const wrong: unknown = [rules].flat().find((line: unknown) => typeof line !== "string");
  if (wrong !== undefined)
    throw new TypeError(
      `permissionPolicy: rules must be text or a list of lines, got ${argumentText(wrong)}`,
    );
  if (audit !== undefined && audit !== false && stateDir === undefined)
    throw new TypeError("permissionPolicy: audit needs a stateDir, the folder of the log; got none");
  if (ask !== undefined && typeof ask !== "function")
    throw new TypeError(`permissionPolicy: ask must be a function, got ${argumentText(ask)}`);
}
