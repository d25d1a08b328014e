// Reads the section `chat` of the config file, without what the other sections need.

import { existsSync } from "node:fs";
import { configPath } from "./data-folder.ts";

/** How `parley chat` looks and behaves. */
export interface ChatConfig {
  readonly theme?: string;
  readonly plain?: boolean;
  readonly mouse?: boolean;
  readonly animations?: boolean;
  readonly notify?: boolean;
  readonly editor?: string;
}

/** Throws a CommandError for an invalid file. */
export async function readChatConfig(): Promise<ChatConfig> {
  // most users have none, and the first paint waits for this
  if (!existsSync(configPath())) return {};
  const { readConfig } = await import("./config-file.ts");
  return readConfig(() => undefined).chat ?? {};
}
