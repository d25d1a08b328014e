// Passes chunks from one stream to another with back-pressure.

import { createWriteStream, fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { isatty, WriteStream } from "node:tty";

export interface Pass {
  /** Resolves when everything was passed on, or the target closed. */
  readonly done: Promise<void>;
  /** The number of chunks so far. */
  count(): number;
  /** The target accepts no more for now. */
  isBlocked(): boolean;
}

export interface PassOptions {
  /** Called after a chunk has been passed on. */
  readonly seen: (chunk: Buffer) => void;
  /** The target has other writers and is not ended. */
  readonly shared?: boolean;
}

export function pass(from: Readable, to: Writable, { seen, shared = false }: PassOptions): Pass {
  const done = Promise.withResolvers<void>();
  let chunks = 0;
  let blocked = false;
  from.on("data", (chunk: Buffer) => {
    chunks += 1;
    // write() also returns false for 64 KiB that the kernel took at once
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
    // 'close' follows
  });
  to.on("error", () => {
    // the source finds out by its next write, as without a tap
    from.destroy();
    done.resolve();
  });
  to.on("close", () => done.resolve());
  return { done: done.promise, count: () => chunks, isBlocked: () => blocked };
}

/** A descriptor of ours as a stream that never blocks; process.stdout blocks the whole process on pipes. */
export function openOutput(fd: 1 | 2): Writable {
  const stat = fstatSync(fd);
  if (stat.isFIFO() || stat.isSocket()) return new Socket({ fd, readable: false, writable: true });
  return isatty(fd) ? new WriteStream(fd) : createWriteStream("", { fd });
}
