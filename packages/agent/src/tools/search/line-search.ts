// Lines of a text that match a pattern. A pattern comes from a model and may take for ever on some line: the search
// of a file is given up after a while, whatever the pattern.

import { createContext, Script } from "node:vm";
import { ToolError } from "../base/tool.ts";

export interface MatchingLine {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export type LineSearch = (text: string, limit: number) => readonly MatchingLine[] | "too slow";

/** For one file. */
const timeoutMs = 1_000;

export interface PatternOptions {
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
}

/** Throws ToolError for what is no regular expression. */
export function lineSearch(pattern: string, { isLiteral, ignoresCase }: PatternOptions): LineSearch {
  const source = isLiteral ? pattern.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") : pattern;
  const flags = ignoresCase ? "i" : "";
  const expression = compiled(pattern, source, flags);
  // What has nothing to repeat within a repetition cannot take long.
  const isSimple = isLiteral || !/[*+}]/.test(source);
  if (isSimple) return (text, limit) => matching(text, expression, limit);
  return (text, limit) => inTime(() => matching(text, expression, limit));
}

function compiled(pattern: string, source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // the strict syntax refuses escapes that many write without need
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      `${JSON.stringify(pattern)} is no regular expression (${why}); set literal to search for it as it is`,
    );
  }
}

function matching(text: string, expression: RegExp, limit: number): MatchingLine[] {
  const found: MatchingLine[] = [];
  let line = 1;
  for (let from = 0; from <= text.length && found.length < limit; line += 1) {
    const feed = text.indexOf("\n", from);
    const end = feed < 0 ? text.length : feed;
    const one = text.slice(from, text[end - 1] === "\r" && end > from ? end - 1 : end);
    if ((feed >= 0 || one !== "") && expression.test(one)) found.push({ line, text: one });
    from = end + 1;
  }
  return found;
}

let watched: { readonly script: Script; readonly sandbox: { job: () => unknown } } | undefined;

/** The one way in which JavaScript stops a regular expression that backtracks. */
function inTime(job: () => MatchingLine[]): MatchingLine[] | "too slow" {
  watched ??= { script: new Script("job()"), sandbox: createContext({ job }) as { job: () => unknown } };
  watched.sandbox.job = job;
  try {
    return watched.script.runInContext(watched.sandbox, { timeout: timeoutMs }) as MatchingLine[]; // what job returns
  } catch (error) {
    // an error of the other realm: not one of our classes
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "too slow";
    throw error;
  }
}
