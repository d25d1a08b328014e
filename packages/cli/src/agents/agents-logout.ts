// `parley agents logout`: logs out of an agent and deletes its stored credentials.

import type { Invocation } from "../command/command.ts";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { deleteCredentials } from "../settings/agent-credentials.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { withAgent } from "./with-agent.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const [name] = positionals;
  if (name === undefined)
    throw usageError("agents logout: expected the name of an agent", "see parley agents list");
  const chosen = await chooseAgent(name, []);
  let failure: CommandError | undefined;
  const isOut = await withAgent(chosen, async (agent) => {
    if (!agent.connected.features.logout) return false;
    await agent.logout();
    return true;
  }).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    failure = error;
    return false;
  });
  // also if the agent does not start
  const isDeleted = deleteCredentials(name);
  if (failure !== undefined && !isDeleted) throw failure;
  const result = isOut ? `Logged out of ${name}.` : `${name} offers no logout; use its own command.`;
  const text = [
    failure === undefined ? result : `Could not log out of ${name} itself: ${failure.message}`,
    ...(isDeleted ? ["Deleted its stored credentials."] : []),
  ].join("\n");
  printAnswer(text, { agent: name, loggedOut: isOut, forgotten: isDeleted }, json);
  return isOut || isDeleted ? 0 : 1;
}
