// Runs commands and agents in a sandbox.

export type { SandboxFindings } from "./guard/planted-files.ts";
export {
  type DecideHost,
  type HostForwarder,
  type HostForwarderOptions,
  hostForwarder,
} from "./network/host-forwarder.ts";
export { openSandbox, type Sandbox, type SandboxedCommand } from "./open-sandbox.ts";
export type {
  CommandProfile,
  SandboxCommand,
  SandboxOptions,
  SandboxProfile,
} from "./policy/sandbox-policy.ts";
export { SandboxError } from "./sandbox-error.ts";
export {
  type MovedFiles,
  type SessionPolicy,
  type SessionSandbox,
  type SessionSandboxOptions,
  sessionSandbox,
} from "./session-sandbox.ts";
export type { SandboxFailure, SandboxProblem } from "./status/explain-failure.ts";
export { type SandboxStatus, sandboxStatus } from "./status/sandbox-status.ts";
