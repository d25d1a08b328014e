// The table of `parley chat`.

import { type Command, flag, option } from "../command/command.ts";
import { otherOptions, placeOptions, rightsOptions } from "../live/live-option-table.ts";
import { themeNames } from "../terminal/paint.ts";

export const conversationCommands: readonly Command[] = [
  {
    name: "chat",
    summary: "Talk with an agent at the terminal",
    details:
      "`parley` without a command does the same. You can start to write while the agent starts. The agent is Parley's own, " +
      "unless you name another with --agent or give its command after --. /help lists the keys and commands. docs/chat.md is the manual.\n\n" +
      "With --plain, everything is printed line by line, for screen readers, simple terminals and pipes. " +
      "PARLEY_PLAIN=1 and chat.plain in the config file do the same. Input from a pipe is read line by line. " +
      "Nobody can be asked then, so everything that no rule allows is refused.",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      ...placeOptions,
      plain: flag("Print line by line, and choose from lists by number"),
      theme: option("NAME", "Colours: terminal (default), dark, light, colour-blind or mono", {
        completes: themeNames,
      }),
      ...rightsOptions,
      ...otherOptions,
    },
    examples: [
      "parley",
      'parley chat --agent claude "fix the failing test"',
      "parley chat --continue",
      "parley chat --plain",
    ],
    load: async () => (await import("./chat.ts")).chat,
  },
];
