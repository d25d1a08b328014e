// Orders what is mounted in a sandbox, so that a denied path stays denied, however the paths nest.

/** A path of the sandbox that differs from the read-only file system below it. */
export interface LayoutEntry {
  /** Absolute and without links. */
  readonly path: string;
  /** `hidden` cannot be read. `empty` is an empty folder that ends with the command. */
  readonly how: "write" | "read" | "hidden" | "empty";
  readonly type: "file" | "folder";
  /** What is mounted there, if it is not the path itself. */
  readonly source?: string;
  /** Whether it is left out if it is gone when the command starts, as a socket of the host can be. */
  readonly mayVanish?: boolean;
}

/** What a sandbox is made of. */
export interface Wishes {
  /** The deepest entry wins, and among equals the one that opens more. */
  readonly entries: readonly LayoutEntry[];
  /** Paths in writable folders that programs execute or obey. Only an entry that names them, or a path below, opens them. */
  readonly protectedPaths: readonly string[];
  /** Paths that nothing makes writable. */
  readonly readOnly: readonly string[];
  /** Folders that are others in the sandbox, such as /tmp. What is shown in them needs a mount. */
  readonly replaced?: readonly string[];
  /** Paths that nothing shows. */
  readonly hidden: readonly Pick<LayoutEntry, "path" | "type" | "mayVanish">[];
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

const openness = { write: 3, read: 2, empty: 1, hidden: 0 } as const;

/** The entries to mount, parents before children. Entries that change nothing are left out. */
export function layout({
  entries,
  protectedPaths,
  readOnly,
  hidden,
  replaced = [],
}: Wishes): readonly LayoutEntry[] {
  const isUnder = (path: string, folders: readonly string[]) =>
    folders.some((folder) => isAtOrBelow(path, folder));
  const hides = hidden.map(({ path }) => path);
  const chosen = new Map<string, LayoutEntry>();
  for (const each of entries) {
    if (isUnder(each.path, hides)) continue;
    const entry: LayoutEntry =
      each.how === "write" && isUnder(each.path, readOnly) ? { ...each, how: "read" } : each;
    const other = chosen.get(entry.path);
    if (other === undefined || openness[entry.how] > openness[other.how]) chosen.set(entry.path, entry);
  }
  // these never open anything, so they count only where the folder around them is writable
  const kept = [...readOnly, ...protectedPaths].filter(
    (path) => !chosen.has(path) && !isUnder(path, hides) && around(path, chosen)?.how === "write",
  );
  const closed = [
    ...hidden.filter(({ path }) => around(path, chosen)?.how === "write").map(({ path }) => path),
    ...kept,
  ];
  const between = ancestors(closed, chosen);
  for (const path of kept) chosen.set(path, { path, how: "read", type: "file" });
  for (const each of hidden) chosen.set(each.path, { ...each, how: "hidden" });
  // a folder that only leads to what may vanish can vanish with it
  const lasting = [...chosen.values()].filter(({ mayVanish }) => mayVanish !== true);
  for (const path of between) {
    if (chosen.has(path)) continue;
    const mayVanish = !lasting.some((each) => isAtOrBelow(each.path, path));
    chosen.set(path, { path, how: "write", type: "folder", ...(mayVanish ? { mayVanish } : {}) });
  }
  const inOrder = [...chosen.values()].sort(parentsFirst);
  return inOrder.filter((entry) => changesSomething(entry, chosen, replaced));
}

/** The deepest entry that has the path in it. */
function around(path: string, chosen: ReadonlyMap<string, LayoutEntry>): LayoutEntry | undefined {
  for (let at = path.lastIndexOf("/"); at >= 0; at = path.lastIndexOf("/", at - 1)) {
    const entry = chosen.get(path.slice(0, at) || "/");
    if (entry !== undefined) return entry;
    if (at === 0) return undefined;
  }
  return undefined;
}

/**
 * Every folder between a writable folder and a closed path in it becomes a mount of its own. It can then not be renamed,
 * which would make room for another one.
 */
function ancestors(closed: readonly string[], chosen: ReadonlyMap<string, LayoutEntry>): Set<string> {
  const between = new Set<string>();
  for (const path of closed) {
    const folder = around(path, chosen)?.path ?? "/";
    for (let at = path.lastIndexOf("/"); at > folder.length; at = path.lastIndexOf("/", at - 1)) {
      const parent = path.slice(0, at);
      if (!closed.some((each) => isAtOrBelow(parent, each))) between.add(parent);
    }
  }
  return between;
}

function parentsFirst(one: LayoutEntry, other: LayoutEntry): number {
  const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);
  return depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1);
}

/** Whether an entry differs from what the entry around it, or the read-only file system, already gives. */
function changesSomething(
  entry: LayoutEntry,
  chosen: ReadonlyMap<string, LayoutEntry>,
  replaced: readonly string[],
): boolean {
  if (entry.source !== undefined || entry.how === "write") return true;
  const folder = around(entry.path, chosen);
  const isReplaced = replaced.some(
    (each) => isAtOrBelow(entry.path, each) && !(folder !== undefined && isAtOrBelow(folder.path, each)),
  );
  const outer = isReplaced ? "empty" : (folder?.how ?? "read");
  if (entry.how === "hidden" || entry.how === "empty") return outer !== "hidden" && outer !== "empty";
  return outer !== "read";
}
