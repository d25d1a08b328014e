// What the library needs of Node: stdio, processes.

export { type AgentProcess, type ExitStatus, type SpawnOptions, spawnAgent } from "./node/spawn.ts";
export { type StdioOptions, stdioChannel } from "./node/stdio.ts";
export { nodePlatform } from "./node/text-platform.ts";
export {
  type SpawnTransportOptions,
  type StdioTransportOptions,
  spawnTransport,
  stdioTransport,
} from "./node/transports.ts";
