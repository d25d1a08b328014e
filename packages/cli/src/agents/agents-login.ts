// `parley agents login`: logs in to an agent in one of its own ways.

import { liveAgent } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { storeCredentials } from "../settings/agent-credentials.ts";
import { ownVersion } from "../settings/installation.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { launchFailure } from "./launch-failure.ts";
import { loginAsker } from "./login-asker.ts";
import { probeAgent } from "./probe-agent.ts";

export async function run({ positionals, argv, json }: Invocation): Promise<number> {
  const words = positionals.slice(0, positionals.length - argv.length);
  const isKept = argv.length === 0;
  const [named, method] = isKept ? words : [undefined, ...words];
  if (isKept && named === undefined)
    throw usageError(
      "agents login wants the name of an agent, or its command after --",
      "see parley agents list",
    );
  const { entry, credentials } = await chooseAgent(named, argv);
  const { name } = entry;
  const asker = loginAsker();
  const given: Record<string, string> = {};
  try {
    const agent = await liveAgent(entry, {
      client: { name: "parley", version: ownVersion() },
      env: credentials,
      asker: {
        ...asker,
        async credential(variable, who) {
          if (!isKept) throw namelessKey(variable.name);
          const value = await asker.credential?.(variable, who);
          if (value !== undefined && value !== "") given[variable.name] = value;
          return value;
        },
      },
    });
    try {
      if (agent.connected.authMethods.length === 0)
        throw noWays(name, entry.name === "parley" && entry.origin === "ready");
      await agent.login(method);
    } finally {
      await agent.close();
    }
    const file = Object.keys(given).length === 0 ? undefined : storeCredentials(name, given);
    const { session } = await probeAgent(entry);
    const kept = file === undefined ? "" : `\nWhat you gave is in ${file}, readable for you only.`;
    const isIn = session === "ok";
    const text = isIn
      ? `${name} can be used now.${kept}`
      : `The login is done, but ${name} still opens no session.${kept}`;
    printAnswer(text, { agent: name, session, ...(file === undefined ? {} : { file }) }, json);
    return isIn ? 0 : 6;
  } catch (error) {
    throw launchFailure(error);
  }
}

/** What is given is kept by the agent's name. */
function namelessKey(variable: string): CommandError {
  return usageError(
    `the agent wants ${escapedLine(variable)}, which is kept for agents that have a name`,
    "give it one: parley agents add NAME -- COMMAND, then parley agents login NAME",
  );
}

function noWays(name: string, isOurs: boolean): CommandError {
  const hint = isOurs
    ? "give it the key of a model with parley agent login"
    : "log in with the agent's own command, or give it a key in its environment";
  return new CommandError("login", `${name} names no way to log in`, hint, 1);
}
