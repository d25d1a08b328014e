// Says for clients how an agent has ended.

import type { EndReason } from "@parley/acp/transport";

/** For clients: without the path of a program of this machine. */
export function endWords({ message, exitCode, signal }: Partial<EndReason>): string {
  if (typeof exitCode === "number") return `the agent exited with code ${exitCode}`;
  if (typeof signal === "string") return `the agent was ended by ${signal}`;
  return message ?? "the agent has ended";
}
