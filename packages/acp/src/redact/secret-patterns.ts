// Recognises secrets by names, patterns (with bounded repetitions, to avoid quadratic time) and encoded forms.

/** Keys whose values are always secrets. */
export const secretKey =
  /^(?:.*[-_./]|.*[a-z](?=[A-Z]))?(?:authorization|cookies?|passw(?:or)?d|passphrase|secrets?|tokens?|api[-_]?keys?|private[-_]?keys?|access[-_]?keys?|credentials?|bearer)$/i;

/** Such keys whose numbers are counts, not secrets. */
export const countKey = /tokens?$/i;

/** Command options whose next argument is or contains a secret. */
export const secretOption =
  /^(?:-e|-H|--env|--header|--?.*(?:token|secret|password|passwd|api-?key|auth|credentials?))$/i;

export interface Pattern {
  readonly name: string;
  readonly expression: RegExp;
  /** The group with the secret; 0 is the whole match. */
  readonly group: number;
  /** The pattern finds it everywhere, so its text need not be remembered. */
  readonly evident?: boolean;
  /** It may be harmless, so it is replaced elsewhere only if it is distinctive. */
  readonly doubtful?: boolean;
}

export const patterns: readonly Pattern[] = [
  {
    name: "private key",
    expression: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    group: 0,
  },
  { name: "bearer token", expression: /\b(?:bearer|basic)\s+([\w.~+/-]{8,}=*)/gi, group: 1 },
  { name: "JSON web token", expression: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, group: 0, evident: true },
  {
    name: "API key",
    expression:
      /\b(?:sk|pk|rk|xai|gsk)[-_][\w-]{16,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{20,}/g,
    group: 0,
    evident: true,
  },
  // as providers repeat it
  {
    name: "masked API key",
    expression: /\b(?:(?:sk|pk|rk|xai|gsk|hf)[-_]|AIza)[\w-]*\*{3,}[\w*-]*/g,
    group: 0,
    evident: true,
  },
  { name: "address", expression: /[?&]key=([^&#\s"'<>)]{6,})/gi, group: 1 },
  {
    name: "assignment",
    expression:
      /\b[\w-]{0,64}(?:TOKEN|SECRET|PASSWORD|PASSWD|API[-_]?KEY|PRIVATE[-_]?KEY|ACCESS[-_]?KEY)\b["']?\s*[=:]\s*["']?([^\s"',;&]{6,})/gi,
    group: 1,
  },
  {
    name: "header",
    expression: /\bauthorization["']?\s*[=:]\s*["']?(?:[a-z]{1,20}\s+)?([\w.~+/=-]{8,})/gi,
    group: 1,
  },
  { name: "header", expression: /\bcookie["']?\s*:\s*["']?([\w.-]{1,64}=[^\r\n"']+)/gi, group: 1 },
  {
    name: "header",
    expression: /(?<=^|\s)(?:-H|--header)[=\s]\s{0,4}["']?[\w-]{1,64}:\s{0,4}([^\r\n"']+)/g,
    group: 1,
    doubtful: true,
  },
  {
    name: "argument",
    expression:
      /(?<=^|\s)--?[\w-]{0,64}(?:token|secret|password|passwd|api-?key|credentials?)[=\s]\s{0,4}["']?([^\s"'-][^\s"']*)/gi,
    group: 1,
    doubtful: true,
  },
  {
    name: "argument",
    expression: /(?<=^|\s)(?:-e|--env)[=\s]\s{0,4}["']?[A-Za-z_]\w{0,64}=([^\s"']+)/g,
    group: 1,
    doubtful: true,
  },
];

export const userInfo = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@"']+)@/gi;
/** In the query and, for some logins, in the fragment. */
export const queryValue = /([?&#][\w.~-]{1,64}=)([^&#\s"'<>)]+)/g;
export const address = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]+/gi;
export const randomWord = /(?<![\w/+-])[\w+/-]{32,200}={0,2}(?![\w/+-])/g;

/** Whether a word mixes upper case, lower case and digits at random; not for paths, hex hashes and UUIDs. */
export function looksRandom(word: string): boolean {
  if (!/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false;
  if (word.split("/").length > 3 || /^[\da-f-]+$/i.test(word)) return false;
  const counts = new Map<string, number>();
  for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length);
  return bits > 4;
}

const pathOrType =
  /^(?:[/~.]|[A-Za-z]:\\|(?:text|application|image|audio|video|multipart|font|model)\/|[a-z][a-z0-9+.-]{0,20}:\/\/)/;

/** Whether a text is distinctive enough to be replaced everywhere. */
export function isDistinctive(text: string): boolean {
  return !/^(?:[A-Za-z]*|[\d.]*)$/.test(text) && !pathOrType.test(text);
}

/** Decodes a part of a URL; returns an invalid one unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A shorter text may be part of anything. */
export const shortestSecret = 8;

/** The same for a value that is known to be a credential. Between 4 and 8 characters it is found as a word of its own. */
export const shortestKnown = 4;

/** Whether a credential can be looked for. Words of settings and of our own marks are in every text. */
export function isKnowable(secret: string): boolean {
  if (secret.length >= shortestSecret) return true;
  return secret.length >= shortestKnown && !/^(?:true|false|none|auto|null|test|secret)$/i.test(secret);
}

/** Where a form is in a text: a short one only between other characters than letters and digits. */
export function formIn(text: string, form: string, start = 0): number {
  let at = text.indexOf(form, start);
  if (form.length >= shortestSecret) return at;
  while (at !== -1 && (isWordAt(text, at - 1) || isWordAt(text, at + form.length)))
    at = text.indexOf(form, at + 1);
  return at;
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.charAt(at));
}

export function formsOf(secret: string): Set<string> {
  return new Set([secret, ...withoutScheme(secret)].flatMap((each) => [...writtenForms(each)]));
}

/** The credentials of an Authorization header, and the password in them. */
function withoutScheme(secret: string): string[] {
  const [, scheme = "", rest, word] =
    /^(?:(basic|bearer|digest|token)\s+(.+)|[\w-]{1,20}\s+(\S{4,}))$/is.exec(secret) ?? [];
  const credentials = rest ?? word;
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
      hexOf(bytes),
      hexOf(bytes).toUpperCase(),
      ...[0, 1, 2].flatMap((before) => base64Of(bytes, before)),
    ].filter((form) => form.length >= shortestSecret || (form === secret && form.length >= shortestKnown)),
  );
}

function hexOf(bytes: string): string {
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
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
