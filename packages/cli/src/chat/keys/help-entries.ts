// What the help says, for the sheet, the plain face and docs/chat-keys.md.

import { keyName } from "./key-names.ts";
import { chatCommands, chatKeys } from "./keys-and-commands.ts";

/** What is typed or pressed, and what it does. */
export type HelpEntry = readonly [name: string, help: string];

export const keyEntries: readonly HelpEntry[] = chatKeys.map(({ keys, help }) => [
  keys.map(keyName).join(", "),
  help,
]);

export const commandEntries: readonly HelpEntry[] = [
  ...chatCommands.map(
    ({ name, hint, help }): HelpEntry => [`/${name}${hint === undefined ? "" : ` ${hint}`}`, help],
  ),
  ["@FILE", "attach a file; @FILE:10-40 attaches some of its lines"],
  ["!COMMAND", "run a command; the agent sees its output with the next prompt"],
];
