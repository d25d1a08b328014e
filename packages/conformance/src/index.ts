// Test material for agents and clients: a scenario of every feature, oddities of real peers, traces and replay.

export { everyFeature } from "./every-feature.ts";
export { everyFeatureOf } from "./every-feature-of.ts";
export { oddities } from "./oddities/oddities.ts";
export type { Oddity } from "./oddities/oddity.ts";
export { replayAgent, replayClient } from "./replay/replay.ts";
export type { Divergence, Replay, ReplayOptions, ReplayReport } from "./replay/replay-report.ts";
export {
  isTraceMessage,
  readTrace,
  type Trace,
  TraceError,
  type TraceEvent,
  type TraceHeader,
  type TraceLine,
  type TraceMessage,
  type TraceRecord,
  type TraceSide,
  traceHeader,
  traceRecord,
} from "./trace/trace.ts";
