// Lists files and finds those that may match with ripgrep, where it is installed; what matches is decided by our own search.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { AboveRules } from "./walk-tree.ts";

/** A search takes at most this long; our own search then takes over. */
const timeoutMs = 30_000;
/** Names are listed fast, unless a pipe is in the place of a file that says what to ignore. */
const listMs = 5_000;
const maxOutputBytes = 64 * 1024 * 1024;
/** Systems limit the arguments of a command. */
const maxArgumentChars = process.platform === "win32" ? 24_000 : 100_000;

export interface RipgrepSearch {
  readonly program: string;
  /** The directory to search. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

export interface ListedFiles {
  /** In the order of our own search. */
  readonly paths: readonly string[];
  /** Those that are larger than the limit. */
  readonly large: ReadonlySet<string>;
}

/** The files of a directory and all below it; undefined when ripgrep cannot tell. */
export async function listFiles(
  search: RipgrepSearch,
  { withIgnored, above, maxBytes }: { withIgnored: boolean; above: AboveRules; maxBytes: number },
): Promise<ListedFiles | undefined> {
  const common = ["--files", "--null", "--hidden", "--no-ignore-dot", "--no-ignore-global"];
  // as `versionControl`
  const excluded = [".git", ".hg", ".svn", ".jj"].map((name) => `--glob=!${name}`);
  const args = [...common, ...excluded, ...flagsOf(withIgnored || above.isIgnored, above)];
  const [all, small] = await Promise.all([
    run(search, [...args, "--", "./"], listMs),
    run(search, [...args, `--max-filesize=${maxBytes}`, "--", "./"], listMs),
  ]);
  if (all === undefined || small === undefined || hasOwnRules(search.directory, all)) return undefined;
  const isSmall = new Set(small);
  const paths = all.map((path) => join(search.directory, path));
  const large = new Set(all.filter((path) => !isSmall.has(path)).map((path) => join(search.directory, path)));
  return { paths: inWalkOrder(paths), large };
}

/** Old versions always obey these files, which git does not know. */
const ownRules = ".rgignore";

function hasOwnRules(directory: string, listed: readonly string[]): boolean {
  if (listed.some((path) => path.endsWith(`${sep}${ownRules}`))) return true;
  for (let at = dirname(directory); ; at = dirname(at)) {
    if (existsSync(join(at, ownRules))) return true;
    if (dirname(at) === at) return false;
  }
}

/** The rules hold where there is no repository, too, but then only those below the directory. */
function flagsOf(findsAll: boolean, { isInRepository }: AboveRules): readonly string[] {
  if (findsAll) return ["--no-ignore"];
  return isInRepository ? [] : ["--no-require-git", "--no-ignore-parent"];
}

/** A directory comes where its name does, as in our own search. */
function inWalkOrder(paths: readonly string[]): string[] {
  const keyed = paths.map((path) => ({ path, key: path.replaceAll(sep, "\0") }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ path }) => path);
}

/** Those of the files in which a line may match. `pattern` is a regular expression of ripgrep. */
export async function filesThatMayMatch(
  search: RipgrepSearch,
  paths: readonly string[],
  { pattern, ignoresCase }: { readonly pattern: string; readonly ignoresCase: boolean },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const flags = ["--files-with-matches", "--null", "--text", "--encoding=none", "--no-ignore", "--hidden"];
  const caseFlag = ignoresCase ? "--ignore-case" : "--case-sensitive";
  for (const some of chunks(paths, search.directory)) {
    const args = [...flags, caseFlag, `--regexp=${pattern}`, "--", ...some];
    const matching = await run(search, args);
    // where it fails, all of them may match
    for (const path of matching ?? some) found.add(join(search.directory, path));
  }
  return found;
}

function* chunks(paths: readonly string[], directory: string): Generator<readonly string[]> {
  let some: string[] = [];
  let chars = 0;
  for (const path of paths) {
    const name = `.${path.slice(directory.length)}`;
    if (chars + name.length > maxArgumentChars && some.length > 0) {
      yield some;
      [some, chars] = [[], 0];
    }
    some.push(name);
    chars += name.length + 8;
  }
  if (some.length > 0) yield some;
}

/** The paths that it prints; undefined when it fails. Rejects when the signal is aborted. */
async function run(
  { program, directory, signal }: RipgrepSearch,
  args: readonly string[],
  timeout = timeoutMs,
): Promise<readonly string[] | undefined> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<readonly string[] | undefined>();
  const child = spawn(program, ["--no-config", "--no-messages", ...args], {
    cwd: directory,
    // nothing of the environment decides what it does, and it has no keys
    env: { SystemRoot: process.env["SystemRoot"] ?? "" },
    stdio: ["ignore", "pipe", "ignore"],
    timeout,
    signal,
  });
  const output: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxOutputBytes) output.push(chunk);
    else child.kill();
  });
  child.on("error", () => resolve(undefined));
  child.on("close", (code) => {
    // 1: nothing was found
    const isDone = (code === 0 || code === 1) && bytes <= maxOutputBytes;
    resolve(isDone ? Buffer.concat(output).toString().split("\0").slice(0, -1) : undefined);
  });
  const paths = await promise;
  signal.throwIfAborted();
  return paths;
}
