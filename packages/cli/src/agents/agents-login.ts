// `parley agents login`: logs in to an agent with one of its login methods.

import { optional } from "@parley/acp/internal";
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

export async function run({ words, argv, json }: Invocation): Promise<number> {
  const isNamed = argv.length === 0;
  const [named, method] = isNamed ? words : [undefined, ...words];
  if (isNamed && named === undefined)
    throw usageError(
      "agents login: expected the name of an agent, or its command after --",
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
          if (!isNamed) throw namelessKey(variable.name);
          const value = await asker.credential?.(variable, who);
          if (value !== undefined && value !== "") given[variable.name] = value;
          return value;
        },
      },
    });
    try {
      if (agent.connected.authMethods.length === 0)
        throw noLoginMethods(name, entry.name === "parley" && entry.origin === "ready");
      await agent.login(method);
    } finally {
      await agent.close();
    }
    const file = Object.keys(given).length === 0 ? undefined : storeCredentials(name, given);
    const { session } = await probeAgent(entry);
    const stored = file === undefined ? "" : `\nYour credentials are in ${file}, readable only by you.`;
    const isLoggedIn = session === "ok";
    const text = isLoggedIn
      ? `Logged in to ${name}.${stored}`
      : `The login succeeded, but ${name} still opens no session.${stored}`;
    printAnswer(text, { agent: name, session, ...optional({ file }) }, json);
    return isLoggedIn ? 0 : 6;
  } catch (error) {
    throw launchFailure(error);
  }
}

/** Credentials are stored by the agent's name. */
function namelessKey(variable: string): CommandError {
  return usageError(
    `the agent needs ${escapedLine(variable)}, which can be stored only for a named agent`,
    "add it first: parley agents add NAME -- COMMAND, then parley agents login NAME",
  );
}

function noLoginMethods(name: string, isOurs: boolean): CommandError {
  const hint = isOurs
    ? "store an API key with parley agent login"
    : "log in with the agent's own command, or set a key in its environment";
  return new CommandError("login", `${name} offers no login method`, hint, 1);
}
