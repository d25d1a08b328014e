// Runs an agent for one command that sends no prompt.

import { ConnectionError, RequestError } from "@parley/acp";
import {
  type ConnectAgentOptions,
  connectAgent,
  LaunchError,
  type ManagedAgent,
  problemOf,
} from "@parley/client";
import { CommandError } from "../command/command.ts";
import { ownVersion } from "../settings/installation.ts";
import type { ChosenAgent } from "../settings/named-agent.ts";
import { safeText } from "../terminal/sanitise.ts";

/** Ends the agent when the work is done. Rejects with a CommandError if it does not start. */
export async function withAgent<Result>(
  { entry, credentials }: Pick<ChosenAgent, "entry" | "credentials">,
  work: (agent: ManagedAgent) => Promise<Result>,
  options: Pick<ConnectAgentOptions, "asker" | "sandbox" | "signal"> = {},
): Promise<Result> {
  try {
    const agent = await connectAgent(entry, {
      name: "parley",
      version: ownVersion(),
      env: credentials,
      ...options,
    });
    try {
      return await work(agent);
    } finally {
      await agent.close();
    }
  } catch (error) {
    if (error instanceof RequestError || error instanceof ConnectionError) {
      const hint = `check the agent with parley agents check ${entry.name}`;
      throw new CommandError("agent_error", `${entry.name}: ${problemOf(error).message}`, hint);
    }
    throw launchFailure(error);
  }
}

/** Exit code 6 if a login is needed, 5 if the agent did not start; other errors are returned as they are. */
export function launchFailure(error: unknown): unknown {
  if (!(error instanceof LaunchError)) return error;
  const { kind, message, hint, stderr } = error;
  const output = stderr === undefined || stderr.trim() === "" ? "" : `\n${safeText(stderr).trimEnd()}`;
  return new CommandError(kind, `${safeText(message)}${output}`, hint, kind === "login_needed" ? 6 : 5);
}
