// Reads the delay that a provider asks for from its headers or body.

type Headers = Readonly<Record<string, string | undefined>>;

/** Milliseconds from now, or undefined. */
export function retryAfterMs(headers: Headers, body: string | undefined, now: number): number | undefined {
  const precise = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (precise >= 0) return precise;
  const text = headers["retry-after"]?.trim();
  if (text !== undefined && /^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = text === undefined ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body ?? "")?.[1];
  return delay === undefined ? undefined : Number(delay) * 1000;
}
