// The cookies of one address for the life of one connection (H15): they steer load balancers. Node's fetch keeps
// none; a browser keeps its own and shows them to nobody, so that this stays empty there.

import { isLoopback } from "../plain-text.ts";

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

  /** Takes what a response sets. */
  keep(headers: Headers): void {
    for (const line of headers.getSetCookie?.() ?? []) this.#keepOne(line);
  }

  /** What to send, joined to what the user sends anyway. */
  header(given: string | null): string | undefined {
    const now = Date.now();
    const pairs = given === null ? [] : [given];
    for (const [name, { value, expires }] of this.#cookies) {
      if (expires > now) pairs.push(`${name}=${value}`);
      else this.#cookies.delete(name);
    }
    return pairs.length === 0 ? undefined : pairs.join("; ");
  }

  /** For whoever must not show them. */
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

  /** One address is all that is ever asked, so a cookie for another one is none. */
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
