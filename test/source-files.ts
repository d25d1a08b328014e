// Reads the names, texts and imports of the repository's files for the tests of this folder.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** One import: what was written, and for a relative one the file that it names. */
export interface Import {
  readonly specifier: string;
  readonly target: string | undefined;
}

/** Every file that is, or is about to be, in the repository; paths from its root, with slashes. */
export function repositoryFiles(): string[] {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const deleted = execFileSync("git", ["ls-files", "-z", "--deleted"], { cwd: root, encoding: "utf8" });
  const gone = new Set(deleted.split("\0"));
  return [...new Set(list.split("\0"))].filter((file) => file !== "" && !gone.has(file)).sort();
}

export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

export function isTest(file: string): boolean {
  return file.endsWith(".test.ts");
}

/** The imports and re-exports of a file, dynamic ones included. */
export function importsOf(file: string): Import[] {
  const text = read(file).replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const pattern =
    /(?:^|[\s;}])(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']|(?:^|[\s;(=>])import\s*\(?\s*["']([^"']+)["']/g;
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = match[1] ?? match[2] ?? "";
    const target = specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : undefined;
    return { specifier, target };
  });
}

/** What these files load, directly or not, among the given files. */
export function reachableFrom(entries: readonly string[], files: ReadonlySet<string>): Set<string> {
  const seen = new Set<string>();
  const queue = entries.filter((entry) => files.has(entry));
  for (const file of queue) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const { target } of importsOf(file)) {
      if (target !== undefined && files.has(target)) queue.push(target);
    }
  }
  return seen;
}
