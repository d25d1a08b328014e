// What every client needs and would write by hand. What is heavy is loaded when it is used.

export {
  type AgentEntry,
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
export { type Found, findProgram } from "./launch/find-program.ts";
export {
  type LaunchEvent,
  type LaunchedAgent,
  type LaunchOptions,
  launchAgent,
} from "./launch/launch-agent.ts";
export { LaunchError, type LaunchErrorDetails, type LaunchErrorKind } from "./launch/launch-error.ts";
export type { Unread } from "./launch/watched-input.ts";
export type {
  Asker,
  ElicitationQuestion,
  LoginCommand,
  LoginMethod,
  LoginVariable,
  RecoveryContext,
} from "./live/asker.ts";
export { beginsWork } from "./live/entry-filter.ts";
export { liveAgent } from "./live/kept-agent.ts";
export type { AgentSession, AgentSessions, AgentSessionsQuery } from "./live/list-all.ts";
export type { LiveAgent, LiveSession } from "./live/live-agent.ts";
export type {
  LiveEvent,
  LiveGate,
  LiveOptions,
  LivePlace,
  PromptContent,
  RecordedSession,
  Recorder,
} from "./live/live-options.ts";
export type { LivePrompt } from "./live/live-prompt.ts";
export { loginCommandFor } from "./live/log-in.ts";
export { type Problem, type ProblemKind, problemOf } from "./live/problem.ts";
export type { SessionSetup, SetupProblem } from "./live/session-setup.ts";
export { canonicalPath } from "./policy/canonical-path.ts";
export { commandSubject } from "./policy/command-subject.ts";
export { describeRule, type Verdict } from "./policy/decide.ts";
export { permissionGate } from "./policy/gate.ts";
export type { Decision, Gate, GateOptions, PermissionAsker } from "./policy/gate-options.ts";
export { directoryIdentity, type GatedSession } from "./policy/gate-session.ts";
export { type ParsedPolicy, parsePolicy } from "./policy/policy-text.ts";
export type { PermissionChoice, PermissionQuestion, PermissionReply } from "./policy/question.ts";
export {
  type NewRememberedRule,
  type RememberedRule,
  type RememberedRules,
  rememberedRules,
} from "./policy/remembered.ts";
export { type Rule, RuleError, type RuleOrigin, type RuleTarget } from "./policy/rule.ts";
export { parseRule, type RuleContext, ruleText } from "./policy/rule-text.ts";
export type { VetoAnswer } from "./policy/veto.ts";
export type { AcceptedContent } from "./prompt-input/mentioned-file.ts";
export {
  type PromptBlocks,
  type PromptInput,
  PromptInputError,
  type PromptTarget,
  promptContent,
} from "./prompt-input/prompt-content.ts";
export type { GatedFiles, GatedReadOptions, GatedWriteOptions } from "./services/gated-files.ts";
export type { GatedTerminals } from "./services/gated-terminals.ts";
export type { Overlay, ServiceOptions } from "./services/service-options.ts";
export type { Effect, Operation, Scope, Subject, SubjectOrigin } from "./subject.ts";
