// The tables of `parley config`.

import type { Command } from "../command/command.ts";

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    summary: "Print the config file without its secrets",
    json: true,
    load: async () => (await import("./config.ts")).show,
  },
  {
    name: "config get",
    summary: "Print one value of the config file",
    details: "Join names with dots: agent.mode. Exits with 1 if the value is not set. Secrets are hidden.",
    positionals: "NAME",
    json: true,
    load: async () => (await import("./config.ts")).show,
  },
  {
    name: "config set",
    summary: "Set one value in the config file",
    details:
      "The value is parsed as JSON if possible, otherwise it is text. An invalid value is rejected and nothing is written. Comments " +
      "and order stay.",
    positionals: "NAME VALUE",
    json: true,
    load: async () => (await import("./config.ts")).set,
  },
  {
    name: "config unset",
    summary: "Remove one value from the config file",
    positionals: "NAME",
    json: true,
    load: async () => (await import("./config.ts")).unset,
  },
  {
    name: "config path",
    summary: "Print the path of the config file",
    json: true,
    load: async () => (await import("./config.ts")).showPath,
  },
  {
    name: "config check",
    summary: "Validate the config file",
    details: "Exits with 2 if the file is invalid. Unknown names are reported as warnings.",
    json: true,
    load: async () => (await import("./config.ts")).check,
  },
  {
    name: "config edit",
    summary: "Open the config file in your editor and validate it afterwards",
    details: "Uses VISUAL, otherwise EDITOR. Creates the file, with its JSON schema, if it does not exist.",
    load: async () => (await import("./config.ts")).edit,
  },
];
