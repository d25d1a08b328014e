// Reads files in the session's roots, to show an editor whole texts where the agent sent a patch.

import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

const maxBytes = 10 * 1024 * 1024;

/** Undefined unless it is a text file of at most 10 MiB below one of the roots. */
export function readWorkspaceText(path: string, roots: readonly string[]): string | undefined {
  if (!isAbsolute(path)) return undefined;
  let fd: number | undefined;
  try {
    const real = realpathSync(path);
    if (!roots.some((root) => isBelow(real, realRoot(root)))) return undefined;
    // a link or pipe that replaced the file meanwhile is neither followed nor waited for
    fd = openSync(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const bytes = readFileSync(fd);
    const text = bytes.toString("utf8");
    return text.includes("\ufffd") || text.includes("\0") ? undefined : text;
  } catch {
    // the patch is shown instead, and reported as a loss
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

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
