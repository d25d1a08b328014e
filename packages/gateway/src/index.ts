// Serves agents over the network on Node.

export { type HostAgentOptions, type HostedAgent, hostAgent } from "./host/host-agent.ts";
export type { StartedAgent } from "./host/hosted-process.ts";
export {
  type Gateway,
  type GatewayLimits,
  GatewayOptionError,
  type GatewayOptions,
  startGateway,
} from "./start-gateway.ts";
