// What the help says, for the sheet, the plain face and docs/chat-keys.md.

import { keyName } from "./key-names.ts";
import { type ChatAction, chatCommands, chatKeys } from "./keys-and-commands.ts";

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

/** A row of the palette: what it is called, with its keys, and what it does. */
export interface PaletteEntry {
  readonly label: string;
  readonly help: string;
  readonly action: ChatAction;
  /** What is typed into the prompt, for a command that needs more words. */
  readonly typed?: string;
}

/** Keys that only make sense where they are pressed. */
const keysOnly: ReadonlySet<ChatAction> = new Set([
  ...["send", "newline", "steer", "clear", "focus", "palette", "deleteLine"],
] as ChatAction[]); // as: the list has no other words

/** All commands with the keys that do the same, then what has only a key. */
export const paletteEntries: readonly PaletteEntry[] = [
  ...chatCommands.map(({ name, hint, help, action }): PaletteEntry => {
    const needsWords = hint !== undefined && !hint.startsWith("[");
    const label = [`/${name}${hint === undefined ? "" : ` ${hint}`}`, keysOf(action)].filter(
      (part) => part !== "",
    );
    return { label: label.join("  "), help, action, ...(needsWords && { typed: `/${name} ` }) };
  }),
  ...chatKeys
    .filter(({ action }) => !keysOnly.has(action) && !chatCommands.some((each) => each.action === action))
    .map(({ action, help }): PaletteEntry => ({ label: keysOf(action), help, action })),
];

function keysOf(action: ChatAction): string {
  return chatKeys
    .filter((each) => each.action === action)
    .flatMap(({ keys }) => keys.map(keyName))
    .join(", ");
}
