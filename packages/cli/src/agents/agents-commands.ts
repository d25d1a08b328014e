// Other agents, by name.

import type { Command, Option } from "../command/command.ts";

const timeout: Option = { type: "string", value: "SECONDS", summary: "how long it may take (default: 60)" };

export const agentsCommands: readonly Command[] = [
  {
    name: "agents list",
    summary: "list the agents that can be named, and whether they are installed",
    details: "The one with the star is used when none is named; client.agent in the config chooses it.",
    options: {},
    json: true,
    load: () => import("./agents-list.ts"),
  },
  {
    name: "agents check",
    summary: "start an agent and say who it is, what it offers, and whether it wants a login",
    details:
      "Nobody is logged in and no prompt is sent. Exits with 5 when it does not start, with 6 when it wants a login, and\n" +
      "with 1 when it opens no session for another reason.",
    positionals: "[NAME] [-- COMMAND [ARGUMENTS]]",
    completes: "agent",
    options: { timeout },
    json: true,
    load: () => import("./agents-check.ts"),
  },
  {
    name: "agents add",
    summary: "keep an agent of your own under a name",
    details:
      "It goes into the config file. The command is a program and its arguments, never a shell line; files in it\n" +
      "are kept by their full path. --url is for an agent that runs elsewhere. Without --pass the agent gets all of your environment.",
    positionals: "NAME [-- COMMAND [ARGUMENTS]]",
    options: {
      url: { type: "string", value: "URL", summary: "where it is: https:// or wss://" },
      header: { type: "string", value: "NAME=VALUE", multiple: true, summary: "sent to that address" },
      env: { type: "string", value: "NAME=VALUE", multiple: true, summary: "added to its environment" },
      pass: {
        type: "string",
        value: "NAME",
        multiple: true,
        summary: "give it this variable, and only such; NAME_* are several",
      },
      title: { type: "string", value: "TEXT", summary: "what it is called" },
      default: { type: "boolean", summary: "use it when no agent is named" },
      force: { type: "boolean", summary: "replace one of this name, a known one too" },
    },
    json: true,
    load: () => import("./agents-add.ts"),
  },
  {
    name: "agents remove",
    summary: "forget an agent of your own",
    positionals: "NAME",
    completes: "agent",
    options: {},
    json: true,
    load: () => import("./agents-remove.ts"),
  },
  {
    name: "agents login",
    summary: "log in to an agent in one of its own ways",
    details:
      "The agent says which ways there are; you choose one, or name it. A login in a terminal gets this one; what it asks\n" +
      "for is not shown, and kept for you only. Our own agent: parley agent login.",
    positionals: "NAME [METHOD] | [METHOD] -- COMMAND [ARGUMENTS]",
    completes: "agent",
    options: {},
    json: true,
    load: () => import("./agents-login.ts"),
  },
  {
    name: "agents logout",
    summary: "log out of an agent, and forget what was given to log in",
    positionals: "NAME",
    completes: "agent",
    options: {},
    json: true,
    load: () => import("./agents-logout.ts"),
  },
];
