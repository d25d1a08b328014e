// One pipe for stdout and stderr, so that their order is the order of the writes: read from two pipes,
// `make`'s errors come after all of its output. The pipes that Node makes are sockets besides, which
// nobody can open by name: `echo no > /dev/stderr` fails. Node cannot make a real pipe, but mkfifo can;
// that takes 5 ms. The name is gone before the command starts.

import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Two descriptors, each to be closed by whoever takes it. */
export interface OutputFifo {
  readonly readFd: number;
  readonly writeFd: number;
}

/** undefined where there are none: on Windows, or without a folder for temporary files. */
export async function openFifo(): Promise<OutputFifo | undefined> {
  if (process.platform === "win32") return undefined;
  // Loaded here: 2 ms that an agent without terminals never pays.
  const { mkdtemp, rm } = await import("node:fs/promises");
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "parley-output-"));
    const path = join(folder, "fifo");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // In this order neither blocks.
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
  } catch {
    // a read-only or full disk, no mkfifo, no descriptors: two pipes are still good enough
    return undefined;
  } finally {
    if (folder !== undefined) {
      await rm(folder, { recursive: true, force: true }).catch(() => {
        // an empty name stays in the folder for temporary files; the command can start all the same
      });
    }
  }
}
