// The errors of HTTP requests, with messages that never contain what we sent, and when to retry.

import type { EndReason } from "../../jsonrpc/transport.ts";
import { isRefusal } from "../refusal.ts";

/** `status` is undefined without an answer. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly status: number | undefined;
  /** The pause that the server asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The same failure in other words. */
  saying(message: string): HttpFailure {
    return new HttpFailure(message, this);
  }
}

/** How a failure ends the connection. */
export function endOf(failure: HttpFailure): EndReason {
  const { status, message } = failure;
  // success with the wrong content: not a server of this protocol
  const isWrong = status !== undefined && status < 300;
  const kind = isRefusal(status) ? "refused" : isWrong ? "protocol" : "closed";
  return { kind, message, cause: failure };
}

/** Reads `Retry-After`, which is in seconds or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const maxWords = 200;

/** The server's message in the body of an error; HTML is ignored. */
export function serverWords(body: string, type: string): string {
  return /\bjson\b/.test(type) ? jsonWords(body) : /^text\/plain\b/.test(type) ? body : "";
}

/** What to do about a refusal without a sentence: our own servers always say one, and proxies in front of them do not. */
export function statusHint(status: number): string {
  if (status !== 413) return "";
  return "; a proxy in front may limit the size of a message (in nginx: client_max_body_size)";
}

/** What to do in a web page, which is never told why there was no answer. */
export function pageHint(error: unknown, server: URL): string {
  const { origin } = (globalThis as { location?: { origin?: unknown } }).location ?? {}; // only pages have one
  const { cause } = (error ?? {}) as { cause?: unknown }; // other runtimes give a cause
  if (typeof origin !== "string" || cause !== undefined || origin === server.origin) return "";
  return `; the usual cause in a web page: the server does not allow pages of ${origin} (parley serve --allow-origin ${origin})`;
}

/** Makes one short line of foreign text, without control characters. */
export function plainLine(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
  return line.length > maxWords ? `${line.slice(0, maxWords)}…` : line;
}

function jsonWords(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Record<string, unknown>; // every value is checked below
    const inner =
      typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error;
    return String([message, inner, detail].find((words) => typeof words === "string") ?? "");
  } catch {
    // not JSON, or truncated
    return "";
  }
}

/** Why there was no answer: fetch only says "fetch failed" and has the reason in its cause. */
export function networkWords(error: unknown): string {
  const { cause, message = "" } = (error ?? {}) as { cause?: unknown; message?: string };
  const inner = (cause ?? {}) as { message?: unknown; code?: unknown };
  const words = [inner.message, inner.code, message].find((each) => typeof each === "string" && each !== "");
  return typeof words === "string" ? words : "no answer";
}

const brokenCodes: readonly unknown[] = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

/** Whether a socket broke that was open. Only the fetch of Node says so. */
export function isBrokenSocket(error: unknown): boolean {
  const { cause } = error instanceof HttpFailure ? (error as { cause?: { cause?: unknown } }) : {};
  return brokenCodes.includes((cause?.cause as { code?: unknown } | undefined)?.code);
}

export function asFailure(error: unknown): HttpFailure {
  return error instanceof HttpFailure ? error : new HttpFailure(networkWords(error), { cause: error });
}

export interface Pacing {
  /**
   * When a stream is taken to be open without an answer. Some servers send the head of a stream together with its
   * first event, which may be the answer to a message that waits for the stream.
   */
  readonly openTimeoutMs: number;
  readonly maxRetries: number;
  /** Doubled with each attempt. */
  readonly backoffMs: number;
}

/** The longest pause that a server may ask for. */
export const longestPauseMs = 10_000;

export function backoff({ backoffMs }: Pacing, attempt: number): number {
  return backoffMs * 2 ** (attempt - 1);
}
