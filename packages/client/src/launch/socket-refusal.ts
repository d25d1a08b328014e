// Finds out why a server refused a WebSocket, which Node does not tell.

import { randomBytes } from "node:crypto";
import { request as httpRequest, STATUS_CODES } from "node:http";
import { request as httpsRequest } from "node:https";

export interface SocketRefusal {
  /** Without the headers, and without the body, which may repeat them. */
  readonly message: string;
  readonly status: number | undefined;
}

const patienceMs = 5_000;

/** Undefined when there is nothing to say: the socket would be opened now, or nothing answers in time. */
export function socketRefusal(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<SocketRefusal | undefined> {
  const isSecure = url.protocol === "wss:" || url.protocol === "https:";
  const address = new URL(url);
  address.protocol = isSecure ? "https:" : "http:";
  const where = `GET ${url.origin}${url.pathname}`;
  return new Promise((resolve) => {
    const request = (isSecure ? httpsRequest : httpRequest)(address, {
      headers: {
        ...headers,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Version": "13",
      },
      timeout: patienceMs,
    });
    const done = (refusal?: SocketRefusal) => {
      resolve(refusal);
      request.destroy();
    };
    request.on("response", ({ statusCode: status = 0 }) => {
      const got = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
      done({ message: `${where}: got ${got}, wanted 101`, status });
    });
    request.on("upgrade", () => done());
    request.on("timeout", () => done());
    request.on("error", (error: NodeJS.ErrnoException) => {
      done({ message: `${where}: ${error.message || String(error.code)}`, status: undefined });
    });
    request.end();
  });
}
