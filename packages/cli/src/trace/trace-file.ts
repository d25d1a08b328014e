// Where traces are on this machine. They hold whatever crossed the wire, secrets included: nobody else may read them.

import { constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join } from "node:path";

export interface OpenTrace {
  readonly fd: number;
  readonly path: string;
}

/** How many names are tried before somebody should tidy up. */
const mostNames = 10_000;

/** `parley/traces` in the user's state directory; PARLEY_HOME moves it. */
export function traceFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { PARLEY_HOME: own, XDG_STATE_HOME: state } = environment;
  if (own !== undefined && own !== "") return join(own, "state", "traces");
  const base = state?.startsWith("/") ? state : join(homedir(), ".local", "state");
  return join(base, "parley", "traces");
}

/** A name that sorts by time and says which agent it is of. */
export function traceName(command: string, now: Date): string {
  const time = now.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const agent = basename(command)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 40);
  return `${time}-${agent}-${process.pid}.trace`;
}

/**
 * Creates a trace of a name that was free: an editor starts its agent more than once with the same command,
 * and no start may cost the trace of another. `x.trace` is followed by `x.2.trace`. Throws what the system says.
 */
export function createTrace(path: string): OpenTrace {
  makeFolder(dirname(path));
  const suffix = extname(path);
  const stem = path.slice(0, path.length - suffix.length);
  for (let n = 1; n <= mostNames; n++) {
    const candidate = n === 1 ? path : `${stem}.${n}${suffix}`;
    const fd = openNew(candidate);
    if (fd !== undefined) return { fd, path: candidate };
    const existing = statSync(candidate, { throwIfNoEntry: false });
    if (existing?.isDirectory()) throw new Error(`${candidate} is a folder: name a file in it`);
    // a device or a pipe is nobody's file; a pipe is opened for both, since nobody may be reading it yet
    if (existing?.isCharacterDevice())
      return { fd: openSync(candidate, constants.O_WRONLY), path: candidate };
    if (existing?.isFIFO()) {
      return { fd: openSync(candidate, constants.O_RDWR | constants.O_NONBLOCK), path: candidate };
    }
  }
  throw new Error(`${path} and ${mostNames - 1} names like it are taken; remove old traces`);
}

/**
 * Not Node's own `recursive`: it never returns where mkdir answers ENOENT inside a folder that is there, as below
 * /proc. That something else has the name is found by opening the file.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // another start of the same agent was faster
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** undefined when the name is taken, by a link that leads nowhere too. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}
