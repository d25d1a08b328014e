// Finds the known word that a mistyped word is near to.

/** The nearest word, if it is near: one or two letters differ or are swapped, or one word begins the other. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const completed = words.find((word) => typed.length > 1 && word.startsWith(typed));
  if (completed !== undefined) return completed;
  const most = typed.length < 6 ? 1 : 2;
  const ranked = words
    .map((word) => ({ word, far: editDistance(typed, word) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far);
  return ranked[0]?.word ?? words.find((word) => typed.length > 1 && typed.startsWith(word));
}

/** How many letters differ between two short words. Two letters that are swapped count once. */
export function editDistance(one: string, other: string): number {
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
