// The table of `parley chat`.

import { type Command, flag, option } from "../command/command.ts";
import { otherOptions, placeOptions, rightsOptions } from "../live/live-option-table.ts";
import { themeNames } from "../terminal/paint.ts";

const chatOptions: NonNullable<Command["options"]> = {
  ...placeOptions,
  plain: flag("Print line by line, and choose from lists by number"),
  theme: option("NAME", "Colours: terminal (default), dark, light, colour-blind or mono", {
    completes: themeNames,
  }),
  ...rightsOptions,
  ...otherOptions,
};

const { session: _session, continue: _continue, "no-history": _noHistory, ...resumeOptions } = chatOptions;

export const conversationCommands: readonly Command[] = [
  {
    name: "chat",
    summary: "Talk with an agent at the terminal",
    details:
      "`parley` without a command does the same, also with these options, with a prompt in quotes and with the name of an agent: " +
      '`parley -c`, `parley "fix the bug"`, `parley claude`. You can start to write while the agent starts. The agent is Parley\'s own, ' +
      "unless you name another with --agent or give its command after --. /help lists the keys and commands. docs/chat.md is the manual.\n\n" +
      "With --plain, everything is printed line by line, for screen readers, simple terminals and pipes. " +
      "PARLEY_PLAIN=1 and chat.plain in the config file do the same. Input from a pipe is read line by line. " +
      "Nobody can be asked then, so everything that no rule allows is refused.",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: chatOptions,
    isImplied: true,
    examples: [
      "parley",
      "parley claude",
      'parley "fix the failing test"',
      "parley -c",
      'parley --agent claude --cwd ../other "fix the failing test"',
      "parley chat --plain",
    ],
    load: async () => (await import("./chat.ts")).chat,
  },
  {
    name: "resume",
    summary: "Continue a session at the terminal",
    details:
      "Continues the session with this name or id (the agent's own ids work too), otherwise the most recent one in this directory, " +
      "as `parley -c` does. parley sessions lists them all, and Ctrl-P does in a conversation.",
    positionals: "[SESSION] [PROMPT] [-- COMMAND [ARGUMENTS]]",
    completes: "session",
    options: resumeOptions,
    examples: ["parley resume", 'parley resume fix-login "now write a test for it"'],
    load: async () => (await import("./chat.ts")).resume,
  },
];
