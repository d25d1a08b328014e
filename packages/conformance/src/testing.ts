// Scripted agents and clients for tests, in every JavaScript runtime, and a scripted agent as a program on Node.

export type {
  AgentScenario,
  AgentStep,
  ChunkFields,
  KeptAnswer,
  StoredSession,
  TerminalOp,
  ToolStep,
  TurnScript,
} from "./testing/agent-scenario.ts";
export type { AgentEvent } from "./testing/agent-verbs.ts";
export type { ClientRecord, Recorded, RecordedSession, StepRecord } from "./testing/client-record.ts";
export type * from "./testing/client-scenario.ts";
export type { Clock } from "./testing/gates.ts";
export { ScenarioError } from "./testing/scenario-error.ts";
export { type ScriptedAgent, type ScriptedAgentOptions, scriptedAgent } from "./testing/scripted-agent.ts";
export {
  type ScriptedClient,
  type ScriptedClientOptions,
  scriptedClient,
} from "./testing/scripted-client.ts";
export type {
  Crash,
  InputRule,
  ProcessControl,
  RawMessage,
  ReplyRule,
  ScriptedError,
  SendRule,
  WireRules,
} from "./testing/scripted-wire.ts";
export { serveScenario } from "./testing/serve-scenario.ts";
