// The text of a file that an agent has changed, for an editor that shows two texts where the agent sent a
// patch. Only what is below the session's roots, since the agent names the path.

import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

const maxBytes = 10 * 1024 * 1024;

/** Undefined for whatever is not a text file of at most 10 MiB below one of the roots. */
export function readWorkspaceText(path: string, roots: readonly string[]): string | undefined {
  if (!isAbsolute(path)) return undefined;
  let fd: number | undefined;
  try {
    const real = realpathSync(path);
    if (!roots.some((root) => isBelow(real, realRoot(root)))) return undefined;
    // a link or a pipe that took its place meanwhile is not followed and not waited for
    fd = openSync(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const bytes = readFileSync(fd);
    const text = bytes.toString("utf8");
    return text.includes("\ufffd") || text.includes("\0") ? undefined : text;
  } catch {
    // it is not there, or not ours to read: the patch is shown instead, and that is said as a loss
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** A root that is not there has nothing below it. */
function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return root;
  }
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
