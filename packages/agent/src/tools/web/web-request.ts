// Sends a GET request of the fetch tool, and reads and decompresses the answer.

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { sendTo } from "../../network/pinned-request.ts";
import { checkedAddresses, HostError } from "../../network/public-addresses.ts";
import { ToolError, type WebAccess } from "../base/tool.ts";

const maxBodyBytes = 5 * 1024 * 1024;
const timeoutMs = 30_000;
const headers = {
  accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
  "accept-encoding": "gzip, deflate, br",
  "user-agent": "parley",
};

export interface WebAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly location: string | undefined;
  readonly body: Buffer;
  /** Whether the body was longer than the limit. */
  readonly isCut: boolean;
}

export async function requestPage(
  url: URL,
  web: WebAccess | undefined,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const addresses = await checkedAddresses(url, web ?? { privateHosts: [] }).catch((error: unknown) => {
    throw error instanceof HostError ? new ToolError(error.message, { cause: error }) : error;
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  try {
    const message = await sendTo(url, addresses, { headers, signal: either });
    const { body, isCut } = await bodyOf(message);
    return {
      status: message.statusCode ?? 0,
      contentType: message.headers["content-type"] ?? "",
      location: message.headers.location,
      body,
      isCut,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted)
      throw new ToolError(`${url.host} did not answer within ${timeoutMs / 1_000} s; try again later`);
    if (error instanceof ToolError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(`${url.href} could not be fetched: ${why}`, { cause: error });
  }
}

async function bodyOf(message: IncomingMessage): Promise<{ readonly body: Buffer; readonly isCut: boolean }> {
  const decoded = decodedBody(message);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of decoded) {
      chunks.push(chunk as Buffer); // both streams yield buffers
      bytes += (chunk as Buffer).length;
      if (bytes > maxBodyBytes) break;
    }
  } finally {
    message.destroy();
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBodyBytes), isCut: bytes > maxBodyBytes };
}

function decodedBody(message: IncomingMessage): Readable {
  const encoding = message.headers["content-encoding"] ?? "identity";
  if (encoding === "identity" || encoding === "") return message;
  const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress as () => ReturnType<typeof createGunzip>, // same interface
  };
  const decoder = decoders[encoding]?.();
  if (decoder === undefined)
    throw new ToolError(`the answer is encoded as ${encoding}, which cannot be read`);
  message.once("error", (error) => decoder.destroy(error));
  return message.pipe(decoder);
}
