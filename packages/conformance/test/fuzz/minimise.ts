// Finds a short list of frames that still fails, by leaving out parts of a long one.

/** `fails` is called with ever shorter lists. */
export async function minimise<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let now = items;
  for (let size = Math.ceil(now.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < now.length; ) {
      const shorter = [...now.slice(0, from), ...now.slice(from + size)];
      if (shorter.length < now.length && (await fails(shorter))) now = shorter;
      else from += size;
    }
  }
  return now;
}
