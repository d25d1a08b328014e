// `parley agents logout`: logs out of an agent, and forgets what was given to log in to it.

import { launchAgent } from "@parley/client";
import type { Invocation } from "../command.ts";
import { usageError } from "../command-error.ts";
import { ownVersion } from "../installation.ts";
import { chooseAgent } from "../named-agent.ts";
import { printAnswer } from "../print-answer.ts";
import { forgetCredentials } from "./agent-credentials.ts";
import { launchFailure } from "./launch-failure.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const [name] = positionals;
  if (name === undefined)
    throw usageError("agents logout wants the name of an agent", "see parley agents list");
  const { entry, credentials } = await chooseAgent(name, []);
  try {
    const launched = await launchAgent(entry, {
      definition: { name: "parley", version: await ownVersion() },
      env: credentials,
    });
    let isOut = false;
    try {
      if (launched.agent.features.logout) {
        await launched.agent.logout();
        isOut = true;
      }
    } finally {
      await launched.close();
    }
    const isForgotten = forgetCredentials(name);
    const text = [
      isOut ? `Logged out of ${name}.` : `${name} offers no logout; use its own command.`,
      ...(isForgotten ? ["What you gave to log in has been forgotten."] : []),
    ].join("\n");
    printAnswer(text, { agent: name, loggedOut: isOut, forgotten: isForgotten }, json);
    return isOut || isForgotten ? 0 : 1;
  } catch (error) {
    throw launchFailure(error);
  }
}
