// An agent on the stdio of its own process, as editors start it.

import type { Log } from "../jsonrpc/log.ts";
import type { Agent } from "../peer/agent/agent.ts";
import { type StdioTransportOptions, stdioTransport } from "./transports.ts";

/**
 * Serves one client on stdin and stdout until the end of input, then lets the process end. An agent that has
 * left something running is ended: nobody is there to hear it any more (T7). What goes wrong in it is printed to
 * stderr, unless its definition has a `log`: the client only learns that something did.
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
