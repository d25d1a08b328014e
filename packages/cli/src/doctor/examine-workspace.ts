// Checks whether the settings of the current folder take effect.

import type { Config } from "../settings/config-file.ts";
import { ignoredText } from "../trust/trust-text.ts";
import { privateNotes } from "../trust/workspace-servers.ts";
import { foundSettings } from "../trust/workspace-trust.ts";
import type { Finding } from "./examine.ts";

/** None if the folder has no settings. */
export async function examineWorkspace(folder: string, config: Config): Promise<Finding[]> {
  const found = foundSettings(folder);
  if (found === undefined) return [];
  const { settings, trust } = found;
  const what = "folder settings";
  const notes = await privateNotes(settings.mcpServers, config);
  const problems = [...settings.problems, ...notes].map(
    (detail): Finding => ({ what, state: "warning", detail }),
  );
  if (trust.state === "nothing") return problems;
  if (trust.state !== "trusted") {
    const todo = "look at them and decide: parley trust";
    return [{ what, state: "warning", detail: ignoredText(settings, trust), todo }, ...problems];
  }
  const { rules, mcpServers } = settings;
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  const detail = `trusted, with ${counted(rules.length, "rule")} and ${counted(mcpServers.length, "MCP server")}`;
  return [{ what, state: "ok", detail }, ...problems];
}
