// Creates trace files, readable only by the user since they contain secrets.

import { constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { stateFolder } from "../settings/data-folder.ts";

export interface OpenTrace {
  readonly fd: number;
  readonly path: string;
}

/** How many names are tried. */
const maxNames = 10_000;

/** A file in the state directory; its name sorts by time and contains the agent's. */
export function defaultTracePath(command: string, now: Date): string {
  const time = now.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const agent = basename(command)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 40);
  return join(stateFolder(), "traces", `${time}-${agent}-${process.pid}.trace`);
}

/** Never overwrites a trace: if `x.trace` exists, the next is `x.2.trace`. Editors start an agent more than once. */
export function createTrace(path: string): OpenTrace {
  makeFolder(dirname(path));
  const suffix = extname(path);
  const stem = path.slice(0, path.length - suffix.length);
  for (let n = 1; n <= maxNames; n++) {
    const candidate = n === 1 ? path : `${stem}.${n}${suffix}`;
    const fd = openNew(candidate);
    if (fd !== undefined) return { fd, path: candidate };
    const existing = statSync(candidate, { throwIfNoEntry: false });
    if (existing?.isDirectory()) throw new Error(`${candidate} is a folder: expected a file`);
    // devices and pipes are used as they are; a pipe is opened for both, since it may have no reader yet
    if (existing?.isCharacterDevice())
      return { fd: openSync(candidate, constants.O_WRONLY), path: candidate };
    if (existing?.isFIFO()) {
      return { fd: openSync(candidate, constants.O_RDWR | constants.O_NONBLOCK), path: candidate };
    }
  }
  throw new Error(`${path} and ${maxNames - 1} similar names exist; remove old traces`);
}

/** Node's `recursive` option never returns where mkdir answers ENOENT inside an existing folder, as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // another process created it
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Undefined if the name exists, also as a dangling link. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}
