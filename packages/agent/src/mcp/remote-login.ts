// The login of a server at an address, within the limits of its requests. Loaded only for such servers.

import { checkedFetch } from "../network/pinned-request.ts";
import { checkedAddresses } from "../network/public-addresses.ts";
import { type BrowserLogin, beginLogin } from "../oauth/browser-login.ts";
import type { LoginFiles } from "../oauth/login-files.ts";
import { ServerLogin } from "../oauth/server-login.ts";
import { accessOf, type RemoteEntry } from "./server-entry.ts";

/** Undefined for a server whose headers have its credentials. */
export function loginOf(
  entry: RemoteEntry,
  files: LoginFiles,
  privateHosts: readonly string[],
): ServerLogin | undefined {
  const { url, headers, secrets, oauth } = entry;
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return new ServerLogin({
    url,
    files,
    fetch: checkedFetch(accessOf(entry, privateHosts)),
    hide: (values) => secrets.add(values),
    ...(oauth && { client: oauth }),
  });
}

/** Rejects with an Error for the user, as `finish` of the result does. */
export async function browserLogin(
  entry: RemoteEntry,
  login: ServerLogin,
  privateHosts: readonly string[],
): Promise<BrowserLogin> {
  const access = accessOf(entry, privateHosts);
  const failure = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    return new Error(entry.secrets.scrub(`The login to the MCP server ${entry.name} failed: ${why}.`));
  };
  const begun = await beginLogin(login, async (page) => {
    if (page.origin !== access.ownOrigin) await checkedAddresses(page, access);
  }).catch((error: unknown) => {
    throw failure(error);
  });
  return {
    ...begun,
    finish: (signal) =>
      begun.finish(signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw failure(error);
      }),
  };
}
