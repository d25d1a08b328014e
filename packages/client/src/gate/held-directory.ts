// Holds a directory open, so that a command starts in the one that was checked.

import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { RequestError } from "@parley/acp";

export interface HeldDirectory {
  /** What to start the command in. */
  readonly path: string;
  release(): void;
}

/** Not among Node's constants: a descriptor that only stands for the directory, which need not be readable. */
const pathOnly = 0o10000000;

/** `canonical` has no links. Only Linux can hold one; elsewhere it is the path. */
export function holdDirectory(canonical: string): HeldDirectory {
  const free: HeldDirectory = { path: canonical, release: () => undefined };
  if (process.platform !== "linux") return free;
  const fd = opened(canonical);
  // a child has our descriptors until it becomes the command
  const path = `/proc/self/fd/${fd}`;
  const where = leadsTo(path);
  if (where === canonical) return { path, release: () => closeSync(fd) };
  closeSync(fd);
  if (where === undefined) return free;
  throw changed(canonical);
}

/** Undefined in a container without /proc. */
function leadsTo(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function opened(path: string): number {
  try {
    return openSync(path, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    if (code === "ELOOP" || code === "ENOTDIR") throw changed(path);
    const message = `its working directory ${path} does not exist or cannot be entered; give another cwd`;
    throw new RequestError("not_found", message, { data: { reason: "cwd_not_found", path: "/cwd" } });
  }
}

function changed(path: string): RequestError {
  const message = `${path} has become something else since it was looked at; try again`;
  return new RequestError("conflict", message, { data: { reason: "conflict" } });
}
