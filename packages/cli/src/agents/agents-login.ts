// `parley agents login` and `logout`.

import { optional } from "@parley/acp/jsonrpc";
import type { ManagedAgent } from "@parley/client";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { deleteCredentials, storeCredentials } from "../settings/agent-credentials.ts";
import { editionOption } from "../settings/edition-choice.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { chooseLogin, credential, terminalLogin } from "./login-asker.ts";
import { probeAgent } from "./probe-agent.ts";
import { launchFailure, withAgent } from "./with-agent.ts";

export async function logIn({ words, argv, values, json }: Invocation): Promise<number> {
  const isNamed = argv.length === 0;
  const [named, method] = isNamed ? words : [undefined, ...words];
  if (isNamed && named === undefined)
    throw usageError(
      "agents login: expected the name of an agent, or its command after --",
      "see parley agents list",
    );
  const chosen = chooseAgent(named, argv, editionOption(values));
  const { entry } = chosen;
  const { name } = entry;
  const given: Record<string, string> = {};
  const login = async (agent: ManagedAgent) => {
    if (agent.authMethods.length === 0)
      throw noLoginMethods(name, name === "parley" && entry.origin === "ready");
    await agent.login(method);
  };
  await withAgent(chosen, login, {
    // a login opens browsers and stores keys
    sandbox: false,
    asker: {
      chooseLogin,
      terminalLogin,
      async credential(variable) {
        if (!isNamed) throw namelessKey(variable.name);
        const value = await credential(variable);
        if (value !== undefined && value !== "") given[variable.name] = value;
        return value;
      },
    },
  });
  const file = Object.keys(given).length === 0 ? undefined : storeCredentials(name, given);
  const { session } = await probeAgent(entry).catch((error: unknown) => {
    throw launchFailure(error);
  });
  const stored = file === undefined ? "" : `\nYour credentials are in ${file}, readable only by you.`;
  const isLoggedIn = session === "ok";
  const text = isLoggedIn
    ? `Logged in to ${name}.${stored}`
    : `The login succeeded, but ${name} still opens no session.${stored}`;
  printAnswer(text, { agent: name, session, ...optional({ file }) }, json);
  return isLoggedIn ? 0 : 6;
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

export async function logOut({ positionals, json }: Invocation): Promise<number> {
  const [name] = positionals;
  if (name === undefined)
    throw usageError("agents logout: expected the name of an agent", "see parley agents list");
  const chosen = chooseAgent(name, []);
  let failure: CommandError | undefined;
  const isOut = await withAgent(chosen, async (agent) => {
    if (!agent.capabilities.logout) return false;
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
