// The entry point of the permission policy.

export type { PermissionDecision } from "./gate/decision.ts";
export type { Overlay } from "./gate/gate-options.ts";
export {
  type PermissionPolicy,
  type PermissionPolicyOptions,
  permissionPolicy,
} from "./gate/permission-policy.ts";
export type { PermissionChoice, PermissionQuestion, PermissionReply } from "./gate/question.ts";
export { RuleError } from "./rules/rule.ts";
export type { Operation, Scope, Subject } from "./subjects/subject.ts";
