// The entry point of the audit log: writes it, and verifies what is written.

export type { AuditEntry, AuditFacts, AuditKind } from "./audit/audit-entry.ts";
export { type AuditBounds, auditFiles } from "./audit/audit-files.ts";
export { type AuditLog, type AuditOptions, auditLog } from "./audit/audit-log.ts";
export { type AuditFolderReport, type AuditReport, verifyAudit, verifyAuditFolder } from "./audit/verify.ts";
