// The table of `parley chat`.

import { type Command, flag } from "../command/command.ts";
import { otherOptions, placeOptions, rightsOptions } from "../live/live-option-table.ts";

export const conversationCommands: readonly Command[] = [
  {
    name: "chat",
    summary: "Talk with an agent at the terminal",
    details:
      "`parley` without a command does the same. The prompt can be written at once, while the agent starts. The agent is Parley's own " +
      "unless --agent names another or its command follows --. /help shows the commands. docs/chat.md describes everything.\n\n" +
      "With --plain, everything is appended line by line: for screen readers, for terminals that cannot move the cursor, and for pipes. " +
      "PARLEY_PLAIN=1 and chat.plain in the config file do the same. A pipe is read line by line, and nobody is asked then: " +
      "everything that no rule allows is refused.",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      ...placeOptions,
      plain: flag("Append only, with lists by number"),
      ...rightsOptions,
      ...otherOptions,
    },
    examples: [
      "parley chat",
      'parley chat --agent claude "fix the failing test"',
      "parley chat --continue",
      "parley chat --plain",
    ],
    load: async () => (await import("./chat.ts")).chat,
  },
];
