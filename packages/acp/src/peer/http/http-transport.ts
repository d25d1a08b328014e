// httpTransport(): connects to an agent by ACP's Streamable HTTP. Checks its arguments; the rest is loaded when used.

import { milliseconds } from "../../base/deadline.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { HttpTransportOptions } from "../../transport/http/http-options.ts";
import { lateTransport } from "../../transport/late-transport.ts";
import { plainTextProblem } from "../../transport/unencrypted-address.ts";

/**
 * Connects to an agent by ACP's Streamable HTTP. Nothing is sent before the first message. Throws a TypeError for an address
 * or headers that cannot be used.
 *
 * @example
 * import { client, httpTransport } from "@parley/acp";
 *
 * const transport = httpTransport("https://agents.example.com/acp", { headers: { authorization: "Bearer …" } });
 * const connection = await client({ name: "my-client", version: "1.0.0" }).connect(transport);
 */
export function httpTransport(address: string | URL, options: HttpTransportOptions = {}): Transport {
  const url = checkedAddress(address, options.allowPlainText ?? false);
  checkHeaders(options.headers ?? {});
  for (const name of ["requestTimeoutMs", "openTimeoutMs", "closeTimeoutMs", "backoffMs"] as const) {
    milliseconds(name, options[name] ?? 0);
  }
  return lateTransport(async () => {
    const [{ HttpClientTransport }, { SessionRouting }] = await Promise.all([
      import("../../transport/http/http-client.ts"),
      import("./session-routing.ts"),
    ]);
    return new HttpClientTransport(url, new SessionRouting(), options);
  }, options.limits);
}

function checkedAddress(address: string | URL, allowPlainText: boolean): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new TypeError("invalid address; use http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("the address has a user or a password in it; headers are the place for them");
  }
  const problem = allowPlainText ? undefined : plainTextProblem(url);
  if (problem !== undefined) throw new TypeError(`${problem} (allowPlainText lets it pass)`);
  url.hash = "";
  return url;
}

/** The standard's own errors quote the value, which is a secret. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers().set(name, value);
    } catch {
      const shown = JSON.stringify(name.slice(0, 80));
      throw new TypeError(
        `the header ${shown} cannot be sent; names may have letters, digits and dashes, and values must be on one line`,
      );
    }
  }
}
