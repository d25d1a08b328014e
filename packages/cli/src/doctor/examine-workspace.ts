// Checks whether the settings of the current folder take effect.

import { ignoredNotice } from "../trust/trust-text.ts";
import { foundSettings } from "../trust/workspace-trust.ts";
import type { Finding } from "./examine.ts";

/** None if the folder has no settings. */
export function examineWorkspace(folder: string): Finding[] {
  const found = foundSettings(folder);
  if (found === undefined) return [];
  const { settings, trust } = found;
  const what = "folder settings";
  const problems: Finding[] = settings.problems.map((detail) => ({ what, state: "warning", detail }));
  if (trust.state === "nothing") return problems;
  if (trust.state !== "trusted") {
    const [detail = ""] = ignoredNotice(settings, trust).split("; to look at them");
    return [{ what, state: "warning", detail, todo: "look at them and decide: parley trust" }];
  }
  const { rules, mcpServers } = settings;
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  const detail = `trusted, with ${counted(rules.length, "rule")} and ${counted(mcpServers.length, "MCP server")}`;
  return [{ what, state: "ok", detail }, ...problems];
}
