// Reads a body up to a limit.

/** The part of a body that was read. */
export interface BoundedBody {
  /** The bytes that were read, from the beginning. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the body is longer than the limit. The rest was not read. */
  readonly isCut: boolean;
}

/**
 * Reads the body of a request or of a response up to a limit. The memory it takes depends on the number of bytes, not on the number
 * of chunks. The rest of a longer body is cancelled.
 *
 * @param body A stream, or anything that yields bytes. Null and undefined count as an empty body.
 * @example
 * import { boundedBody } from "@parley/acp/transport";
 *
 * export async function textAt(url: string): Promise<string> {
 *   const { bytes, isCut } = await boundedBody((await fetch(url)).body, 1_000_000);
 *   if (isCut) throw new Error(`${url} has more than 1,000,000 bytes`);
 *   return new TextDecoder().decode(bytes);
 * }
 */
export async function boundedBody(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null | undefined,
  maxBytes: number,
): Promise<BoundedBody> {
  let bytes = new Uint8Array();
  let size = 0;
  for await (const chunk of chunksOf(body)) {
    const end = Math.min(maxBytes, size + chunk.byteLength);
    if (end > bytes.length) {
      const larger = new Uint8Array(Math.max(end, Math.min(2 * size, maxBytes)));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(chunk.subarray(0, end - size), size);
    const isCut = size + chunk.byteLength > maxBytes;
    size = end;
    if (isCut) return { bytes: bytes.subarray(0, size), isCut };
  }
  return { bytes: bytes.subarray(0, size), isCut: false };
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: Parameters<typeof boundedBody>[0]): AsyncGenerator<Uint8Array, void> {
  if (body == null) return;
  if (!("getReader" in body)) return yield* body;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    void reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}
