// Checks the text of the config file against its shape.

import { type ObjectShape, problemsOf, type ShapePath } from "@parley/acp/internal";
import { ConfigError } from "./config-error.ts";
import { parseJsonWithComments, SyntaxFailure } from "./json-with-comments.ts";

/** The checked content of the file. */
export interface CheckedConfig {
  readonly config: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/** `file` is for messages. Unknown names give warnings; any other problem throws. */
export function checkConfig(text: string, file: string, shape: ObjectShape): CheckedConfig {
  // an empty file is valid
  const value = text.trim() === "" ? {} : parsed(text, file);
  const problems = problemsOf(value, shape);
  const line = (problem: (typeof problems)[number]) =>
    `${file}: ${pathText(problem.path)} ${messageOf(problem)}`;
  const errors = problems.filter(({ kind }) => kind !== "unknown");
  if (errors.length > 0) throw new ConfigError(errors.map(line).join("\n"));
  // checked just now
  return { config: value as CheckedConfig["config"], warnings: problems.map(line) };
}

function messageOf({ kind, wanted, value }: ReturnType<typeof problemsOf>[number]): string {
  if (kind === "unknown") return `is not known; there are ${wanted}`;
  return kind === "missing" ? "is missing" : `must be ${wanted}, got ${kindOf(value)}`;
}

function pathText(path: ShapePath): string {
  const parts = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    return `.${/^[\w$-]{1,80}$/.test(part) ? part : JSON.stringify(part.slice(0, 80))}`;
  });
  return parts.join("").slice(1) || "the file";
}

/** Never the text itself: it may be a key in the wrong place. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "an empty text" : "another text";
  return typeof value === "object" ? "an object" : String(value);
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    throw new ConfigError(`${file}:${error.line}:${error.column}: not JSON: ${error.message}`);
  }
}
