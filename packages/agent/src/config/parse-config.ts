// The config file: JSON with comments, checked, with every problem by its path.

import type { Effort } from "../model/model.ts";
import type { AutoApproval, Mode } from "../permissions/modes.ts";
import type { ModelConfig } from "../providers/provider-config.ts";
import { problemsOf } from "./check-shape.ts";
import { configShape } from "./config-schema.ts";
import { parseJsonWithComments, SyntaxFailure } from "./json-with-comments.ts";

/** The section `agent`. */
export interface AgentConfig extends ModelConfig {
  readonly mode?: Mode;
  readonly effort?: Effort;
  readonly autoApprove?: AutoApproval;
  readonly maxTurnRequests?: number;
  readonly privateHosts?: readonly string[];
}

export interface Config {
  readonly agent?: AgentConfig;
}

/** The file cannot be used. The message has every reason, one per line, and nothing of what the values say. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** `file` is for messages. Names that are not known are warned of and ignored; anything else that is wrong throws. */
export function parseConfig(
  text: string,
  file: string,
): { readonly config: Config; readonly warnings: readonly string[] } {
  // a file that was only touched says nothing, which is no mistake
  const value = text.trim() === "" ? {} : parsed(text, file);
  const problems = problemsOf(value, configShape);
  const line = ({ path, message }: (typeof problems)[number]) =>
    `${file}: ${path === "" ? "the file" : path} ${message}`;
  const errors = problems.filter(({ isUnknownName }) => !isUnknownName);
  if (errors.length > 0) throw new ConfigError(errors.map(line).join("\n"));
  // checked just now
  return { config: value as Config, warnings: problems.map(line) };
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    throw new ConfigError(`${file}:${error.line}:${error.column}: not JSON: ${error.message}`);
  }
}
