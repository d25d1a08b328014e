// Decides whether the settings of a workspace take effect, and asks the user at a terminal.

import { statSync } from "node:fs";
import type { McpServer } from "@parley/acp/model";
import type { Rule } from "@parley/client/policy";
import {
  type FolderTrust,
  type TrustedFolders,
  trustedFolders,
  type WorkspaceSettings,
  workspaceSettings,
} from "@parley/client/trust";
import { trustFolder } from "../settings/data-folder.ts";
import { ignoredNotice, settingsLines } from "./trust-text.ts";

/** The settings that take effect. */
export interface TrustedSettings {
  readonly rules: readonly Rule[];
  readonly mcpServers: readonly McpServer[];
  /** About ignored settings, one line each. */
  readonly notices: readonly string[];
}

const nothing: TrustedSettings = { rules: [], mcpServers: [], notices: [] };

/** `ask` shows the lines and returns the answer to a question; without it, only what was trusted before takes effect. */
export async function askedSettings(
  folder: string,
  ask?: (lines: readonly string[]) => Promise<boolean>,
): Promise<TrustedSettings> {
  const found = foundSettings(folder);
  if (found === undefined) return nothing;
  const { settings, trust, folders } = found;
  const isOpen = trust.state === "new" || trust.state === "changed";
  if (!isOpen || ask === undefined) return inForce(settings, trust);
  // the problems are among these lines
  const { privateNotes } = await import("./workspace-servers.ts");
  const lines = settingsLines(settings, trust, await privateNotes(settings.mcpServers));
  if (!(await ask(lines))) return nothing;
  return { ...accepted(settings), notices: kept(folders, settings) };
}

/** The settings that were trusted before. */
export function trustedSettings(folder: string): TrustedSettings {
  const found = foundSettings(folder);
  return found === undefined ? nothing : inForce(found.settings, found.trust);
}

export interface FoundSettings {
  readonly settings: WorkspaceSettings;
  readonly trust: FolderTrust;
  readonly folders: TrustedFolders;
}

/** Undefined if there is no such folder. */
export function foundSettings(folder: string): FoundSettings | undefined {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const settings = workspaceSettings(folder);
  const folders = trustedFolders(trustFolder());
  return { settings, trust: folders.check(settings), folders };
}

function inForce(settings: WorkspaceSettings, trust: FolderTrust): TrustedSettings {
  if (trust.state === "trusted" || trust.state === "nothing")
    return { ...accepted(settings), notices: settings.problems };
  return { ...nothing, notices: [ignoredNotice(settings, trust)] };
}

function accepted({
  parsedRules: rules,
  mcpServers,
}: WorkspaceSettings): Pick<TrustedSettings, "rules" | "mcpServers"> {
  return { rules, mcpServers };
}

/** The user trusts what was shown, even if that cannot be stored. */
function kept(folders: TrustedFolders, settings: WorkspaceSettings): string[] {
  try {
    folders.trust(settings);
    return [];
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs
    return [`cannot write to ${trustFolder()} (${code}): the folder is trusted for this run only`];
  }
}
