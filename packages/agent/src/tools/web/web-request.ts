// Sends a GET request to a public address that was checked, so that DNS cannot point it elsewhere afterwards.

import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ToolError, type WebAccess } from "../base/tool.ts";

const maxBodyBytes = 5 * 1024 * 1024;
const timeoutMs = 30_000;

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
  const addresses = await checkedAddresses(url, web);
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  try {
    const message = await respond(url, addresses, either);
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

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

async function checkedAddresses(url: URL, web: WebAccess | undefined): Promise<readonly Address[]> {
  const literal = addressIn(url.hostname);
  const addresses =
    literal === undefined
      ? await (web?.addressesOf ?? systemAddresses)(url.hostname).catch((error: unknown) => {
          throw new ToolError(`there is no host ${url.hostname}; check the address`, { cause: error });
        })
      : [{ address: literal, family: literal.includes(":") ? (6 as const) : (4 as const) }];
  if (addresses.length === 0) throw new ToolError(`there is no host ${url.hostname}; check the address`);
  const allowed = web?.privateHosts ?? [];
  if (allowed.includes("*") || allowed.includes(url.host) || allowed.includes(url.hostname)) return addresses;
  // one private address is enough to refuse, since any of them may be used
  if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
  throw new ToolError(
    `${url.host} is an address of this machine or of a private network, which fetch may not use unless the user's settings allow that host`,
  );
}

async function systemAddresses(name: string): Promise<Address[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function respond(url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      signal,
      // its own connection, without a proxy from the environment
      agent: false,
      headers: {
        accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
        "accept-encoding": "gzip, deflate, br",
        "user-agent": "parley",
      },
      lookup: (_, options, done) => {
        const [first] = addresses;
        if (options.all === true) done(null, [...addresses]);
        else done(null, first?.address ?? "", first?.family);
      },
    });
    request.once("response", resolve);
    request.once("error", reject);
    request.end();
  });
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

const privateNetworks = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
];

const notPublic = blockList(privateNetworks.join(" "));
const publicV6 = blockList("2000::/3");

function blockList(networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(" ")) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** `address` is a resolved IP address. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  if (family !== 6) return false;
  return publicV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/** The IP address in a URL's host; `[::1]` is ::1. */
function addressIn(host: string): string | undefined {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}
