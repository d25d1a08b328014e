// Checks and compares scenarios, for Parley's own packages only, without compatibility between versions.

export { encodedCheck } from "./peer/agent/encoded-check.ts";
export { checkAgentScenario, checkClientScenario } from "./testing/check-scenario.ts";
export { comparable } from "./testing/client-record.ts";
