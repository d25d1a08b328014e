// Waits on this machine for the page that a login leads the browser to.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { oneLine } from "../text/safe-text.ts";

/** What the authorisation server gave the browser to bring along. */
export interface CallbackAnswer {
  readonly code: string;
  /** Who sent it, if the server says so. */
  readonly iss: string | undefined;
}

export interface CallbackServer {
  readonly url: string;
  /** Rejects when the login was refused. */
  readonly answer: Promise<CallbackAnswer>;
  close(): void;
}

/** Listens on 127.0.0.1 alone. Only a request with this `state` counts: others may be of any page. Port 0 is a free one. */
export async function listenForCallback(state: string, port = 0): Promise<CallbackServer> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<CallbackAnswer>();
  // a login that nobody waits for any more
  answer.catch(() => undefined);
  const server = createServer((request, response) => {
    const read = readCallback(request, state);
    if (read === undefined) return page(response, 404, "There is nothing here.");
    if ("refusal" in read) {
      page(response, 200, "The login was refused. You can close this page and go back to Parley.");
      return reject(new Error(`the login was refused: ${read.refusal}`));
    }
    page(response, 200, "Parley has got the answer. You can close this page and go back to it.");
    resolve(read);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  // it does not keep the process alive
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, // as: it listens on a port
    answer,
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function readCallback(
  { url = "", method }: IncomingMessage,
  state: string,
): CallbackAnswer | { readonly refusal: string } | undefined {
  const parsed = URL.parse(url, "http://127.0.0.1");
  if (method !== "GET" || parsed?.pathname !== "/callback") return undefined;
  const { searchParams: given } = parsed;
  if (given.get("state") !== state) return undefined;
  const code = given.get("code");
  if (code !== null && code !== "") return { code, iss: given.get("iss") ?? undefined };
  return { refusal: oneLine(given.get("error") ?? "the answer has no code") };
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${text}\n`);
}
