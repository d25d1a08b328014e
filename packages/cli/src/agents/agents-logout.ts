// `parley agents logout`: logs out of an agent, and forgets what was given to log in to it.

import type { Invocation } from "../command/command.ts";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { forgetCredentials } from "../settings/agent-credentials.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { withAgent } from "./with-agent.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const [name] = positionals;
  if (name === undefined)
    throw usageError("agents logout wants the name of an agent", "see parley agents list");
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
  // also where the agent is gone: whoever logs out wants no key to stay
  const isForgotten = forgetCredentials(name);
  if (failure !== undefined && !isForgotten) throw failure;
  const told = isOut ? `Logged out of ${name}.` : `${name} offers no logout; use its own command.`;
  const text = [
    failure === undefined ? told : `${name} itself was not told: ${failure.message}`,
    ...(isForgotten ? ["What you gave to log in has been forgotten."] : []),
  ].join("\n");
  printAnswer(text, { agent: name, loggedOut: isOut, forgotten: isForgotten }, json);
  return isOut || isForgotten ? 0 : 1;
}
