// Resolves a path link by link, as the system does when it opens it.

import { readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse } from "node:path";
import { RequestError } from "@parley/acp";

/** As many as Linux follows. */
const maxLinks = 40;
/** No system opens a longer one, and each name of it costs a look at the disk. */
export const longestPath = 8_192;

/**
 * Returns where a path leads from `base`. `..` goes up from where the links before it led; what is missing stays as it is
 * written. Nobody may join or shorten the path before: `link/..` is not the folder that the link is in.
 *
 * @throws {RequestError} "permission_denied" When it leads through more than 40 links, or is longer than any path.
 *
 * @example
 * import { canonicalPath } from "@parley/client/policy";
 *
 * console.log(canonicalPath("link/..", "/home/me/project"));
 */
export function canonicalPath(path: string, base: string = process.cwd()): string {
  if (path.length > longestPath)
    throw RequestError.permissionDenied(
      `a path of ${path.length} characters; the longest that can be opened has 4,096`,
    );
  let current = isAbsolute(path) ? parse(path).root : canonicalPath(base);
  const names = namesOf(path).reverse();
  let links = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const target = linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    if (++links > maxLinks)
      throw RequestError.permissionDenied(`${path} leads through more than ${maxLinks} links`);
    if (isAbsolute(target)) current = parse(target).root;
    names.push(...namesOf(target).reverse());
  }
  return current;
}

function namesOf(path: string): string[] {
  const rest = isAbsolute(path) ? path.slice(parse(path).root.length) : path;
  const separator = process.platform === "win32" ? /[\\/]/ : "/";
  return rest.split(separator).filter((name) => name !== "" && name !== ".");
}

/** Undefined: no link, missing, or forbidden to look at. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
