// Parses the config file for apps.

import { checkConfig } from "./check-config.ts";
import { configShape } from "./config-shape.ts";
import type { ClientConfig } from "./configured-agents.ts";

/** The checked content of the file. */
export interface ParsedConfig {
  readonly config: ClientConfig;
  /** Names that are not known, which were ignored. */
  readonly warnings: readonly string[];
}

/** Parses the text of a config file. `file` is for messages. Throws a ConfigError with every reason. */
export function parseConfig(text: string, file: string): ParsedConfig {
  // the section of our own agent is not checked here
  const agent = { type: "object", additionalProperties: { title: "anything", check: () => [] } } as const;
  return checkConfig(text, file, configShape(agent));
}
