// Creates one pipe for stdout and stderr, which keeps the order of writes and can be opened as /dev/stderr.

import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Two descriptors, which the caller closes. */
export interface OutputFifo {
  readonly readFd: number;
  readonly writeFd: number;
}

/** Runs mkfifo, because Node's own pipes are sockets. undefined on Windows, and without a usable directory for temporary files. */
export async function openFifo(): Promise<OutputFifo | undefined> {
  if (process.platform === "win32") return undefined;
  // loaded on first use: 2 ms
  const { mkdtemp, rm } = await import("node:fs/promises");
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "parley-output-"));
    const path = join(folder, "fifo");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // in this order neither blocks
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
  } catch {
    // a read-only or full disk, no mkfifo, or out of descriptors: the caller uses two pipes
    return undefined;
  } finally {
    if (folder !== undefined) {
      await rm(folder, { recursive: true, force: true }).catch(() => {
        // an empty directory stays behind
      });
    }
  }
}
