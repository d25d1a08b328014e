// Parses and checks the config file.

import { problemsOf } from "./check-shape.ts";
import { parseJsonWithComments, SyntaxFailure } from "./json-with-comments.ts";
import type { ObjectShape } from "./shape.ts";

/** The file cannot be used. The message has every reason, one per line, and nothing of what the values say. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** What the file says, checked against the shape. */
export interface ParsedConfig {
  readonly config: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/** `file` is for messages. Names that are not known are warned of and ignored; anything else that is wrong throws. */
export function parseConfig(text: string, file: string, shape: ObjectShape): ParsedConfig {
  // a file that was only touched says nothing, which is no mistake
  const value = text.trim() === "" ? {} : parsed(text, file);
  const problems = problemsOf(value, shape);
  const line = ({ path, message }: (typeof problems)[number]) =>
    `${file}: ${path === "" ? "the file" : path} ${message}`;
  const errors = problems.filter(({ isUnknownName }) => !isUnknownName);
  if (errors.length > 0) throw new ConfigError(errors.map(line).join("\n"));
  // checked just now
  return { config: value as ParsedConfig["config"], warnings: problems.map(line) };
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    throw new ConfigError(`${file}:${error.line}:${error.column}: not JSON: ${error.message}`);
  }
}
