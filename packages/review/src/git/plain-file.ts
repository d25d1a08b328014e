// Reads files that an agent can replace. A pipe or a device in the place of one does not hold the reader.

import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** A file as it was when it was opened. */
export interface PlainFile {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
}

/** Undefined when there is no plain file, or a larger one. */
export async function readPlainFile(
  path: string,
  {
    maxBytes = 65_536,
    followsLinks = true,
  }: { readonly maxBytes?: number; readonly followsLinks?: boolean } = {},
): Promise<PlainFile | undefined> {
  // without waiting for the other end of a pipe; the opened file is looked at, not one that may take its place
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const flags = O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW);
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxBytes) return undefined;
    return { bytes: await file.readFile(), mtimeMs: found.mtimeMs };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
