// Sends a standard Response as an answer of Node, of either HTTP version.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";

export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Headers of one hop of HTTP/1.1, which end a connection of HTTP/2. */
const hopHeaders = ["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"];

export interface SendOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** The connection ends with this answer. */
  readonly isLast: boolean;
}

/** Resolves when it was sent, or nobody reads it any more. */
export async function sendResponse(
  response: Response,
  to: NodeResponse,
  { headers, isLast }: SendOptions,
): Promise<void> {
  if (to.destroyed || to.writableEnded) return cancel(response);
  const http2 = "stream" in to ? to.stream : undefined;
  const all = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  for (const name of hopHeaders) all.delete(name);
  all.set("X-Content-Type-Options", "nosniff");
  if (isLast && http2 === undefined) all.set("Connection", "close");
  const cookies = all.getSetCookie();
  all.delete("set-cookie");
  to.statusCode = response.status;
  for (const [name, value] of all) to.setHeader(name, value);
  if (cookies.length > 0) to.setHeader("set-cookie", cookies);
  if (response.body === null) to.end();
  else if (all.get("content-type") !== "text/event-stream") to.end(await response.bytes());
  else {
    // the head of an event stream comes before its first event
    // as: both have it, and the types of one omit it
    (to as ServerResponse).flushHeaders();
    await pump(response.body, to);
  }
  if (isLast) http2?.session?.close();
}

async function pump(body: ReadableStream<Uint8Array>, to: NodeResponse): Promise<void> {
  const reader = body.getReader();
  const gone = new AbortController();
  const leave = () => {
    gone.abort();
    // it may have failed already
    reader.cancel().catch(() => undefined);
  };
  to.once("close", leave);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || to.destroyed) break;
      // both answers of Node can do this, each in its own words
      const hasRoom = (to as ServerResponse).write(value);
      if (!hasRoom && !to.destroyed) await once(to, "drain", { signal: gone.signal });
      // the other connections have their turn, even if what was written left at once
      await nextTurn();
    }
    to.end();
  } catch {
    // the body failed, or the client has gone: what was sent is not all
    to.destroy();
  } finally {
    to.off("close", leave);
  }
}

function cancel({ body }: Response): void {
  body?.cancel().catch(() => undefined);
}
