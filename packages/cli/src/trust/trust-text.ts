// The texts about the settings of a workspace, escaped for a terminal.

import type { FolderTrust, WorkspaceItem, WorkspaceSettings } from "@parley/client/trust";
import { commandToType } from "../settings/installation.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** Everything that the folder brings along, file by file. `+` marks what is new or changed. `notes` are more problems. */
export function settingsLines(
  settings: WorkspaceSettings,
  trust: FolderTrust,
  notes: readonly string[] = [],
): string[] {
  const files = new Set([...settings.items, ...trust.gone].map(({ file }) => file));
  return [
    heading(settings, trust),
    ...[...files].flatMap((file) => [`  ${escapedLine(file)}`, ...fileLines(file, settings, trust)]),
    ...[...settings.problems, ...notes].map((problem) => `  note: ${escapedLine(problem)}`),
  ];
}

function fileLines(
  file: string,
  { items }: WorkspaceSettings,
  { state, changed, gone }: FolderTrust,
): string[] {
  const isNew = (item: WorkspaceItem): boolean => state === "changed" && changed.includes(item);
  return [
    ...items
      .filter((item) => item.file === file)
      .flatMap((item) => [
        `  ${isNew(item) ? "+" : " "} ${escapedLine(item.what)}`,
        ...item.details.map((detail) => `        ${escapedLine(detail)}`),
      ]),
    ...gone.filter((item) => item.file === file).map(({ what }) => `  - ${escapedLine(what)} (removed)`),
  ];
}

function heading({ folder }: WorkspaceSettings, { state, changed, gone }: FolderTrust): string {
  const name = escapedLine(folder);
  if (state === "trusted") return `${name} is trusted. These settings are in effect:`;
  if (state === "new") return `${name} has settings. They take effect only if you trust this folder:`;
  return changed.length + gone.length === 0
    ? `${name} was replaced, or its files were changed, since you trusted it. These are the settings now:`
    : `The settings of ${name} have changed since you trusted it:`;
}

/** Says on one line what is not in force, and how to change that. */
export function ignoredNotice(settings: WorkspaceSettings, trust: FolderTrust): string {
  return `${ignoredText(settings, trust)}; to see them, run ${commandToType()} trust ${shellWord(escapedLine(settings.folder))}`;
}

/** What is not in force, and why. */
export function ignoredText({ items, mcpServers }: WorkspaceSettings, { state }: FolderTrust): string {
  // not those that guard the files of servers
  const rules = items.length - mcpServers.length;
  const parts = [
    ...(rules === 0 ? [] : [counted(rules, "rule", ".parley/policy")]),
    ...(mcpServers.length === 0 ? [] : [counted(mcpServers.length, "MCP server", ".mcp.json")]),
  ];
  const why =
    state === "changed"
      ? "they have changed since you trusted this folder"
      : "you have not trusted this folder";
  return `${parts.join(" and ")} ignored: ${why}`;
}

function counted(count: number, what: string, file: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"} of ${file}`;
}

function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
