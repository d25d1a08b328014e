// The tables of `parley agents`.

import { type Command, flag, option } from "../command/command.ts";
import { editionNames } from "../settings/edition-choice.ts";

const edition = option(
  "NAME",
  "Edition of the protocol that the agent speaks: v1, v2, pharo or scoped (default: v2, or v1 if the agent answers so)",
  { completes: editionNames },
);
const timeout = option("SECONDS", "Time limit (default: 60)");

export const agentsCommands: readonly Command[] = [
  {
    name: "agents list",
    summary: "List known agents and whether they are installed",
    details: "A star marks the default agent. To change it, set client.agent in the config file.",
    json: true,
    examples: ["parley agents", "parley agents list --json"],
    isDefault: true,
    load: async () => (await import("./manage-agents.ts")).listAgents,
  },
  {
    name: "agents check",
    summary: "Start an agent and print its name, features and login state",
    details:
      "No login and no prompt is sent. The session gets a tool of Parley, and the line `tools` says whether the agent has connected to it " +
      "within 10 seconds. Exits with 5 if the agent does not start, with 6 if it needs a login, and with 1 if it opens no " +
      "session for another reason.",
    positionals: "[NAME] [-- COMMAND [ARGUMENTS]]",
    completes: "agent",
    options: {
      cwd: option(
        "DIR",
        "Start the agent and open the session in this folder (default: a temporary one); for a remote agent, a folder on its machine",
        {
          short: "C",
          completes: "directory",
        },
      ),
      edition,
      sandbox: option("PROFILE", "agent: start the agent in a sandbox", { completes: ["agent"] }),
      "no-tools": flag("Give the agent no tool"),
      timeout,
    },
    json: true,
    examples: [
      "parley agents check claude",
      "parley agents check claude --sandbox agent",
      "parley agents check claude --cwd ~/project",
      "parley agents check -- my-agent --acp",
    ],
    load: async () => (await import("./agents-check.ts")).run,
  },
  {
    name: "agents add",
    summary: "Add an agent to the config file",
    details:
      "COMMAND is a program and its arguments, not a shell line; file paths in it are stored as absolute paths. Use --url for a " +
      "remote agent. Without --pass, the agent gets your whole environment.",
    positionals: "NAME [-- COMMAND [ARGUMENTS]]",
    options: {
      url: option("URL", "Address of a remote agent: https:// or wss://"),
      header: option("NAME=VALUE", "HTTP header to send to the address", { multiple: true }),
      env: option("NAME=VALUE", "Environment variable for the agent", { multiple: true }),
      pass: option("NAME", "Pass only these variables of your environment; NAME_* matches several", {
        multiple: true,
      }),
      edition,
      sandbox: option("PROFILE", "agent: always run the agent in a sandbox", { completes: ["agent"] }),
      state: option("DIR", "Folder that the agent can write to in a sandbox, beside its workspace", {
        completes: "directory",
        multiple: true,
      }),
      host: option("HOST", "Reach only these hosts in a sandbox; *.example.org matches several", {
        multiple: true,
      }),
      title: option("TEXT", "Display name"),
      default: flag("Make it the default agent"),
      force: flag("Replace an agent of the same name, including a built-in one"),
    },
    json: true,
    examples: [
      "parley agents add mine -- node ./my-agent.ts",
      'parley agents add hosted --url wss://agents.example.org/acp --header "Authorization=Bearer TOKEN"',
    ],
    load: async () => (await import("./manage-agents.ts")).addAgent,
  },
  {
    name: "agents remove",
    summary: "Remove an agent from the config file",
    positionals: "NAME",
    completes: "agent",
    json: true,
    examples: ["parley agents remove mine"],
    load: async () => (await import("./manage-agents.ts")).removeAgent,
  },
  {
    name: "agents login",
    summary: "Log in to an agent with one of its login methods",
    details:
      "The agent lists its login methods. Choose one when asked, or name it. A terminal login runs in this terminal, outside any sandbox. Secrets that you " +
      "type are not shown, and are stored so that only you can read them. For Parley's own agent, use `parley agent login`.",
    positionals: "NAME [METHOD] | [METHOD] -- COMMAND [ARGUMENTS]",
    completes: "agent",
    options: { edition },
    json: true,
    examples: ["parley agents login claude"],
    load: async () => (await import("./agents-login.ts")).logIn,
  },
  {
    name: "agents logout",
    summary: "Log out of an agent and delete its stored credentials",
    positionals: "NAME",
    completes: "agent",
    json: true,
    examples: ["parley agents logout claude"],
    load: async () => (await import("./agents-login.ts")).logOut,
  },
];
