// Measures how many bytes a text or a value takes in JSON, without writing it: control characters grow six-fold.

/** No UTF-16 unit takes more bytes than this: `\u0000`. */
const mostPerUnit = 6;

/** The bytes that a UTF-16 unit takes inside a JSON string. Half of a pair counts half of the pair's four bytes. */
function unitBytes(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x20) return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 2 : 6;
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1;
  if (code < 0x800) return 2;
  if (code < 0xd800 || code > 0xdfff) return 3;
  // a surrogate without its other half is escaped
  const isHigh = code < 0xdc00;
  const other = text.charCodeAt(isHigh ? at + 1 : at - 1);
  const isPair = isHigh ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
  return isPair ? 2 : 6;
}

/** The bytes of the text as a JSON string, without its quotes. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) bytes += unitBytes(text, i);
  return bytes;
}

/** Whether the text takes more than `max` bytes as a JSON string. */
export function exceedsJsonBytes(text: string, max: number): boolean {
  return text.length * mostPerUnit > max && jsonBytes(text) > max;
}

/** The end of the text that takes at most `max` bytes as a JSON string, without half a character at its cut. */
export function lastJsonBytes(text: string, max: number): string {
  if (!exceedsJsonBytes(text, max)) return text;
  let bytes = 0;
  let from = text.length;
  while (from > 0) {
    bytes += unitBytes(text, from - 1);
    if (bytes > max) break;
    from--;
  }
  const isHalf = /^[\udc00-\udfff]/.test(text.charAt(from)) && /[\ud800-\udbff]$/.test(text.charAt(from - 1));
  return text.slice(isHalf ? from + 1 : from);
}

/** The text in parts that take at most `max` bytes each as a JSON string. No character is cut in two. */
export function splitJsonBytes(text: string, max: number): readonly string[] {
  if (!exceedsJsonBytes(text, max)) return [text];
  const parts: string[] = [];
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const units = (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
    const more = unitBytes(text, at) + (units === 2 ? unitBytes(text, at + 1) : 0);
    if (bytes + more > max && at > from) {
      parts.push(text.slice(from, at));
      from = at;
      bytes = 0;
    }
    bytes += more;
    at += units;
  }
  return [...parts, text.slice(from)];
}

/** Whether the JSON of a plain value could take more than `max` bytes. A cheap bound: most values are far below. */
export function mayExceedJsonBytes(value: unknown, max: number): boolean {
  return atMost(value, max) > max;
}

function atMost(value: unknown, max: number): number {
  if (typeof value === "string") return value.length * mostPerUnit + 2;
  if (typeof value !== "object" || value === null) return 32;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += atMost(item, max) + 1;
      if (bytes > max) break;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    bytes += key.length * mostPerUnit + atMost(item, max) + 4;
    if (bytes > max) break;
  }
  return bytes;
}
