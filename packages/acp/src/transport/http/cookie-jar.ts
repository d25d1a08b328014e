// Keeps the cookies of one address for one connection, for load balancers, because Node's fetch keeps none.

import { isLoopback } from "../unencrypted-address.ts";

const maxCookies = 64;
const maxCookieChars = 4_096;

interface Cookie {
  readonly value: string;
  readonly expires: number;
}

export class CookieJar {
  readonly #url: URL;
  readonly #cookies = new Map<string, Cookie>();

  constructor(url: URL) {
    this.#url = url;
  }

  /** Stores the cookies that a response sets. */
  keep(headers: Headers): void {
    for (const line of headers.getSetCookie?.() ?? []) this.#keepOne(line);
  }

  /** The Cookie header to send, appended to the user's own. */
  header(given: string | null): string | undefined {
    const now = Date.now();
    const pairs = given === null ? [] : [given];
    for (const [name, { value, expires }] of this.#cookies) {
      if (expires > now) pairs.push(`${name}=${value}`);
      else this.#cookies.delete(name);
    }
    return pairs.length === 0 ? undefined : pairs.join("; ");
  }

  /** All values, to be removed from error messages. */
  values(): readonly string[] {
    return [...this.#cookies.values()].map(({ value }) => value);
  }

  #keepOne(line: string): void {
    const [pair = "", ...rest] = line.split(";");
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals).trim();
    if (equals < 1 || name === "" || pair.length > maxCookieChars) return;
    const attributes = new Map(
      rest.map((attribute): [string, string] => {
        const [key = "", ...value] = attribute.split("=");
        return [key.trim().toLowerCase(), value.join("=").trim()];
      }),
    );
    if (!this.#concerns(attributes)) return;
    const expires = expiry(attributes);
    this.#cookies.delete(name);
    if (expires <= Date.now() || this.#cookies.size >= maxCookies) return;
    this.#cookies.set(name, { value: pair.slice(equals + 1).trim(), expires });
  }

  /** Whether the cookie is for this address. */
  #concerns(attributes: ReadonlyMap<string, string>): boolean {
    const { hostname, pathname, protocol } = this.#url;
    const domain = attributes.get("domain")?.replace(/^\./, "").toLowerCase() ?? "";
    if (domain !== "" && hostname !== domain && !hostname.endsWith(`.${domain}`)) return false;
    if (attributes.has("secure") && protocol !== "https:" && !isLoopback(this.#url)) return false;
    const path = attributes.get("path") ?? "";
    if (!path.startsWith("/") || path === pathname) return true;
    return pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
  }
}

function expiry(attributes: ReadonlyMap<string, string>): number {
  const seconds = attributes.get("max-age");
  if (seconds !== undefined && /^-?\d+$/.test(seconds)) return Date.now() + Number(seconds) * 1_000;
  const date = Date.parse(attributes.get("expires") ?? "");
  return Number.isNaN(date) ? Number.POSITIVE_INFINITY : date;
}
