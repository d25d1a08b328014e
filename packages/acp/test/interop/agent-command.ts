// How the programs of this folder are started: by Node, from source, as processes of their own.

export interface AgentChoice {
  /** What the agent is written with: our raw wire, or the official SDK. */
  readonly library: "parley" | "sdk";
  /** Switches the unstable protocol on, on both sides. Default false. */
  readonly unstable?: boolean;
}

const programs = {
  v1: {
    parley: new URL("./parley-v1-agent.ts", import.meta.url),
    sdk: new URL("./sdk-v1-agent.ts", import.meta.url),
  },
  v2: {
    parley: new URL("./parley-v2-agent.ts", import.meta.url),
    sdk: new URL("./sdk-v2-agent.ts", import.meta.url),
  },
} as const;

/** Starts an agent that answers and notifies in one write, without any library. */
export function oneWriteAgentCommand(): [string, string[]] {
  return [process.execPath, [decodeURIComponent(new URL("./one-write-agent.ts", import.meta.url).pathname)]];
}

/** Command and arguments that start the agent. */
export function agentCommand(version: "v1" | "v2", choice: AgentChoice): [string, string[]] {
  const program = decodeURIComponent(programs[version][choice.library].pathname);
  return [
    process.execPath,
    ["--conditions=parley-source", program, ...(choice.unstable ? ["unstable"] : [])],
  ];
}
