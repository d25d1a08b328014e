// @parley/acp/proxy: proxies between clients and agents, and chains of them.

export type { Side } from "./forward/frame.ts";
export type { Successor, SuccessorFront, SuccessorSession } from "./model/successor.ts";
export type { ServedAgent, ServedConnection, ServeOptions } from "./peer/agent/served-agent.ts";
export type { Between } from "./peer/base/own-proxies.ts";
export type { ChainComponent, ChainPart, OnExit } from "./peer/proxy/component.ts";
export { type Conductor, type ConductorOptions, conductor } from "./peer/proxy/conductor.ts";
export type { HopMessage, WatchHops } from "./peer/proxy/hops.ts";
export { type AcpProxy, proxy } from "./peer/proxy/proxy.ts";
export {
  type Answer,
  answer,
  type HookResult,
  type MaybePromise,
  type MessageHook,
  type ProxiedCall,
  type ProxiedMessage,
  type ProxiedPrompt,
  type ProxiedSession,
  type ProxiedSetup,
  type ProxiedTurn,
  type ProxyDefinition,
  type ResultHook,
  refuse,
} from "./peer/proxy/proxy-definition.ts";
