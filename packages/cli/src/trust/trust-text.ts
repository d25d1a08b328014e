// The texts about the settings of a workspace, escaped for a terminal.

import type { FolderTrust, WorkspaceSettings } from "@parley/client/trust";
import { commandToType } from "../settings/installation.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** Everything that the folder brings along, file by file. `+` marks what is new or changed. */
export function settingsLines(settings: WorkspaceSettings, trust: FolderTrust): string[] {
  const isChanged = trust.state === "changed";
  const files = Map.groupBy(settings.items, ({ file }) => file);
  return [
    heading(settings, trust),
    ...[...files].flatMap(([file, items]) => [
      `  ${escapedLine(file)}`,
      ...items.flatMap((item) => [
        `  ${isChanged && trust.changed.includes(item) ? "+" : " "} ${escapedLine(item.what)}`,
        ...item.details.map((detail) => `        ${escapedLine(detail)}`),
      ]),
    ]),
    ...trust.gone.map((what) => `  - ${escapedLine(what)} (removed)`),
    ...settings.problems.map((problem) => `  ignored: ${escapedLine(problem)}`),
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
export function ignoredNotice(
  { folder, rules, mcpServers }: WorkspaceSettings,
  { state }: FolderTrust,
): string {
  const parts = [
    ...(rules.length === 0 ? [] : [counted(rules.length, "rule", ".parley/policy")]),
    ...(mcpServers.length === 0 ? [] : [counted(mcpServers.length, "MCP server", ".mcp.json")]),
  ];
  const why =
    state === "changed"
      ? "they have changed since you trusted this folder"
      : "you have not trusted this folder";
  return `${parts.join(" and ")} ignored: ${why}; to see them, run ${commandToType()} trust ${shellWord(escapedLine(folder))}`;
}

function counted(count: number, what: string, file: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"} of ${file}`;
}

function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
