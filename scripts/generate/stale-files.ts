// Compares what is generated with what is committed.

/** The files whose committed text differs; undefined, in both, stands for a file that is not there. */
export function staleFiles(
  files: ReadonlyMap<string, string | undefined>,
  committed: (path: string) => string | undefined,
): string[] {
  return [...files].filter(([path, text]) => committed(path) !== text).map(([path]) => path);
}
