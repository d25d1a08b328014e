// What went wrong between us and a server, in one sentence that can be shown: it says where, what came back and
// what was wanted, and never what we sent.

/** `status` is absent where there was no answer at all. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly status: number | undefined;
  /** How long the server wants to be left alone. */
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

/** Seconds or a date, as in `Retry-After`. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const maxWords = 200;

/** What a server says in the body of a refusal; pages for browsers say nothing. */
export function serverWords(body: string, type: string): string {
  return /\bjson\b/.test(type) ? jsonWords(body) : /^text\/plain\b/.test(type) ? body : "";
}

/** Somebody's text as part of a sentence of ours: one line of some length, without what a terminal would obey. */
export function plainLine(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
  return line.length > maxWords ? `${line.slice(0, maxWords)}…` : line;
}

function jsonWords(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Record<string, unknown>; // whatever it is, a field is looked for
    const inner =
      typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error;
    return String([message, inner, detail].find((words) => typeof words === "string") ?? "");
  } catch {
    // not JSON after all, or cut off
    return "";
  }
}

/** Why there was no answer: fetch says "fetch failed" and has the reason, under several names, in its cause. */
export function networkWords(error: unknown): string {
  const { cause, message = "" } = (error ?? {}) as { cause?: unknown; message?: string };
  const inner = (cause ?? {}) as { message?: unknown; code?: unknown };
  const words = [inner.message, inner.code, message].find((each) => typeof each === "string" && each !== "");
  return typeof words === "string" ? words : "no answer";
}
