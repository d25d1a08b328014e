// The config file, and whether everything is as it should be.

import type { Command } from "../command/command.ts";

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    summary: "print what the config file says, without its secrets",
    options: {},
    json: true,
    load: () => import("./config-show.ts"),
  },
  {
    name: "config get",
    summary: "print one value of the config file",
    details: "Names are joined by dots: agent.mode. Exits with 1 where it is not set. Secrets are not shown.",
    positionals: "NAME",
    options: {},
    json: true,
    load: () => import("./config-show.ts"),
  },
  {
    name: "config set",
    summary: "set one value of the config file",
    details:
      "The value is JSON where it can be, else text. What could not be used is refused, and nothing is written; comments\n" +
      "and order stay as they are.",
    positionals: "NAME VALUE",
    options: {},
    json: true,
    load: () => import("./config-set.ts"),
  },
  {
    name: "config unset",
    summary: "take one value out of the config file",
    positionals: "NAME",
    options: {},
    json: true,
    load: async () => ({ run: (await import("./config-set.ts")).unset }),
  },
  {
    name: "config path",
    summary: "print where the config file is",
    options: {},
    json: true,
    load: async () => ({ run: (await import("./config-show.ts")).showPath }),
  },
  {
    name: "config check",
    summary: "say what is wrong with the config file",
    details: "Exits with 2 where it cannot be used. Names that are not known are told, and do no harm.",
    options: {},
    json: true,
    load: async () => ({ run: (await import("./config-show.ts")).check }),
  },
  {
    name: "config edit",
    summary: "open the config file in your editor, and check it afterwards",
    details:
      "The editor is VISUAL, else EDITOR. A file that is not there is begun, with the schema that editors check it by.",
    options: {},
    load: () => import("./config-edit.ts"),
  },
  {
    name: "doctor",
    summary: "look whether everything is as it should be, and say what to do where it is not",
    details:
      "Node, the folders, the config, the model of our own agent, every agent that is installed (each is started, and\n" +
      "opens a session in a throw-away folder), and the MCP servers of the config. Nobody is logged in and no prompt is\n" +
      "sent. Exits with 1 where something is broken.",
    options: {
      agent: { type: "string", short: "a", value: "NAME", summary: "only this agent" },
      timeout: { type: "string", value: "SECONDS", default: "30", summary: "how long each may take" },
    },
    json: true,
    load: () => import("../doctor/doctor.ts"),
  },
];
