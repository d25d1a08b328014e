// Exports for Parley's own packages only, without compatibility between versions.

export {
  type AgentEntry,
  agentEntry,
  type CommandEntry,
  commandEntry,
  type RemoteEntry,
} from "./agents/agent-spec.ts";
export { agentEnvironment } from "./agents/environment.ts";
export { hasExactTitles, readyAgents } from "./agents/ready-agents.ts";
export type { AuditEntry } from "./audit/audit-entry.ts";
export { auditFiles } from "./audit/audit-files.ts";
export { type AuditOptions, auditLog } from "./audit/audit-log.ts";
export { type AuditFolderReport, type AuditReport, verifyAudit, verifyAuditFolder } from "./audit/verify.ts";
export { checkConfig } from "./config/check-config.ts";
export { configSchema, configShape } from "./config/config-shape.ts";
export { agentEntries, mcpServer } from "./config/configured-agents.ts";
export { mcpJsonServers } from "./config/mcp-json.ts";
export { setConfigValue } from "./config/set-value.ts";
export type { Decision } from "./gate/decision.ts";
export { type Gate, permissionGate } from "./gate/gate.ts";
export type { GateOptions, PermissionAsker } from "./gate/gate-options.ts";
export { directoryIdentity } from "./gate/gate-state.ts";
export { reviewer } from "./gate/reviewer.ts";
export { costText } from "./history/cost-text.ts";
export { isSameAgent } from "./history/history-record.ts";
export { type BegunSession, type ManagedRecorder, managedRecorder } from "./history/managed-recorder.ts";
export { type RecordingHistory, recordingHistory } from "./history/recording-history.ts";
export { separateCalls } from "./history/separate-calls.ts";
export { type Found, findProgram } from "./launch/find-program.ts";
export { launchAgent, reachAgent } from "./launch/launch-agent.ts";
export { endHint } from "./launch/remote-end.ts";
export { type AllSessions, type AllSessionsQuery, allSessions } from "./managed/all-sessions.ts";
export { beginsWork } from "./managed/entry-filter.ts";
export { loginCommandFor } from "./managed/log-in.ts";
export { type ManagedConnection, manageAgent } from "./managed/manage-agent.ts";
export type {
  ManageAgentOptions,
  ManagedGate,
  ManagedSessionOptions,
  RecordedSession,
} from "./managed/managed-options.ts";
export type { ManagedPrompt } from "./managed/managed-prompt.ts";
export type { ManagedSession } from "./managed/managed-session.ts";
export { problemOf } from "./managed/problem.ts";
export { describeRule, type Verdict } from "./rules/decide.ts";
export { enforcementOf, type RuleEnforcement, type RuleMount } from "./rules/enforcement.ts";
export { isExactly } from "./rules/match.ts";
export { type ParsedPolicy, parsePolicy } from "./rules/policy-text.ts";
export { type RememberedRule, type RememberedRules, rememberedRules } from "./rules/remembered.ts";
export type { ExactTarget, Rule } from "./rules/rule.ts";
export { parseRule, ruleText } from "./rules/rule-text.ts";
export { canonicalPath } from "./subjects/canonical-path.ts";
export { commandSubject } from "./subjects/command-subject.ts";
export { shownSource } from "./subjects/shown-text.ts";
export type { Effect } from "./subjects/subject.ts";
export { commandText, summaryOf } from "./subjects/summary.ts";
export { type ParsedSettings, parsedSettings } from "./trust/workspace-settings.ts";
