// The bytes of an open file, at most so many, and the version that names them.

import { read, readSync } from "node:fs";
import { promisify } from "node:util";
import { fileError, quoted, throwIfAborted } from "./file-error.ts";

const readAsync = promisify(read);

/** Below this, one synchronous read is several times faster than a trip to the thread pool. */
const smallBytes = 256 * 1024;
const chunkBytes = 1024 * 1024;

export interface ContentOptions {
  readonly maxBytes: number;
  /** As the caller wrote it. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** From the start to the end of the file, wherever the end is by then. Does not close the descriptor. */
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

/** The same without letting anything else run. For small files, and for a last look before a file is replaced. */
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

/** The same bytes have the same version. */
export function versionOf(bytes: Uint8Array): string {
  // Loaded by the first file: 6 ms that most agents never pay.
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256-${hash("sha256", bytes, "base64url")}`;
}

/** Grows while the file does, and in files of /proc, which say that they are empty. */
class Content {
  readonly #options: ContentOptions;
  #buffer: Buffer;
  #length = 0;

  constructor(size: bigint, options: ContentOptions) {
    this.#options = options;
    // One more, so that the end is seen without growing.
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
  const message = `${quoted(path)} has ${size} bytes, at most ${maxBytes} are read`;
  return fileError("limit_exceeded", `${message}; look at a part of it with a command`, path);
}
