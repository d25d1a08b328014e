// How programs write a secret down: as it is, inside JSON, in an address, in a header, in the middle of something
// that is base64 as a whole.

/** What is shorter may be part of anything. */
export const shortestSecret = 8;

export function formsOf(secret: string): Set<string> {
  return new Set([secret, ...withoutScheme(secret)].flatMap((each) => [...writtenForms(each)]));
}

/** What a header says beside its scheme is a secret by itself, and so is the password that it holds. */
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
  // half a character has no place in an address
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

/** What of the base64 of a longer text is the secret's alone, if so many bytes stand before it. */
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

/** A character for each byte of its UTF-8: what `atob` makes of base64. */
export function byteString(text: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}
