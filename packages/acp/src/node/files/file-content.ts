// Reads the bytes of an open file up to a limit, and computes their version.

import { read, readSync } from "node:fs";
import { promisify } from "node:util";
import { fileError, quoted, throwIfAborted } from "./file-error.ts";

const readAsync = promisify(read);

/** Up to this size a synchronous read is several times faster than the thread pool. */
const smallBytes = 256 * 1024;
const chunkBytes = 1024 * 1024;

export interface ContentOptions {
  readonly maxBytes: number;
  /** As the caller wrote it. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the whole file, even if it grows meanwhile. Does not close the descriptor. */
export async function readContent(fd: number, size: bigint, options: ContentOptions): Promise<Buffer> {
  throwIfAborted(options.signal, options.path);
  if (size > options.maxBytes) throw tooLarge(size, options);
  if (size <= smallBytes) return readContentSync(fd, size, options);
  const content = new Content(size, options);
  for (;;) {
    const { buffer, offset, length } = content.space();
    const { bytesRead } = await readAsync(fd, buffer, offset, Math.min(length, chunkBytes), offset);
    throwIfAborted(options.signal, options.path);
    if (bytesRead === 0) return content.bytes();
    content.filled(bytesRead);
  }
}

/** The same, synchronously: for small files, and for the last check before a file is replaced. */
export function readContentSync(fd: number, size: bigint, options: ContentOptions): Buffer {
  if (size > options.maxBytes) throw tooLarge(size, options);
  const content = new Content(size, options);
  for (;;) {
    const { buffer, offset, length } = content.space();
    const bytesRead = readSync(fd, buffer, offset, length, offset);
    if (bytesRead === 0) return content.bytes();
    content.filled(bytesRead);
  }
}

/** Equal bytes have equal versions. */
export function versionOf(bytes: Uint8Array): string {
  // loaded on first use: 6 ms
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256-${hash("sha256", bytes, "base64url")}`;
}

/** A buffer that grows with the file; files in /proc claim to be empty. */
class Content {
  readonly #options: ContentOptions;
  #buffer: Buffer;
  #length = 0;

  constructor(size: bigint, options: ContentOptions) {
    this.#options = options;
    // one more, so that the end is seen without growing
    this.#buffer = Buffer.allocUnsafe(Math.max(Number(size), 512) + 1);
  }

  space(): { buffer: Buffer; offset: number; length: number } {
    if (this.#length === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2);
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return { buffer: this.#buffer, offset: this.#length, length: this.#buffer.length - this.#length };
  }

  filled(bytes: number): void {
    this.#length += bytes;
    if (this.#length > this.#options.maxBytes) throw tooLarge(this.#length, this.#options);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function tooLarge(size: bigint | number, { maxBytes, path }: ContentOptions): Error {
  const message = `${quoted(path)} has ${size} bytes, over the limit of ${maxBytes}`;
  return fileError("limit_exceeded", `${message}; read a part of it with a command`, path);
}
