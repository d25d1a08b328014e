// Exports for Parley's own packages on Node only, without compatibility between versions.

export { contentVersion, formatIn, sliceLines } from "./node/files/file-content.ts";
export { isMissingCommand } from "./node/path-search.ts";
export { ProcessGroup } from "./node/process-group.ts";
export { type AgentProcess, spawnAgent } from "./node/spawn.ts";
export { splice } from "./node/splice.ts";
export { openOutput, stdioChannel } from "./node/stdio.ts";
export { leaveAgent, noiseOf } from "./node/transports.ts";
export { groupMark } from "./node/watchdog.ts";
