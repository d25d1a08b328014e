// Measures text in terminal columns and finds where a line may break.

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const plain = /^[\x20-\x7e]*$/;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
/** Closing punctuation does not begin a line. */
const closing = /^[\p{Pe}\p{Pf}\u3001\u3002\u3005\u30fb\u30fc\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]/u;
const unseen = /^[\p{M}\p{Cf}]*$/u;

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += glyphWidth(segment);
  return width;
}

/** A line may break between wide characters: Chinese and Japanese have no spaces. */
export function breakableParts(word: string): string[] {
  if (plain.test(word)) return [word];
  const parts: string[] = [];
  let mayBreak = false;
  for (const { segment } of graphemes.segment(word)) {
    const isWide = glyphWidth(segment) === 2;
    const begins = parts.length === 0 || ((isWide || mayBreak) && !closing.test(segment));
    if (begins) parts.push(segment);
    else parts.push(`${parts.pop()}${segment}`);
    mayBreak = isWide;
  }
  return parts;
}

function glyphWidth(glyph: string): number {
  if (wide.test(glyph)) return 2;
  return unseen.test(glyph) ? 0 : 1;
}
