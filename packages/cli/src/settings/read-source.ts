// Reads a file or a named pipe such as /dev/fd/63 without blocking: a plain read of an idle pipe cannot be interrupted.

import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** The file exceeds the limit. */
export class TooLargeError extends Error {}

export interface SourceLimits {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

const pollMs = 20;

/** Rejects as `fs` does, with TooLargeError, or with the signal's reason. */
export async function readSource(path: string, { maxBytes, signal }: SourceLimits): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    // a device may be endless, and reports no size
    if (facts.isFile() && facts.size > maxBytes) throw new TooLargeError();
    const isAwaited = facts.isFIFO() && (await lstat(path)).isFIFO();
    return await readAll(file, facts, { maxBytes, signal, isAwaited });
  } finally {
    await file.close();
  }
}

/** `isAwaited`: a pipe without a writer yet; its end before the first byte does not count. */
async function readAll(
  file: FileHandle,
  facts: Stats,
  { maxBytes, signal, isAwaited }: SourceLimits & { readonly isAwaited: boolean },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    signal?.throwIfAborted();
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const bytes = await readSome(file, chunk, facts);
    if (bytes === 0 && !(isAwaited && size === 0)) return Buffer.concat(chunks);
    if (bytes === undefined || bytes === 0) {
      await pause(pollMs, undefined, { signal });
      continue;
    }
    size += bytes;
    if (size > maxBytes) throw new TooLargeError();
    chunks.push(chunk.subarray(0, bytes));
  }
}

/** Undefined: no data yet. */
async function readSome(file: FileHandle, into: Buffer, facts: Stats): Promise<number | undefined> {
  try {
    return (await file.read(into, 0, into.length)).bytesRead;
  } catch (error) {
    if (facts.isFIFO() && (error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}
