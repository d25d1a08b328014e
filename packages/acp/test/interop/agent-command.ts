// The commands that start the programs of this folder.

import { programCommand, type TestProgram } from "../support/programs.ts";

export interface AgentChoice {
  /** What the agent is written with: our raw wire, or the official SDK. */
  readonly library: "parley" | "sdk";
  /** Switches the unstable protocol on, on both sides. Default false. */
  readonly unstable?: boolean;
}

type InteropProgram = TestProgram extends infer Path
  ? Path extends `acp/test/interop/${infer Name}`
    ? Name
    : never
  : never;

/** Command and arguments that start a program of this folder. */
export function interopCommand(name: InteropProgram, ...args: string[]): [string, string[]] {
  const [command, ...rest] = programCommand(`acp/test/interop/${name}`);
  return [command, [...rest, ...args]];
}

/** Command and arguments that start the agent. */
export function agentCommand(version: "v1" | "v2", { library, unstable }: AgentChoice): [string, string[]] {
  return interopCommand(`${library}-agent.ts`, version, ...(unstable ? ["unstable"] : []));
}
