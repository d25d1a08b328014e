// The entry point of the client kit: agents, sessions, policy and audit.

export {
  type AgentSpec,
  type CommandEntry,
  commandEntry,
  type Quirks,
  type RemoteEntry,
} from "./agents/agent-entry.ts";
export { agentEnvironment } from "./agents/environment.ts";
export { type OwnAgent, readyAgents } from "./agents/ready-agents.ts";
export type { AuditEntry, AuditFacts, AuditKind } from "./audit/audit-entry.ts";
export { auditFiles } from "./audit/audit-files.ts";
export { type AuditLog, type AuditOptions, auditLog } from "./audit/audit-log.ts";
export { type AuditFolderReport, type AuditReport, verifyAudit, verifyAuditFolder } from "./audit/verify.ts";
export type { Decision } from "./gate/decision.ts";
export { type Gate, permissionGate } from "./gate/gate.ts";
export type { GateOptions, PermissionAsker } from "./gate/gate-options.ts";
export { directoryIdentity, type GatedSession } from "./gate/gate-state.ts";
export type { GatedFiles } from "./gate/gated-files.ts";
export type { GatedTerminals } from "./gate/gated-terminals.ts";
export type { PermissionChoice, PermissionQuestion, PermissionReply } from "./gate/question.ts";
export type { Overlay, ServiceOptions } from "./gate/service-options.ts";
export type { VetoAnswer } from "./gate/veto.ts";
export { type Found, findProgram } from "./launch/find-program.ts";
export {
  type LaunchEvent,
  type LaunchedAgent,
  type LaunchOptions,
  launchAgent,
} from "./launch/launch-agent.ts";
export { LaunchError, type LaunchErrorDetails, type LaunchErrorKind } from "./launch/launch-error.ts";
export type { Unread } from "./launch/watched-transport.ts";
export type {
  Asker,
  ElicitationQuestion,
  LoginCommand,
  LoginMethod,
  LoginVariable,
  RecoveryContext,
} from "./managed/asker.ts";
export { beginsWork } from "./managed/entry-filter.ts";
export type { AgentSession, AgentSessions, AgentSessionsQuery } from "./managed/live-agent.ts";
export { connectAgent, type ManagedAgent } from "./managed/live-agent.ts";
export type {
  ConnectAgentOptions,
  LiveGate,
  LivePrompt,
  LiveSession,
  ManagedAgentEvent,
  ManagedSessionOptions,
  PromptContent,
  RecordedSession,
  Recorder,
} from "./managed/live-options.ts";
export { loginCommandFor } from "./managed/log-in.ts";
export { type Problem, type ProblemKind, problemOf } from "./managed/problem.ts";
export type { SessionSetup, SetupProblem } from "./managed/session-setup.ts";
export type { AcceptedContent } from "./prompt-input/mentioned-file.ts";
export {
  type PromptBlocks,
  type PromptInput,
  PromptInputError,
  type PromptTarget,
  promptContent,
} from "./prompt-input/prompt-content.ts";
export { describeRule, type Verdict } from "./rules/decide.ts";
export { type ParsedPolicy, parsePolicy } from "./rules/policy-text.ts";
export {
  type NewRememberedRule,
  type RememberedRule,
  type RememberedRules,
  rememberedRules,
} from "./rules/remembered.ts";
export { type Rule, RuleError, type RuleOrigin, type RuleTarget } from "./rules/rule.ts";
export { parseRule, type RuleContext, ruleText } from "./rules/rule-text.ts";
export { canonicalPath } from "./subjects/canonical-path.ts";
export { commandSubject } from "./subjects/command-subject.ts";
export type { Effect, Operation, Scope, Subject, SubjectOrigin } from "./subjects/subject.ts";
