// The `grep` tool: searches file contents with a regular expression.

import { findProgram } from "@parley/acp/node";
import { folderNames, pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { isBinary } from "../base/media-type.ts";
import { isProtected } from "../base/protected-paths.ts";
import { shownVerbatim } from "../base/shown-content.ts";
import { type RunContext, type Tool, ToolError, type ToolResult } from "../base/tool.ts";
import { headOf, shortLine, withNotes } from "../base/truncation.ts";
import { resolveReadable, shownPath } from "../base/workspace-path.ts";
import type { Wanted } from "./files-to-search.ts";
import { type LineSearch, lineSearch } from "./line-search.ts";

const defaultLimit = 100;
/** Larger files are data, not source text. */
const maxFileBytes = 4 * 1024 * 1024;

/** Looks for a ripgrep outside of the given roots. */
type FindRipgrep = (roots: readonly string[]) => Promise<string | undefined>;

export const grepTool = grepWith(async (roots) => findProgram("rg", { outside: roots }));

/** Without a ripgrep the search is our own. */
export function grepWith(find: FindRipgrep): Tool {
  return defineTool({
    name: "grep",
    description: `Search file contents line by line with a JavaScript regular expression, in a directory and its subdirectories or in one file. Skips files that git ignores. Returns path:line:text, at most ${defaultLimit} matching lines unless limit is set.`,
    isReadOnly: true,
    draft: { title: "Search", kind: "search" },
    aliases: {
      pattern: ["query", "regex", "regexp", "search"],
      path: [...pathNames, ...folderNames],
      glob: ["include", "include_pattern", "file_pattern", "filePattern"],
      literal: ["fixed_strings", "fixedStrings"],
      ignoreCase: ["ignore_case", "case_insensitive", "-i"],
      context: ["context_lines", "-C"],
      limit: ["max_results", "maxResults", "head_limit"],
    },
    ignores: ["-n", "output_mode"],
    properties: {
      pattern: { type: "string", minLength: 1, description: "The regular expression" },
      path: { type: "string", description: "Directory or file to search. Default: the working directory" },
      glob: { type: "string", description: "Search only files that match, such as *.ts or src/**/*.{js,ts}" },
      literal: {
        type: "boolean",
        description: "Search for the pattern as plain text. Default false",
      },
      ignoreCase: { type: "boolean", description: "Default false" },
      context: {
        type: "integer",
        minimum: 0,
        maximum: 20,
        description: "Lines to show around each match. Default 0",
      },
      ignored: { type: "boolean", description: "Include ignored files. Default false" },
      limit: { type: "integer", minimum: 1, maximum: 2_000, description: "Maximum number of matching lines" },
    },
    required: ["pattern"],
    async prepare(input, context) {
      const { pattern, literal: isLiteral = false, ignoreCase: ignoresCase = false, glob } = input;
      const target = await resolveReadable(context, input.path ?? ".", "tree");
      const { path, shown } = target;
      const request: GrepRequest = {
        path,
        search: lineSearch(pattern, { isLiteral, ignoresCase }),
        pattern,
        isLiteral,
        ignoresCase,
        around: input.context ?? 0,
        limit: input.limit ?? defaultLimit,
        withIgnored: input.ignored ?? false,
        maxBytes: maxFileBytes,
        // loaded on use, to keep startup fast
        ...(glob !== undefined && { isWanted: (await import("./walk-tree.ts")).pathPattern(glob, path) }),
      };
      const where = [shown === "." ? "" : ` in ${shown}`, glob === undefined ? "" : ` (${glob})`].join("");
      return {
        presentation: {
          title: `Search for ${quoted(pattern)}${where}`,
          kind: "search",
          locations: [{ path }],
        },
        access: target.access,
        // a program of its own could be led elsewhere by a link
        run: (outer) =>
          target.within(outer, (run) =>
            searchAll(run, request, target.isOutside ? async () => undefined : find),
          ),
      };
    },
  });
}

function quoted(pattern: string): string {
  return pattern.includes('"') ? `\`${pattern}\`` : `"${pattern}"`;
}

interface GrepRequest extends Wanted {
  readonly search: LineSearch;
  readonly around: number;
  readonly limit: number;
}

/** The matches so far, and the files that were not searched. */
class Findings {
  readonly lines: string[] = [];
  matches = 0;
  files = 0;
  readonly secrets: string[] = [];
  readonly forbidden: string[] = [];
  readonly slow: string[] = [];
  large = 0;
}

async function searchAll(context: RunContext, request: GrepRequest, find: FindRipgrep): Promise<ToolResult> {
  const findings = new Findings();
  const { kind } = await context.files.stat(request.path);
  if (kind !== "directory") await searchFile(context, request, request.path, findings);
  else {
    // loaded on use, to keep startup fast
    const { filesToSearch } = await import("./files-to-search.ts");
    for await (const { paths, narrowed } of filesToSearch(context, request, await find(context.roots))) {
      const hidden = await context.vetoes?.unreadable(paths);
      const isOpen = (path: string) => !hidden?.has(path) && !isProtected(path, "read");
      const mayMatch = await narrowed?.(paths.filter(isOpen));
      for (const path of paths) {
        if (findings.matches >= request.limit) break;
        if (hidden?.has(path)) findings.forbidden.push(shownPath(context, path));
        // secrets are read only by a call that names them, so that the user is asked
        else if (isProtected(path, "read")) findings.secrets.push(shownPath(context, path));
        else if (mayMatch === undefined || mayMatch.has(path))
          await searchFile(context, request, path, findings);
      }
      if (findings.matches >= request.limit) break;
    }
  }
  return resultOf(findings, request);
}

async function searchFile(
  context: RunContext,
  request: GrepRequest,
  path: string,
  findings: Findings,
): Promise<void> {
  const { files, signal } = context;
  const isOnlyOne = path === request.path;
  let bytes: Uint8Array;
  try {
    if (!isOnlyOne && (await files.stat(path)).size > maxFileBytes) {
      findings.large += 1;
      return;
    }
    bytes = await files.readBytes(path, { signal });
  } catch (error) {
    if (isOnlyOne || signal.aborted) throw error;
    // removed or unreadable: skip it
    return;
  }
  if (isBinary(bytes)) {
    if (isOnlyOne) throw new ToolError(`${shownPath(context, path)} is a binary file, not text`);
    return;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const found = request.search(text, request.limit - findings.matches);
  if (found === "too slow") {
    findings.slow.push(shownPath(context, path));
    if (findings.slow.length > 2) {
      throw new ToolError("the pattern takes too long; avoid nested repetitions such as (a+)+");
    }
    return;
  }
  if (found.length === 0) return;
  findings.matches += found.length;
  findings.files += 1;
  findings.lines.push(...shownLines(shownPath(context, path), text, found, request.around));
}

function shownLines(
  name: string,
  text: string,
  found: readonly { readonly line: number; readonly text: string }[],
  around: number,
): string[] {
  if (around === 0) return found.map((match) => `${name}:${match.line}:${shortLine(match.text)}`);
  const all = text.split(/\r?\n/);
  const isMatch = new Set(found.map(({ line }) => line));
  const wanted = new Set(
    found.flatMap(({ line }) => Array.from({ length: 2 * around + 1 }, (_, i) => line - around + i)),
  );
  const last = all.at(-1) === "" ? all.length - 1 : all.length;
  const lines = [...wanted].filter((line) => line >= 1 && line <= last).sort((one, other) => one - other);
  return lines.flatMap((line, i) => {
    const sign = isMatch.has(line) ? ":" : "-";
    const gap = i > 0 && lines[i - 1] !== line - 1 ? ["--"] : [];
    return [...gap, `${name}${sign}${line}${sign}${shortLine(all[line - 1] ?? "")}`];
  });
}

function resultOf(findings: Findings, { limit }: GrepRequest): ToolResult {
  const { matches, files, secrets, forbidden, slow, large } = findings;
  const excerpt = headOf(findings.lines.join("\n"));
  const notes: string[] = [];
  if (matches === 0) notes.push("no matches");
  if (excerpt.isCut) notes.push(`the first ${excerpt.to} of ${excerpt.lines} lines; narrow the search`);
  if (matches >= limit)
    notes.push(`${limit} matching lines, there may be more; raise limit or narrow the search`);
  if (secrets.length > 0)
    notes.push(`not searched, because they may hold secrets: ${secrets.slice(0, 10).join(", ")}`);
  if (forbidden.length > 0)
    notes.push(`not searched, because the user's rules forbid it: ${forbidden.slice(0, 10).join(", ")}`);
  if (slow.length > 0)
    notes.push(`not searched to the end, because the pattern took too long: ${slow.join(", ")}`);
  if (large > 0)
    notes.push(`not searched, because they are larger than 4 MB: ${large} files; name them to search them`);
  const modelText = withNotes(excerpt.text, notes);
  return {
    content: [textPart(modelText)],
    rawOutput: { matches, files },
    shown: [shownVerbatim(excerpt.text === "" ? modelText : excerpt.text)],
  };
}
