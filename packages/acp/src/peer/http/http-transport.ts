// httpTransport(): connects to an agent by ACP's Streamable HTTP. Checks its arguments; the rest is loaded when used.

import { milliseconds } from "../../base/deadline.ts";
import { checkOptions } from "../../base/known-options.ts";
import { httpTransportKeys } from "../../base/option-keys.gen.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { HttpTransportOptions } from "../../transport/http/http-options.ts";
import { lateTransport } from "../../transport/late-transport.ts";
import { plainTextProblem } from "../../transport/unencrypted-address.ts";

/**
 * Connects to an agent by ACP's Streamable HTTP, in every JavaScript runtime. Nothing is sent before the first message.
 *
 * @param address The address of the agent: `https:`, or `http:` on this machine.
 * @param options Headers, time limits and sizes.
 * @returns A transport for one connection.
 * @throws {TypeError} When the address or a header cannot be used, when an option is unknown, or when the address is `http:` on another machine
 *   and `allowPlainText` is not set.
 * @example
 * import { client, httpTransport } from "@parley/acp";
 *
 * const app = client({ name: "my-client", version: "1.0.0" });
 * const transport = httpTransport("https://agents.example.com/acp", { headers: { authorization: "Bearer secret" } });
 * await using connection = await app.connect(transport);
 * const session = await connection.newSession({ cwd: "/home/user/project" });
 * const { stopReason } = await session.prompt("Hello");
 * console.log(stopReason);
 */
export function httpTransport(address: string | URL, options: HttpTransportOptions = {}): Transport {
  checkOptions("httpTransport", options, httpTransportKeys);
  const url = checkedAddress(address, options.allowPlainText ?? false);
  checkHeaders(options.headers ?? {});
  for (const name of [
    "requestTimeoutMs",
    "openTimeoutMs",
    "closeTimeoutMs",
    "silenceMs",
    "heartbeatMs",
    "backoffMs",
  ] as const) {
    milliseconds(name, options[name] ?? 0);
  }
  if (options.plainPost) {
    return lateTransport(async () => {
      const [{ PlainPostTransport }, { plainRouting }] = await Promise.all([
        import("../../transport/http/plain-post.ts"),
        import("./session-routing.ts"),
      ]);
      return new PlainPostTransport(url, plainRouting, options);
    }, options.limits);
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
