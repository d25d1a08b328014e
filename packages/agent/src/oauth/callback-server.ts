// Waits on this machine for the page that a login leads the browser to.

import { createServer, type ServerResponse } from "node:http";
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
  /** Takes the address that a browser on another machine was led to. False if it is not of this login. */
  take(address: string): boolean;
  close(): void;
}

/** Listens on 127.0.0.1 alone. Only a request with this `state` counts: others may be of any page. Port 0 is a free one. */
export async function listenForCallback(state: string, port = 0): Promise<CallbackServer> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<CallbackAnswer>();
  // a login that nobody waits for any more
  answer.catch(() => undefined);
  const settle = (read: Callback) => {
    if ("refusal" in read) reject(new Error(`the login was refused: ${read.refusal}`));
    else resolve(read);
  };
  const server = createServer(({ method, url = "" }, response) => {
    const read = method === "GET" ? readCallback(url, state) : undefined;
    if (read === undefined) return page(response, 404, "There is nothing here.");
    const text = "Parley has got the answer. You can close this page and go back to it.";
    // whoever waits for it closes the server
    page(response, 200, text, () => settle(read));
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, // as: it listens on a port
    answer,
    take(address) {
      const read = readCallback(address, state);
      if (read !== undefined) settle(read);
      return read !== undefined;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Callback = CallbackAnswer | { readonly refusal: string };

function readCallback(address: string, state: string): Callback | undefined {
  const parsed = URL.parse(address, "http://127.0.0.1");
  if (parsed?.pathname !== "/callback") return undefined;
  const { searchParams: given } = parsed;
  if (given.get("state") !== state) return undefined;
  const code = given.get("code");
  if (code !== null && code !== "") return { code, iss: given.get("iss") ?? undefined };
  return { refusal: oneLine(given.get("error") ?? "the answer has no code") };
}

function page(response: ServerResponse, status: number, text: string, sent?: () => void): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  if (sent !== undefined) response.once("close", sent);
  response.end(`${text}\n`);
}
