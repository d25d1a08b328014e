// Matches paths with shell patterns (*, **, ?, [a-z], {a,b}); a pattern without a slash matches names at any depth.

import { relative, sep } from "node:path";
import picomatch from "picomatch";

export function pathPattern(pattern: string, directory: string): (path: string) => boolean {
  const below = pattern.replace(/^\.\//, "");
  const matches = picomatch(below, { dot: true, basename: !below.includes("/") });
  return (path) => matches(relative(directory, path).split(sep).join("/"));
}
