// How many columns a text takes, and where a word may be broken.

let segmenter: Intl.Segmenter | undefined;

/** The characters as they are seen. */
export function graphemes(text: string): Intl.Segments {
  // made on use, because it takes 8 ms
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

const plain = /^[\x20-\x7e]*$/;
const wide =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{16fff}\u{17000}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f1e6}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/** Closing punctuation does not begin a line. */
const closing = /^[\p{Pe}\p{Pf}\u3001\u3002\u3005\u30fb\u30fc\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]/u;
const emoji = /\p{Emoji_Presentation}|[\p{Extended_Pictographic}\d#*]\ufe0f/u;
/** Marks, and parts of Korean syllables, stand in the column before. */
const unseen = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u;

/**
 * Letters of Europe, punctuation, lines, and the wide characters of Chinese, Japanese and Korean. Each is one character as it
 * is seen, also beside the others: to find that out otherwise takes a microsecond for each of them.
 */
const simple =
  /^[\x20-\x7e\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0391-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2500-\u257f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/;
const simplyWide = /[\u3041-\uff5e]/g;

/** The characters as they are seen, where the cheap way is right. */
export function* glyphsOf(text: string): Generator<string> {
  if (simple.test(text)) yield* text;
  else for (const { segment } of graphemes(text)) yield segment;
}

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  if (simple.test(text)) return text.length + (text.match(simplyWide)?.length ?? 0);
  let width = 0;
  for (const { segment } of graphemes(text)) width += glyphWidth(segment);
  return width;
}

/** A line may break between wide characters: Chinese and Japanese have no spaces. */
export function breakableParts(word: string): string[] {
  if (plain.test(word)) return [word];
  const parts: string[] = [];
  let mayBreak = false;
  for (const glyph of glyphsOf(word)) {
    const isWide = wide.test(glyph) || emoji.test(glyph);
    const begins = parts.length === 0 || ((isWide || mayBreak) && !closing.test(glyph));
    if (begins) parts.push(glyph);
    else parts.push(`${parts.pop()}${glyph}`);
    mayBreak = isWide;
  }
  return parts;
}

/** Of one character as it is seen. Terminals give each of its spacing parts a column, but an emoji two in all. */
export function glyphWidth(glyph: string): number {
  if (emoji.test(glyph)) return 2;
  let width = 0;
  for (const part of glyph) width += wide.test(part) ? 2 : unseen.test(part) ? 0 : 1;
  return width;
}
