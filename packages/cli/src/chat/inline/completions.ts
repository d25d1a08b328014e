// Completes commands after `/` and files after `@` in the prompt.

import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui";
import { isObject } from "@parley/acp/jsonrpc";
import { safeLine } from "../../terminal/sanitise.ts";
import type { Conversations } from "../conversation/conversations.ts";
import { chatCommands } from "../keys/keys-and-commands.ts";

const mostShown = 50;
/** Such a name cannot be mentioned. */
const unwritable = /[\p{Cc}"]/u;

/** A path with blanks is mentioned in quotes. */
export function mention(path: string): string {
  return /^[\w./@+~-]+$/.test(path) ? `@${path}` : `@"${path}"`;
}

export function chatCompletions(conversation: Conversations): AutocompleteProvider {
  return {
    triggerCharacters: ["@", "/"],
    async getSuggestions(lines, row, column, { signal }) {
      const before = (lines[row] ?? "").slice(0, column);
      const [, command] = row === 0 ? (/^\/(\S*)$/.exec(before) ?? []) : [];
      if (command !== undefined) return found(`/${command}`, commandItems(conversation, command));
      const [, typed] = /(?:^|\s)@"?([^\s"]*)$/.exec(before) ?? [];
      if (typed === undefined) return null;
      // a range of lines may follow the name
      const [query = ""] = typed.split(":");
      if (typed.includes(":")) return null;
      const files = await conversation.findFiles(query, signal);
      const items = files
        .filter((path) => !unwritable.test(path))
        .slice(0, mostShown)
        .map((path) => ({ value: mention(path), label: safeLine(path) }));
      const prefix = before.slice(before.lastIndexOf("@"));
      return isWritten(prefix, items) ? null : found(prefix, items);
    },
    applyCompletion(lines, cursorLine, column, { value }, prefix) {
      const line = lines[cursorLine] ?? "";
      const start = column - prefix.length;
      const text = `${value}${value.endsWith("/") ? "" : " "}`;
      const changed = `${line.slice(0, start)}${text}${line.slice(column)}`;
      return { lines: lines.with(cursorLine, changed), cursorLine, cursorCol: start + text.length };
    },
    shouldTriggerFileCompletion: () => false,
  };
}

/** The name is complete and begins no other: Enter sends the prompt. */
function isWritten(prefix: string, items: readonly AutocompleteItem[]): boolean {
  const beginnings = items.filter(({ value }) => value.startsWith(prefix));
  return beginnings.length === 1 && beginnings[0]?.value === prefix && !prefix.endsWith("/");
}

function found(prefix: string, items: AutocompleteItem[]) {
  return items.length === 0 ? null : { prefix, items };
}

/** Ours first, then those of the agent. */
function commandItems({ current }: Conversations, typed: string): AutocompleteItem[] {
  const ours = chatCommands.map(({ name, hint, help }) => commandItem(name, hint, help));
  const names = new Set(chatCommands.map(({ name }) => name));
  const theirs = current.commands
    .filter(({ name }) => !names.has(name) && name.startsWith(typed))
    .map(({ name, description, input }) => commandItem(name, hintOf(input), description));
  return [...ours, ...theirs].filter(({ value }) => value.startsWith(`/${typed}`));
}

function commandItem(name: string, hint: string | undefined, help: string): AutocompleteItem {
  const shown = hint === undefined ? "" : ` ${shortLine(hint)}`;
  return { value: `/${name}`, label: `/${shortLine(name)}${shown}`, description: shortLine(help) };
}

/** An agent may send megabytes, and no menu shows them. */
function shortLine(text: string): string {
  return safeLine(text.slice(0, 1_000));
}

/** Agents of newer versions may want other input. */
function hintOf(input: unknown): string | undefined {
  return isObject(input) && typeof input["hint"] === "string" ? input["hint"] : undefined;
}
