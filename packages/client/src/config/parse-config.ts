// Parses the config file for apps.

import { checkConfig } from "./check-config.ts";
import { anySection, configShape } from "./config-shape.ts";
import type { ClientConfig } from "./configured-agents.ts";

/** The checked content of a config file. */
export interface ParsedConfig {
  /** The sections of the file. */
  readonly config: ClientConfig;
  /** One line per unknown key. Unknown keys are ignored. */
  readonly warnings: readonly string[];
}

/**
 * Parses the text of a config file: JSON that may contain comments and trailing commas.
 *
 * @param file - The name of the file, for messages.
 * @param agentSchema - The JSON Schema of the section `agent`, such as `agentConfigSchema` of `@parley/agent/config`.
 * Default: the section is not checked.
 * @throws {ConfigError} When the text is not JSON or a value is wrong.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { parseConfig } from "@parley/client/config";
 *
 * const file = "/home/me/.config/my-app/config.json";
 * const { config, warnings } = parseConfig(readFileSync(file, "utf8"), file);
 * for (const warning of warnings) console.warn(warning);
 * console.log(Object.keys(config.agents ?? {}));
 */
export function parseConfig(text: string, file: string, agentSchema: object = anySection): ParsedConfig {
  return checkConfig(text, file, configShape(agentSchema));
}
