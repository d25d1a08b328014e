// The door to agents behind an address: ACP's Streamable HTTP, on the fetch of a browser or of Node.

import type { Transport } from "../jsonrpc/transport.ts";
import { type HttpClientOptions, HttpClientTransport } from "../transport/http-client.ts";
import { plainTextProblem } from "../transport/plain-text.ts";
import { SessionRouting } from "./session-routing.ts";

export interface HttpTransportOptions extends HttpClientOptions {
  /** Lets `http:` go to other machines too, where anybody on the way can read the headers. Default false. */
  readonly allowPlainText?: boolean;
}

/** Throws TypeError for an address that cannot be used. Nothing is sent before the first message. */
export function httpTransport(address: string | URL, options: HttpTransportOptions = {}): Transport {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new TypeError("httpTransport: the address cannot be used; http:// or https:// is wanted");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      "httpTransport: the address has a user or a password in it; put them into headers, as Authorization",
    );
  }
  const problem = plainTextProblem(url);
  if (problem !== undefined && !options.allowPlainText) {
    throw new TypeError(`httpTransport: ${problem}, or allowPlainText`);
  }
  url.hash = "";
  return new HttpClientTransport(url, new SessionRouting(), options);
}
