// Sends HTTP requests to one address, with the user's headers and the server's cookies.

import { boundedBody } from "../../base/bounded-body.ts";
import { type Deadline, deadline } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import { isLoopback } from "../unencrypted-address.ts";
import {
  HttpFailure,
  networkWords,
  pageHint,
  plainLine,
  retryAfter,
  serverWords,
  statusHint,
} from "./http-failure.ts";
import type { HttpClientOptions } from "./http-options.ts";

export interface Call {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The expected answer, for error messages. */
  readonly wanted: string;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** An answered call. Call `release` when its body has been read or is not needed. */
export interface Answer {
  readonly response: Response;
  release(): void;
}

const maxErrorBytes = 8 * 1024;
/** How long to wait for the body of an error. */
const errorBodyMs = 5_000;

export class HttpEndpoint {
  /** The address for messages, without its query, which may hold a secret. */
  readonly shown: string;
  readonly #url: string;
  readonly #headers: Headers;
  readonly #fetch: NonNullable<HttpClientOptions["fetch"]>;
  readonly #jar: CookieJar;
  readonly #cookies: boolean;
  /** Ends each running call. */
  readonly #running = new Set<() => void>();

  constructor(address: URL, options: HttpClientOptions) {
    this.#url = address.href;
    this.shown = `${address.origin}${address.pathname}`;
    this.#headers = new Headers(options.headers);
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#cookies = options.cookies ?? true;
    this.#jar = new CookieJar(address);
  }

  /** Throws HttpFailure for a redirect, or without an answer in time. Every other status is an answer. The timeout includes the body. */
  async call(
    { method, headers, body, wanted, signal }: Call,
    timeoutMs: number = Number.POSITIVE_INFINITY,
  ): Promise<Answer> {
    const controller = new AbortController();
    let timer: Deadline;
    const end = (reason?: unknown) => {
      clearTimeout(timer);
      this.#running.delete(release);
      signal?.removeEventListener("abort", give);
      controller.abort(reason);
    };
    const release = () => end();
    const give = () => end(signal?.reason);
    this.#running.add(release);
    signal?.addEventListener("abort", give);
    let isLate = false;
    timer = deadline(timeoutMs, () => {
      isLate = true;
      end(timeoutReason());
    });
    try {
      const response = await this.#fetch(this.#url, {
        method,
        headers: this.#all(headers),
        ...optional({ body }),
        signal: controller.signal,
        // a redirect would send the headers to another address
        redirect: "manual",
        credentials: this.#cookies ? "include" : "omit",
        cache: "no-store",
      });
      if (this.#cookies) this.#jar.keep(response.headers);
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        throw this.#redirected(method, response, wanted);
      }
      return { response, release };
    } catch (error) {
      release();
      if (error instanceof HttpFailure) throw error;
      const words = isLate
        ? `expected ${wanted}, got no answer within ${timeoutMs / 1_000} s`
        : `${this.#withoutSecrets(networkWords(error))}${pageHint(error, new URL(this.#url))}`;
      throw new HttpFailure(`${method} ${this.shown}: ${words}`, { cause: error });
    }
  }

  /** Makes an error of an unexpected answer, with the server's own message. `read` is the body, if it has been read. */
  async failure(
    { method, wanted }: Pick<Call, "method" | "wanted">,
    { response, release }: Answer,
    read?: string,
  ): Promise<HttpFailure> {
    const { status, statusText, headers } = response;
    const type = headers.get("content-type") ?? "";
    const timer = deadline(errorBodyMs, release);
    const body = read ?? (await readText(response, maxErrorBytes).catch(() => ""));
    clearTimeout(timer);
    release();
    const said = (text: string) => this.#withoutSecrets(plainLine(text));
    const what = response.ok
      ? `${status} with ${type === "" ? "no content type" : `content of type ${said(type)}`}`
      : `${status} ${said(statusText)}`.trim();
    const spoken = said(serverWords(body, type));
    const words = spoken === "" ? statusHint(status) : ` (the server says: ${spoken})`;
    const message = `${method} ${this.shown}: expected ${wanted}, got ${what}${words}`;
    return new HttpFailure(message, { status, retryAfterMs: retryAfter(headers) });
  }

  /** Ends all running calls. */
  abort(): void {
    for (const release of this.#running) release();
  }

  #all(headers: Readonly<Record<string, string>>): Headers {
    const all = new Headers(this.#headers);
    const cookie = this.#jar.header(all.get("cookie"));
    if (cookie !== undefined) all.set("cookie", cookie);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return all;
  }

  #redirected(method: string, { status, headers }: Response, wanted: string): HttpFailure {
    const location = headers.get("location") ?? "";
    const target = URL.canParse(location, this.#url) ? new URL(location, this.#url) : undefined;
    const where = target === undefined ? "" : ` to ${target.origin}${target.pathname}`;
    const what = status === 0 ? "a redirect" : `${status}, a redirect`;
    const message = `${method} ${this.shown}: expected ${wanted}, got ${what}${where}; redirects are not followed, to keep the headers secret`;
    return new HttpFailure(this.#withoutSecrets(message), { status });
  }

  /** Removes header and cookie values, which servers may repeat in errors. */
  #withoutSecrets(text: string): string {
    const secrets = [...this.#headers.values(), ...this.#jar.values()]
      // the scheme of "Bearer abc" is not secret
      .flatMap((value) => [value, ...value.split(/[\s;,=]+/)])
      .filter((value) => value.length >= 4 && !/^(?:bearer|basic|digest|negotiate)$/i.test(value))
      .sort((a, b) => b.length - a.length);
    return secrets.reduce((safe, secret) => safe.replaceAll(secret, "…"), text);
  }
}

/** Tells a fetch that the peer was silent: the socket may be dead, and the next request should not use it. */
export function timeoutReason(): DOMException {
  return new DOMException("no answer in time", "TimeoutError");
}

/** Reads at most `maxBytes` of a body as text. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const { bytes, isCut } = await boundedBody(response.body, maxBytes);
  // `stream` leaves out a character that the limit has cut
  return new TextDecoder().decode(bytes, { stream: isCut });
}

const maxCookies = 64;
const maxCookieChars = 4_096;

interface Cookie {
  readonly value: string;
  readonly expires: number;
}

/** Keeps the cookies of one address, for load balancers, because Node's fetch keeps none. */
class CookieJar {
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
