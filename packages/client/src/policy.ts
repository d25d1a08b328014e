// The entry point of the permission policy and its audit log.

export type { ClientPolicy, PolicyDecision, PolicyRequest } from "@parley/acp";
export type { AuditEntry, AuditFacts } from "./audit/audit-entry.ts";
export { type AuditLog, type AuditOptions, auditLog } from "./audit/audit-log.ts";
export { type AuditReport, verifyAudit } from "./audit/verify.ts";
export type { Decision } from "./gate/decision.ts";
export {
  type PermissionPolicy,
  type PermissionPolicyOptions,
  permissionPolicy,
} from "./gate/permission-policy.ts";
export type { PermissionChoice, PermissionQuestion } from "./gate/question.ts";
export type { Overlay } from "./gate/service-options.ts";
export type { RememberedRule } from "./rules/remembered.ts";
export { type Rule, RuleError } from "./rules/rule.ts";
export type { Subject } from "./subjects/subject.ts";
