// Patterns for paths, as shells have them: *, **, ?, [a-z], {a,b}. One without a slash is for names at any depth.

import { relative, sep } from "node:path";
import picomatch from "picomatch";

/** Whether a path below the directory matches. */
export function pathPattern(pattern: string, directory: string): (path: string) => boolean {
  const below = pattern.replace(/^\.\//, "");
  const options = { dot: true, ...(below.includes("/") ? {} : { basename: true }) };
  const matches = picomatch(below, options);
  return (path) => matches(relative(directory, path).split(sep).join("/"));
}
