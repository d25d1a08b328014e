// An agent on the stdio of its own process, as editors start it.

import type { Agent } from "../peer/agent.ts";
import { type StdioTransportOptions, stdioTransport } from "./transports.ts";

/**
 * Serves one client on stdin and stdout until the end of input, then lets the process end. An agent that has
 * left something running is ended: nobody is there to hear it any more (T7).
 */
export async function serveStdio(agent: Agent, options: StdioTransportOptions = {}): Promise<void> {
  await agent.connect(stdioTransport(options)).closed;
  process.exit();
}
