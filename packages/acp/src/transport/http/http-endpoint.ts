// One address of a server: every request to it has the user's headers and the server's cookies, goes nowhere
// else, ends in time, and fails with a sentence that holds none of them.

import { type Deadline, deadline } from "../../base/deadline.ts";
import { CookieJar } from "./cookie-jar.ts";
import { HttpFailure, networkWords, plainLine, retryAfter, serverWords } from "./http-failure.ts";

/** The part of the standard `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface EndpointOptions {
  /** Sent with every request, and never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: Fetch;
  /** Whether cookies are kept and sent back. Default true. */
  readonly cookies?: boolean;
}

export interface Call {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Which answer is hoped for, in words. */
  readonly wanted: string;
  /** Aborts when the answer is not wanted any more. */
  readonly signal?: AbortSignal;
}

/** A call that was answered. `release` when its body has been read, or is not wanted. */
export interface Answer {
  readonly response: Response;
  release(): void;
}

const maxErrorBytes = 8 * 1024;
/** What a server says beside its refusal is worth no more. */
const errorBodyMs = 5_000;

export class HttpEndpoint {
  /** The address as it may be shown: without what may be a secret. */
  readonly shown: string;
  readonly #url: string;
  readonly #headers: Headers;
  readonly #fetch: Fetch;
  readonly #jar: CookieJar;
  readonly #cookies: boolean;
  /** What ends each call that runs. */
  readonly #running = new Set<() => void>();

  constructor(address: URL, options: EndpointOptions) {
    this.#url = address.href;
    this.shown = `${address.origin}${address.pathname}`;
    this.#headers = new Headers(options.headers);
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#cookies = options.cookies ?? true;
    this.#jar = new CookieJar(address);
  }

  /** Throws HttpFailure when there is no answer in time, or one that leads elsewhere. Any status is an answer. The time is also that of the body. */
  async call(
    { method, headers, body, wanted, signal }: Call,
    timeoutMs: number = Number.POSITIVE_INFINITY,
  ): Promise<Answer> {
    const controller = new AbortController();
    let timer: Deadline;
    const release = () => {
      clearTimeout(timer);
      this.#running.delete(release);
      signal?.removeEventListener("abort", release);
      controller.abort();
    };
    this.#running.add(release);
    signal?.addEventListener("abort", release);
    let isLate = false;
    timer = deadline(timeoutMs, () => {
      isLate = true;
      release();
    });
    try {
      const response = await this.#fetch(this.#url, {
        method,
        headers: this.#all(headers),
        ...(body === undefined ? {} : { body }),
        signal: controller.signal,
        // a redirect would take the headers along, to wherever it leads
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
        ? `got no answer within ${timeoutMs / 1_000} s, wanted ${wanted}`
        : this.#withoutSecrets(networkWords(error));
      throw new HttpFailure(`${method} ${this.shown}: ${words}`, { cause: error });
    }
  }

  /** What an answer that was not hoped for means, with what the server says about it. `read` is its body, if that has been read. */
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
    const words = said(serverWords(body, type));
    const message = `${method} ${this.shown}: got ${what}, wanted ${wanted}${words === "" ? "" : ` (the server says: ${words})`}`;
    return new HttpFailure(message, { status, retryAfterMs: retryAfter(headers) });
  }

  /** Gives up all that runs. */
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
    const message = `${method} ${this.shown}: got ${what}${where}, wanted ${wanted}; redirects are not followed, since the headers are for this address alone`;
    return new HttpFailure(this.#withoutSecrets(message), { status });
  }

  /** Servers like to repeat what they did not like. */
  #withoutSecrets(text: string): string {
    const secrets = [...this.#headers.values(), ...this.#jar.values()]
      // "Bearer abc" is no secret before its second word
      .flatMap((value) => [value, ...value.split(/[\s;,=]+/)])
      .filter((value) => value.length >= 4 && !/^(?:bearer|basic|digest|negotiate)$/i.test(value))
      .sort((a, b) => b.length - a.length);
    return secrets.reduce((safe, secret) => safe.replaceAll(secret, "…"), text);
  }
}

/** The text of a body, up to a number of bytes. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  while (read < maxBytes) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, maxBytes - read), { stream: true });
    read += value.length;
  }
  void reader.cancel().catch(() => undefined);
  return text;
}
