// The errors of HTTP requests, with messages that never contain what we sent, and when to retry.

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
