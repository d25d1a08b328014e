// Finds matching lines, with a timeout for patterns that backtrack endlessly.

import { createContext, Script } from "node:vm";
import { isObject } from "@parley/acp/jsonrpc";
import { ToolError } from "../base/tool.ts";

export interface MatchingLine {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export type LineSearch = (text: string, limit: number) => readonly MatchingLine[] | "too slow";

const timeoutMs = 1_000;

export interface PatternOptions {
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
}

/** Throws ToolError for an invalid regular expression. */
export function lineSearch(pattern: string, { isLiteral, ignoresCase }: PatternOptions): LineSearch {
  const source = isLiteral ? pattern.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") : pattern;
  const flags = ignoresCase ? "i" : "";
  const expression = compiled(pattern, source, flags);
  // without repetition a pattern cannot backtrack
  const isSimple = isLiteral || !/[*+}]/.test(source);
  if (isSimple) return (text, limit) => matching(text, expression, limit);
  return (text, limit) => withVmTimeout(() => matching(text, expression, limit));
}

function compiled(pattern: string, source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // the strict syntax refuses unnecessary escapes, which are common
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      `${JSON.stringify(pattern)} is not a valid regular expression (${why}); set literal to search for it as plain text`,
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

let vm: { readonly script: Script; readonly sandbox: { job: () => unknown } } | undefined;

/** Runs it in a VM context, the only way to interrupt a regular expression. */
function withVmTimeout(job: () => MatchingLine[]): MatchingLine[] | "too slow" {
  vm ??= { script: new Script("job()"), sandbox: createContext({ job }) as { job: () => unknown } };
  vm.sandbox.job = job;
  try {
    return vm.script.runInContext(vm.sandbox, { timeout: timeoutMs }) as MatchingLine[]; // the result of job
  } catch (error) {
    // an error from another realm, not an instance of our classes
    if (isObject(error) && error["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "too slow";
    throw error;
  }
}
