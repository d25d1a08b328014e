// Lists the encodings of a secret: in JSON, in a URL, in a header, or inside base64.

/** A shorter text may be part of anything. */
export const shortestSecret = 8;

export function formsOf(secret: string): Set<string> {
  return new Set([secret, ...withoutScheme(secret)].flatMap((each) => [...writtenForms(each)]));
}

/** The credentials of an Authorization header, and the password in them. */
function withoutScheme(secret: string): string[] {
  const [, scheme = "", credentials] = /^(basic|bearer|digest|token)\s+(.+)$/is.exec(secret) ?? [];
  if (credentials === undefined) return [];
  if (scheme.toLowerCase() !== "basic") return [credentials];
  try {
    const pair = atob(credentials);
    return [credentials, pair, pair.slice(pair.indexOf(":") + 1)];
  } catch {
    return [credentials];
  }
}

function writtenForms(secret: string): Set<string> {
  const inJson = JSON.stringify(secret).slice(1, -1);
  // encodeURIComponent throws for lone surrogates
  const wellFormed = secret.toWellFormed();
  const inAddress = encodeURIComponent(wellFormed);
  const bytes = byteString(secret);
  return new Set(
    [
      secret,
      bytes,
      inJson,
      JSON.stringify(inJson).slice(1, -1),
      inJson.replaceAll("/", "\\/"),
      inJson.replaceAll(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`),
      inAddress,
      inAddress.replaceAll(/%[\dA-F]{2}/g, (escaped) => escaped.toLowerCase()),
      inAddress.replaceAll("%20", "+"),
      encodeURI(wellFormed),
      ...[0, 1, 2].flatMap((before) => base64Of(bytes, before)),
    ].filter((form) => form.length >= shortestSecret),
  );
}

/** The part of a longer text's base64 that depends on the secret alone, with `before` bytes in front of it. */
function base64Of(bytes: string, before: number): string[] {
  const whole = btoa("\0".repeat(before) + bytes).replace(/=+$/, "");
  const begin = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  const middle = whole.slice(begin, end);
  return (before === 0 ? [whole, middle] : [middle]).flatMap((form) => [
    form,
    form.replaceAll("+", "-").replaceAll("/", "_"),
  ]);
}

/** The UTF-8 bytes of a text, one character for each, as from `atob`. */
export function byteString(text: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

export function fromBase64(data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  try {
    return atob(data);
  } catch {
    return undefined;
  }
}

/** Encodes a byte string; text with other characters, such as a replaced name, becomes UTF-8. */
export function toBase64(bytes: string): string {
  return btoa(/[^\0-\xff]/.test(bytes) ? byteString(bytes) : bytes);
}
