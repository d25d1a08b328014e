// Aligns rows of text.

/** All columns but the last are padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column)))).join("  "),
  );
}
