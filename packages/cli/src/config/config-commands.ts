// The tables of `parley config`.

import type { Command } from "../command/command.ts";

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    summary: "Print the config file without its secrets",
    json: true,
    load: () => import("./config-show.ts"),
  },
  {
    name: "config get",
    summary: "Print one value of the config file",
    details: "Join names with dots: agent.mode. Exits with 1 if the value is not set. Secrets are hidden.",
    positionals: "NAME",
    json: true,
    load: () => import("./config-show.ts"),
  },
  {
    name: "config set",
    summary: "Set one value in the config file",
    details:
      "The value is parsed as JSON if possible, otherwise it is text. An invalid value is rejected and nothing is written. Comments " +
      "and order stay.",
    positionals: "NAME VALUE",
    json: true,
    load: () => import("./config-set.ts"),
  },
  {
    name: "config unset",
    summary: "Remove one value from the config file",
    positionals: "NAME",
    json: true,
    load: async () => ({ run: (await import("./config-set.ts")).unset }),
  },
  {
    name: "config path",
    summary: "Print the path of the config file",
    json: true,
    load: async () => ({ run: (await import("./config-show.ts")).showPath }),
  },
  {
    name: "config check",
    summary: "Validate the config file",
    details: "Exits with 2 if the file is invalid. Unknown names are reported as warnings.",
    json: true,
    load: async () => ({ run: (await import("./config-show.ts")).check }),
  },
  {
    name: "config edit",
    summary: "Open the config file in your editor and validate it afterwards",
    details: "Uses VISUAL, otherwise EDITOR. Creates the file, with its JSON schema, if it does not exist.",
    load: () => import("./config-edit.ts"),
  },
];
