// Decodes percent, entity and backslash encodings, also nested ones, and joins lines, so that a secret is found however it is written.

/** Only a text with one of these can decode to something else. */
export const mayBeEncoded = /[%&\\\r\n]|=3D/i;

/** UTF-8 bytes, one character for each, without blanks, line breaks and the characters `=`, `+` and `\`. */
export interface DecodedText {
  readonly text: string;
  /** Where each byte begins and ends in the original text. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** For each byte, how many blanks that are not part of a line break were dropped up to it. */
  readonly blanks: Int32Array;
}

/** The decoded text without positions, which is faster. */
export function decodedBytes(text: string): string {
  return new Decoder(text, false).take().text;
}

export function decodedText(text: string): DecodedText {
  return new Decoder(text, true).take();
}

/** Where the encoding at the end of a text begins, if it is incomplete; otherwise the length of the text. */
export function decodedBeginning(text: string): { readonly decoded: DecodedText; readonly partial: number } {
  const decoder = new Decoder(text, true);
  const partial = decoder.dropPartial() ?? text.length;
  return { decoded: decoder.take(), partial };
}

const partialEncoding = /(?:%[\da-f]?|&#?\w{0,10}|\\(?:u\{?[\da-f]{0,6}|x[\da-f]?)?|=3?)$/i;

const code = (letter: string): number => letter.charCodeAt(0);
const percent = code("%");
const backslash = code("\\");
const equals = code("=");
const plus = code("+");
const ampersand = code("&");
const lineFeed = 10;
const letterU = code("u");
const letterX = code("x");
/** One character for each byte. */
const oneByOne = new TextDecoder("latin1");
/** Longer ones are left as they are, such as numbers with many zeros. */
const longestEncoding = 16;
const noGap = 0;
const blankGap = 1;
const lineGap = 2;

/** The entities of HTML for ASCII characters that no letter or digit is. */
const entities: ReadonlyMap<string, number> = new Map(
  (
    "amp& lt< gt> quot\" apos' excl! num# dollar$ percnt% lpar( rpar) ast* midast* plus+ comma, period. sol/ colon: semi; " +
    "equals= quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ UnderBar_ grave` DiacriticalGrave` lcub{ " +
    'lbrace{ verbar| vert| VerticalLine| rcub} rbrace} Tab\t NewLine\n AMP& LT< GT> QUOT"'
  )
    .split(" ")
    .map((entry) => [entry.slice(0, -1), code(entry.slice(-1))]),
);

/** The value of a hexadecimal digit, or -1. */
const hexValues = Int8Array.from({ length: 256 }, (_, unit) => {
  return "0123456789abcdef".indexOf(String.fromCharCode(unit).toLowerCase());
});
/** Units that are only copied, unless one that begins an encoding is near. */
const isPlain = Uint8Array.from({ length: 128 }, (_, unit) =>
  unit > 32 && !/[%&=\\]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

interface Buffers {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly blanks: Int32Array;
}

function buffers(size: number, placed = size): Buffers {
  const [starts, ends, blanks] = [new Int32Array(placed), new Int32Array(placed), new Int32Array(placed)];
  return { bytes: new Uint8Array(size), starts, ends, blanks };
}

/** Most texts are short, and buffers are slow to make. A result is read before the next text is decoded. */
const shortText = 4096;
const shared = buffers(shortText);

/** A stack of bytes. A byte that completes an encoding replaces it, which may complete an outer one. Linear in the text. */
class Decoder {
  readonly #bytes: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #blanks: Int32Array;
  readonly #isPlaced: boolean;
  #size = 0;
  /** An encoding that has begun can end up to this size. */
  #reach = -1;
  /** What was dropped since the last byte. */
  #gap: typeof noGap | typeof blankGap | typeof lineGap = noGap;

  constructor(text: string, isPlaced: boolean) {
    const most = /[^\0-\x7f]/.test(text) ? text.length * 3 : text.length;
    const { bytes, starts, ends, blanks } = most <= shortText ? shared : buffers(most, isPlaced ? most : 0);
    this.#bytes = bytes;
    this.#starts = starts;
    this.#ends = ends;
    this.#blanks = blanks;
    this.#isPlaced = isPlaced;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 128) this.#character(unit, at, at + 1);
      else if (isPlain[unit] === 1 && this.#size > this.#reach) this.#push(unit, at, at + 1);
      else this.#special(unit, at, at + 1);
    }
  }

  take(): DecodedText {
    let kept = 0;
    let dropped = 0;
    for (let at = 0; at < this.#size; at++) {
      const byte = this.#bytes[at] ?? 0;
      if (this.#isPlaced && this.#blanks[at] === blankGap) dropped++;
      if (byte === equals || byte === plus || byte === backslash) continue;
      this.#bytes[kept] = byte;
      if (this.#isPlaced) {
        this.#starts[kept] = this.#starts[at] ?? 0;
        this.#ends[kept] = this.#ends[at] ?? 0;
        this.#blanks[kept] = dropped;
      }
      kept++;
    }
    this.#size = kept;
    return { text: this.#string(0, kept), starts: this.#starts, ends: this.#ends, blanks: this.#blanks };
  }

  /** Removes incomplete encodings, of which one may be inside another, from the end, and returns where they begin. */
  dropPartial(): number | undefined {
    let begin: number | undefined;
    for (let inside = 0; inside < longestEncoding; inside++) {
      const from = Math.max(0, this.#size - longestEncoding);
      const found = partialEncoding.exec(this.#string(from, this.#size));
      if (found === null) return begin;
      this.#size = from + found.index;
      begin = this.#starts[this.#size];
    }
    return begin;
  }

  #string(from: number, to: number): string {
    return oneByOne.decode(this.#bytes.subarray(from, to));
  }

  #push(byte: number, start: number, end: number): void {
    const at = this.#size++;
    this.#bytes[at] = byte;
    if (this.#isPlaced) {
      this.#starts[at] = start;
      this.#ends[at] = end;
      this.#blanks[at] = this.#gap;
    }
    this.#gap = noGap;
  }

  /** Removes the last bytes, which were an encoding. Returns where it began. */
  #pop(count: number, start: number): number {
    this.#size -= count;
    if (!this.#isPlaced || count === 0) return start;
    const gap = this.#blanks[this.#size];
    this.#gap = gap === lineGap || gap === blankGap ? gap : noGap;
    return this.#starts[this.#size] ?? start;
  }

  #back(count: number): number {
    return this.#size < count ? 0 : (this.#bytes[this.#size - count] ?? 0);
  }

  #hexBack(count: number): number {
    return hexValues[this.#back(count)] ?? -1;
  }

  #special(given: number, from: number, end: number): void {
    let unit = given;
    let start = from;
    for (;;) {
      if (unit <= 32) return this.#blank(unit, start, end);
      const found = this.#encoding(unit);
      if (found === undefined) {
        if (isPlain[unit] === 0) this.#reach = this.#size + longestEncoding;
        if (unit !== backslash || this.#back(1) !== backslash) return this.#push(unit, start, end);
        if (this.#isPlaced) this.#ends[this.#size - 1] = end;
        return;
      }
      start = this.#pop(found.length, start);
      unit = found.value;
      if (unit >= 128) {
        if (found.isByte) this.#push(unit, start, end);
        else this.#character(unit, start, end);
        return;
      }
    }
  }

  /** Control characters other than blanks are kept. */
  #blank(unit: number, start: number, end: number): void {
    if (unit !== 32 && (unit < 9 || unit > 13)) return this.#push(unit, start, end);
    if (unit !== lineFeed && unit !== 13) {
      if (this.#gap === noGap) this.#gap = blankGap;
      return;
    }
    // a soft line break of quoted-printable text or of a shell
    if (this.#back(1) === equals || this.#back(1) === backslash) this.#size--;
    this.#gap = lineGap;
  }

  /** The encoding that this unit ends: its value, and how many bytes before the unit belong to it. */
  #encoding(
    unit: number,
  ): { readonly value: number; readonly length: number; readonly isByte?: boolean } | undefined {
    const digit = hexValues[unit] ?? -1;
    if (digit !== -1) {
      const tens = this.#hexBack(1);
      if (tens === -1) return undefined;
      if (this.#back(2) === percent) return { value: tens * 16 + digit, length: 2, isByte: true };
      if (digit === 13 && tens === 3 && this.#back(2) === equals) return { value: equals, length: 2 };
      if (this.#back(2) === letterX && this.#back(3) === backslash)
        return { value: tens * 16 + digit, length: 3, isByte: true };
      if (this.#back(4) !== letterU || this.#back(5) !== backslash) return undefined;
      const [thousands, hundreds] = [this.#hexBack(3), this.#hexBack(2)];
      if (thousands === -1 || hundreds === -1) return undefined;
      return { value: ((thousands * 16 + hundreds) * 16 + tens) * 16 + digit, length: 5 };
    }
    if (unit === code(";")) return this.#entity();
    if (unit === code("}")) return this.#braced();
    if (this.#back(1) !== backslash) return undefined;
    const escaped =
      unit === code("n") ? lineFeed : unit === code("r") ? 13 : unit === code("t") ? 9 : undefined;
    return escaped === undefined ? undefined : { value: escaped, length: 1 };
  }

  /** `&#65;`, `&#x41;` or `&amp;`. */
  #entity(): { readonly value: number; readonly length: number } | undefined {
    for (let length = 2; length <= longestEncoding; length++) {
      const byte = this.#back(length);
      if (byte === code(";") || byte === 0) return undefined;
      if (byte !== ampersand) continue;
      const name = this.#string(this.#size - length + 1, this.#size);
      const [, hex, decimal] = /^#(?:x([\da-f]{1,8})|(\d{1,8}))$/i.exec(name) ?? [];
      const value =
        hex !== undefined ? parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : entities.get(name);
      return value === undefined || value > 0x10ffff ? undefined : { value, length };
    }
    return undefined;
  }

  /** `\u{41}`. */
  #braced(): { readonly value: number; readonly length: number } | undefined {
    let value = 0;
    for (let digits = 1; digits <= 6; digits++) {
      const digit = this.#hexBack(digits);
      if (digit === -1) return undefined;
      value += digit * 16 ** (digits - 1);
      if (this.#back(digits + 1) !== code("{")) continue;
      const isEscape = this.#back(digits + 2) === letterU && this.#back(digits + 3) === backslash;
      return isEscape && value <= 0x10ffff ? { value, length: digits + 3 } : undefined;
    }
    return undefined;
  }

  /** Pushes the UTF-8 bytes of a UTF-16 unit or a code point. Half a pair has three bytes until the other half comes. */
  #character(point: number, from: number, end: number): void {
    let whole = point;
    let start = from;
    if (
      point >= 0xdc00 &&
      point <= 0xdfff &&
      this.#back(3) === 0xed &&
      this.#back(2) >= 0xa0 &&
      this.#back(2) < 0xb0
    ) {
      const high = 0xd000 + (this.#back(2) - 0x80) * 64 + (this.#back(1) - 0x80);
      start = this.#pop(3, start);
      whole = 0x10000 + (high - 0xd800) * 0x400 + (point - 0xdc00);
    }
    const rest = (shift: number) => 0x80 + (Math.floor(whole / 64 ** shift) % 64);
    if (whole < 0x800) this.#push(0xc0 + Math.floor(whole / 64), start, end);
    else {
      if (whole < 0x10000) this.#push(0xe0 + Math.floor(whole / 4096), start, end);
      else {
        this.#push(0xf0 + Math.floor(whole / 262_144), start, end);
        this.#push(rest(2), start, end);
      }
      this.#push(rest(1), start, end);
    }
    this.#push(rest(0), start, end);
  }
}
