// Refuses options that do not exist, which would otherwise be ignored without a word.

/** Throws a TypeError for an option that is not in the table. One that is undefined counts as left out. */
export function checkOptions<Options extends object>(
  name: string,
  options: Options,
  known: Readonly<Record<keyof Options & string, true>>,
): void {
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, key)) continue;
    throw new TypeError(
      `${name}: there is no option ${key}; the options are ${Object.keys(known).join(", ")}`,
    );
  }
}
