// The entry point for agents without sessions: which there are, how they are found, started, reached and connected.

export {
  type AgentEntry,
  agentEntry,
  type CommandEntry,
  commandEntry,
  type RemoteEntry,
  type SandboxNeeds,
} from "./agents/agent-spec.ts";
export { agentEnvironment } from "./agents/environment.ts";
export { asksPermission, hasExactTitles, type OwnAgent, readyAgents } from "./agents/ready-agents.ts";
export { cutText } from "./launch/cut-text.ts";
export { type FoundProgram, findAgentProgram } from "./launch/find-program.ts";
export {
  type LaunchedAgent,
  type LaunchOptions,
  launchAgent,
  type ReachOptions,
  reachAgent,
} from "./launch/launch-agent.ts";
export type { Explanation, ReachedAgent } from "./launch/reach-command.ts";
export { endHint } from "./launch/remote-end.ts";
export { loginCommandFor } from "./managed/log-in.ts";
