// splice(): passes bytes from one stream to another, whatever they are.

import type { Readable, Writable } from "node:stream";

/** Two streams that are connected. */
export interface Splice {
  /** Resolves when everything was passed on, or the target closed. */
  readonly done: Promise<void>;
  /** The number of chunks so far. */
  count(): number;
  /** The target accepts no more for now. */
  isBlocked(): boolean;
}

/** How two streams are connected. */
export interface SpliceOptions {
  /** Called after a chunk has been passed on. */
  readonly seen: (chunk: Buffer) => void;
  /** The target has other writers and is not ended. Default false. */
  readonly shared?: boolean;
}

/**
 * Passes everything that one stream reads on to another one, also what is no message: with back-pressure, and with the end of
 * input. The source stops when the target closes.
 *
 * @example
 * import { spawn } from "node:child_process";
 * import { splice } from "@parley/acp/node";
 *
 * const agent = spawn("my-agent", { stdio: ["pipe", "pipe", "inherit"] });
 * splice(process.stdin, agent.stdin, { seen: (chunk) => console.error(`client: ${chunk.length} bytes`) });
 * splice(agent.stdout, process.stdout, { seen: (chunk) => console.error(`agent: ${chunk.length} bytes`) });
 */
export function splice(from: Readable, to: Writable, { seen, shared = false }: SpliceOptions): Splice {
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
