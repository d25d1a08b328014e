// Sends requests to authorisation servers. The words of their refusals are not passed on, since they may quote a secret.

import type { FetchLike } from "@modelcontextprotocol/client";
import { isObject } from "@parley/acp/jsonrpc";
import { boundedBody } from "@parley/acp/transport";
import { HostError } from "../network/public-addresses.ts";

/** A refusal of an authorisation server. */
export class OAuthRefusal extends Error {
  /** Such as `invalid_grant`. */
  readonly code: string | undefined;

  constructor(url: URL, status: number, code: string | undefined) {
    super(`${url.host} answered ${status}${code === undefined ? "" : ` (${code})`}`);
    this.name = "OAuthRefusal";
    this.code = code;
  }
}

const timeoutMs = 30_000;
/** Metadata and tokens are small. */
const maxBytes = 1024 * 1024;

export interface OAuthFetch {
  readonly fetch: FetchLike;
  /** The first host that could not be used. The MCP client goes on without it, and fails with less helpful words. */
  readonly refusedHost: HostError | undefined;
}

export function oauthFetch(send: FetchLike): OAuthFetch {
  let refusedHost: HostError | undefined;
  return {
    get refusedHost() {
      return refusedHost;
    },
    async fetch(input, init = {}) {
      const url = new URL(input);
      try {
        const response = await whole(await send(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }));
        if (init.method !== "POST" || response.status < 400) return response;
        throw new OAuthRefusal(url, response.status, await codeOf(response));
      } catch (error) {
        if (error instanceof HostError) refusedHost ??= error;
        throw error instanceof HostError || error instanceof OAuthRefusal ? error : unreachable(url, error);
      }
    },
  };
}

/** The answer, read to its end. Rejects for one that is too long. */
async function whole(response: Response): Promise<Response> {
  const { bytes, isCut } = await boundedBody(response.body, maxBytes);
  if (isCut) throw new Error("its answer is too long");
  const { status, headers } = response;
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
}

/** "fetch failed" does not say where. */
function unreachable(url: URL, error: unknown): Error {
  const { name, message, code, cause } = error as NodeJS.ErrnoException; // what a request throws
  const { code: inner } = (cause ?? {}) as NodeJS.ErrnoException; // of the network
  const why = name === "TimeoutError" ? "no answer in time" : (code ?? inner ?? message);
  return new Error(`${url.host} cannot be reached: ${why}`);
}

async function codeOf(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json().catch(() => undefined);
  const code = isObject(body) ? body["error"] : undefined;
  return typeof code === "string" && /^\w{1,60}$/.test(code) ? code : undefined;
}
