// The entry point of the permission policy and its rules.

export type { Decision, PermissionDecision } from "./gate/decision.ts";
export { type Gate, type GateContext, permissionGate } from "./gate/gate.ts";
export type { GateOptions, GateSandbox, PermissionAsker, UnsavedTexts } from "./gate/gate-options.ts";
export { directoryIdentity, type GateAsking, type GatedSession } from "./gate/gate-state.ts";
export {
  type PermissionPolicy,
  type PermissionPolicyOptions,
  permissionPolicy,
} from "./gate/permission-policy.ts";
export type {
  PermissionChoice,
  PermissionQuestion,
  PermissionReply,
  ShownPermission,
} from "./gate/permission-question.ts";
export { type ReviewerOptions, reviewer } from "./gate/reviewer.ts";
export type { VetoAnswer } from "./gate/veto.ts";
export { describeRule, type Verdict } from "./rules/decide-by-rules.ts";
export { enforcementOf, type RuleEnforcement, type RuleMount } from "./rules/enforcement.ts";
export { isExactly } from "./rules/match.ts";
export { type ParsedPolicy, parsePolicy } from "./rules/policy-text.ts";
export {
  type NewRememberedRule,
  type RememberedRule,
  type RememberedRules,
  rememberedRules,
} from "./rules/remembered.ts";
export {
  type ExactTarget,
  type Rule,
  RuleError,
  type RuleOperation,
  type RuleOrigin,
  type RuleTarget,
} from "./rules/rule.ts";
export { parseRule, type RuleContext, ruleText } from "./rules/rule-text.ts";
export { canonicalPath } from "./subjects/canonical-path.ts";
export { commandSubject } from "./subjects/command-subject.ts";
export { shownSource } from "./subjects/shown-text.ts";
export type { PermissionScope, RuleEffect, RuleSubject, SubjectOperation } from "./subjects/subject.ts";
export { commandText, summaryOf } from "./subjects/summary.ts";
