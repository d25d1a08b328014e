// Serves an agent on stdio, as editors start it.

import type { Log } from "../jsonrpc/log.ts";
import type { Agent } from "../peer/agent/agent.ts";
import { type StdioTransportOptions, stdioTransport } from "./transports.ts";

/**
 * Serves one client on stdin and stdout until the end of input, then exits, even if the agent has left something
 * running. Errors are printed to stderr, unless the agent's definition has a `log`.
 */
export async function serveStdio(agent: Agent, options: StdioTransportOptions = {}): Promise<void> {
  await agent.connect(stdioTransport(options), { log: printErrors }).closed;
  process.exit();
}

const printErrors: Log = (level, message, { error, ...fields }) => {
  if (level !== "error") return;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}: ${String(value)}`);
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error ?? "");
  process.stderr.write(`${message}${details.join(",")}${cause === "" ? "" : `\n${cause}`}\n`);
};
