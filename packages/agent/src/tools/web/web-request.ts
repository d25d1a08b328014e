// Sends a GET request of the fetch tool, and reads and decompresses the answer.

import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { boundedBody } from "@parley/acp/transport";
import { sendTo } from "../../network/pinned-request.ts";
import { getThrough, proxyFor } from "../../network/proxy.ts";
import { checkedAddresses, HostError, isNamed, type NetworkAccess } from "../../network/public-addresses.ts";
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

/** An answer as it comes, from either client. */
interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

export async function requestPage(
  url: URL,
  web: WebAccess | undefined,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const send = await checkedRoute(url, web ?? { privateHosts: [] }).catch((error: unknown) => {
    throw error instanceof HostError ? new ToolError(error.message, { cause: error }) : error;
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await send(AbortSignal.any([signal, timeout]));
    const { bytes, isCut } = await boundedBody(decodedBody(answer), maxBodyBytes).finally(() =>
      answer.body.destroy(),
    );
    return {
      status: answer.statusCode,
      contentType: answer.headers["content-type"] ?? "",
      location: answer.headers.location,
      body: Buffer.from(bytes.buffer, 0, bytes.length),
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

/** How to ask the host, if that is allowed: at an address that was checked, or through the proxy. */
async function checkedRoute(
  url: URL,
  access: NetworkAccess,
): Promise<(signal: AbortSignal) => Promise<Answer>> {
  const proxy = (access.proxyOf ?? ((each: URL) => proxyFor(each, process.env)))(url);
  if (proxy !== undefined) {
    await checkForProxy(url, access);
    return (signal) => getThrough(proxy, url, { headers, signal });
  }
  const addresses = await checkedAddresses(url, access);
  return async (signal) => {
    const message = await sendTo(url, addresses, { headers, signal });
    return { statusCode: message.statusCode ?? 0, headers: message.headers, body: message };
  };
}

/**
 * A proxy resolves names by itself, maybe to another address than the one that is checked here. With https the certificate
 * must still be that of the name; with http nothing would tell a page of the private network from the one that was asked for.
 */
async function checkForProxy(url: URL, access: NetworkAccess): Promise<void> {
  if (isNamed(url, access)) return;
  const hint = `or add ${url.host} to agent.privateHosts in the config`;
  if (url.protocol === "http:")
    throw new ToolError(`http pages are not fetched through a proxy; use https, ${hint}`);
  await checkedAddresses(url, access).catch((error: unknown) => {
    if (!(error instanceof HostError) || error.isPrivate) throw error;
    const why = `${url.hostname} has no address on this machine, so it cannot be checked before the proxy is asked`;
    throw new ToolError(`${why}; check the address, ${hint}`, { cause: error });
  });
}

function decodedBody({ headers: { "content-encoding": encoding = "identity" }, body }: Answer): Readable {
  if (encoding === "identity" || encoding === "") return body;
  const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress as () => ReturnType<typeof createGunzip>, // same interface
  };
  const decoder = decoders[encoding]?.();
  if (decoder === undefined)
    throw new ToolError(`the answer is encoded as ${encoding}, which cannot be read`);
  body.once("error", (error) => decoder.destroy(error));
  return body.pipe(decoder);
}
