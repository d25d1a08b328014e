// Suggests a known word for a mistyped one.

/** The nearest word within one or two edits, or one that begins with the other. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const beginning = words.find(
    (word) => typed.length > 1 && (word.startsWith(typed) || typed.startsWith(word)),
  );
  if (beginning !== undefined) return beginning;
  const most = typed.length < 6 ? 1 : 2;
  const ranked = words
    .map((word) => ({ word, far: distance(typed, word) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far);
  return ranked[0]?.word;
}

/** Edit distance; two swapped letters count as one edit. */
function distance(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= one.length; row++) {
    rows[row] = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(one.length, other.length);
}
