// One direction of the tap: chunks go on as they came, and the pipe behind is read no faster than the one in
// front takes it. What the trace makes of them is no concern of this module.

import { createWriteStream, fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { isatty, WriteStream } from "node:tty";

export interface Pass {
  /** When everything has been passed on, or the side in front has gone. */
  readonly done: Promise<void>;
  /** Chunks so far. */
  count(): number;
  /** The side in front does not take more for now. */
  isBlocked(): boolean;
}

export interface PassOptions {
  /** Called after a chunk has been passed on. */
  readonly seen: (chunk: Buffer) => void;
  /** Whether the side in front has other writers, who may still have something to say at the end. */
  readonly shared?: boolean;
}

export function pass(from: Readable, to: Writable, { seen, shared = false }: PassOptions): Pass {
  const done = Promise.withResolvers<void>();
  let chunks = 0;
  let blocked = false;
  from.on("data", (chunk: Buffer) => {
    chunks += 1;
    // Not the return value alone: it says false for 64 KiB that the kernel took at once.
    if (!to.destroyed && !to.write(chunk) && to.writableLength >= to.writableHighWaterMark) {
      blocked = true;
      from.pause();
    }
    seen(chunk);
  });
  to.on("drain", () => {
    if (!blocked) return;
    blocked = false;
    from.resume();
  });
  const finish = (): void => {
    if (to.destroyed) done.resolve();
    else if (shared) to.write("", () => done.resolve());
    else to.end(() => done.resolve());
  };
  from.on("end", finish).on("close", finish);
  from.on("error", () => {
    // a broken pipe is the end of it, and 'close' follows
  });
  to.on("error", () => {
    // Whoever was in front has gone; whoever is behind finds out by its next write, as without a tap.
    from.destroy();
    done.resolve();
  });
  to.on("close", () => done.resolve());
  return { done: done.promise, count: () => chunks, isBlocked: () => blocked };
}

/**
 * A descriptor of ours as a stream that never blocks. process.stdout is not: on a pipe it makes the whole process
 * wait for whoever reads it, and the other direction with it.
 */
export function openOutput(fd: 1 | 2): Writable {
  const stat = fstatSync(fd);
  if (stat.isFIFO() || stat.isSocket()) return new Socket({ fd, readable: false, writable: true });
  return isatty(fd) ? new WriteStream(fd) : createWriteStream("", { fd });
}
