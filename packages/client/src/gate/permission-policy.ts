// The permission policy: rules, remembered answers, an audit log and a person to ask.

import { isAbsolute, join } from "node:path";
import type { ClientPolicy } from "@parley/acp";
import { argumentText, optional } from "@parley/acp/internal";
import { type AuditLog, auditLog } from "../audit/audit-log.ts";
import { checkKeys } from "../base/option-keys.ts";
import { parsePolicy } from "../rules/policy-text.ts";
import { rememberedRules } from "../rules/remembered.ts";
import type { Rule } from "../rules/rule.ts";
import type { Decision } from "./decision.ts";
import { DecisionReports } from "./decision-reports.ts";
import { type Gate, permissionGate } from "./gate.ts";
import type { GateOptions, PermissionAsker } from "./gate-options.ts";
import type { PermissionQuestion } from "./question.ts";
import type { Overlay } from "./service-options.ts";

/** The rules, the state and the user of a permission policy. */
export interface PermissionPolicyOptions {
  /** Lines such as "allow read src/**", "ask exec git push" and "deny write .env". Default: everything is asked. */
  readonly rules?: string | readonly (string | Rule)[];
  /**
   * The absolute path of the folder for remembered answers and the audit log. Default: answers last as long as their
   * session, and there is no log.
   */
  readonly stateDir?: string;
  /**
   * Asks the user. Return the `id` of a choice, or undefined for no decision, which denies. Default:
   * `requestPermission` of the client is asked.
   */
  ask?(question: PermissionQuestion): Promise<string | undefined> | string | undefined;
  /** A log to use instead of the one in `stateDir`. You close it. */
  readonly audit?: AuditLog;
  /** How long a question may stay open, in milliseconds; then it is denied. Default 10 minutes. */
  readonly answerMs?: number;
  /** Absolute paths of directories that agents may use in addition to those of the session. */
  readonly extraRoots?: readonly string[];
  /** The unsaved text of an editor, which agents read and write instead of the files on disk. */
  readonly overlay?: Overlay;
  /** The environment of commands. Default: that of this process, without Parley's own variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A policy for `client()` and `connectAgent()` that decides by rules and by asking the user. */
export interface PermissionPolicy extends Required<ClientPolicy> {
  /** Adds a listener for every decision. Returns a function that removes it. */
  onDecision(listener: (decision: Decision) => void): () => void;
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

/** Makes gates for managed agents. */
export interface PolicyGuard {
  /** Whether the policy asks the user itself. */
  readonly asks: boolean;
  gate(given: { readonly agent: string; readonly asker?: PermissionAsker }): Gate;
}

const guardKey: unique symbol = Symbol("parley.guard");

/** What a permission policy has for managed agents; undefined for any other policy. */
export function guardOf(policy: ClientPolicy): PolicyGuard | undefined {
  return (policy as { readonly [guardKey]?: PolicyGuard })[guardKey]; // others have none
}

/**
 * Creates a policy that decides by rules, asks the user about the rest, and remembers the answers.
 *
 * @throws {TypeError} When an option is unknown or wrong.
 * @throws {RuleError} When a rule cannot be understood.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { permissionPolicy } from "@parley/client/policy";
 *
 * await using policy = permissionPolicy({
 *   rules: ["allow read **", "allow exec npm test", "deny write .env"],
 *   ask({ summary, choices }) {
 *     console.log(summary);
 *     return choices.find(({ effect, scope }) => effect === "allow" && scope === "once")?.id;
 *   },
 * });
 * await using agent = await connectAgent("gemini", { name: "my-app", version: "1.0.0", policy });
 */
export function permissionPolicy(options: PermissionPolicyOptions = {}): PermissionPolicy {
  checkOptions(options);
  const { stateDir, extraRoots, overlay, env, answerMs } = options;
  const ownAudit =
    options.audit === undefined && stateDir !== undefined ? auditLog(join(stateDir, "audit")) : undefined;
  const reports = new DecisionReports();
  const asker: PermissionAsker | undefined = options.ask && {
    permission: (question) => options.ask?.(question),
  };
  const given: GateOptions = {
    rules: rulesOf(options.rules ?? []),
    ...(stateDir === undefined
      ? {}
      : { remembered: rememberedRules(join(stateDir, "permissions.ndjson")), own: [stateDir] }),
    ...optional({ audit: options.audit ?? ownAudit, asker, extraRoots, overlay, env, answerMs }),
  };
  const { policy } = permissionGate(given, reports);
  const close = async (): Promise<void> => ownAudit?.close();
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

function rulesOf(given: NonNullable<PermissionPolicyOptions["rules"]>): readonly Rule[] {
  const lines =
    typeof given === "string" ? given : given.filter((rule) => typeof rule === "string").join("\n");
  const parsed = typeof given === "string" ? [] : given.filter((rule) => typeof rule !== "string");
  return [...parsePolicy(lines, "user", "rules").rules, ...parsed];
}

function checkOptions(options: PermissionPolicyOptions): void {
  checkKeys("permissionPolicy", options, optionKeys);
  const { stateDir, extraRoots = [], rules = [], ask } = options;
  const paths = [
    ...(stateDir === undefined ? [] : [["stateDir", stateDir] as const]),
    ...extraRoots.map((root) => ["extraRoots", root] as const),
  ];
  for (const [name, path] of paths) {
    if (typeof path !== "string" || !isAbsolute(path))
      throw new TypeError(`permissionPolicy: ${name} must be absolute, got ${argumentText(path)}`);
  }
  if (typeof rules !== "string" && !Array.isArray(rules))
    throw new TypeError(`permissionPolicy: rules must be text or a list, got ${argumentText(rules)}`);
  if (ask !== undefined && typeof ask !== "function")
    throw new TypeError(`permissionPolicy: ask must be a function, got ${argumentText(ask)}`);
}
