// Orders what is mounted in a sandbox, so that a denied path stays denied, however the paths nest.

/** One path of the sandbox that differs from the read-only file system below it. */
export interface Entry {
  /** Absolute and without links. */
  readonly path: string;
  /** `hidden` cannot be read. `empty` is an empty folder that ends with the command. */
  readonly how: "write" | "read" | "hidden" | "empty";
  readonly type: "file" | "folder";
  /** A denied path wins over all others. Without it, the deepest path wins, and among equals the one that opens more. */
  readonly denied?: boolean;
  /** What is mounted there, if it is not the path itself. */
  readonly source?: string;
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

const openness = { write: 3, read: 2, empty: 1, hidden: 0 } as const;

/** The entries to mount, parents before children. Entries that change nothing are left out. */
export function layout(all: readonly Entry[]): readonly Entry[] {
  const hidden = all.filter(({ denied, how }) => denied === true && how === "hidden").map(({ path }) => path);
  const kept = all.filter(({ denied, how }) => denied === true && how === "read").map(({ path }) => path);
  const chosen = new Map<string, Entry>();
  for (const each of [...all, ...ancestors(all)]) {
    const entry = afterDenials(each, hidden, kept);
    if (entry === undefined) continue;
    const other = chosen.get(entry.path);
    if (other === undefined || wins(entry, other)) chosen.set(entry.path, entry);
  }
  const inOrder = [...chosen.values()].sort(parentsFirst);
  return inOrder.filter((entry) => changesSomething(entry, inOrder));
}

function afterDenials(entry: Entry, hidden: readonly string[], kept: readonly string[]): Entry | undefined {
  const isHide = entry.denied === true && entry.how === "hidden";
  if (!isHide && hidden.some((path) => isAtOrBelow(entry.path, path))) return undefined;
  if (entry.how !== "write" || !kept.some((path) => isAtOrBelow(entry.path, path))) return entry;
  return { ...entry, how: "read" };
}

function wins(entry: Entry, other: Entry): boolean {
  if (entry.denied !== other.denied) return entry.denied === true;
  if (entry.denied === true) return openness[entry.how] < openness[other.how];
  return openness[entry.how] > openness[other.how];
}

/**
 * Every folder between a writable folder and a path in it that must not be written becomes a mount of its own. It can
 * then not be renamed, which would make room for another one.
 */
function ancestors(all: readonly Entry[]): readonly Entry[] {
  const writable = all.filter(({ how, type }) => how === "write" && type === "folder");
  const between = new Set<string>();
  for (const { path, how } of all) {
    if (how === "write" || how === "empty") continue;
    const around = writable.filter((entry) => entry.path !== path && isAtOrBelow(path, entry.path));
    const nearest = Math.max(-1, ...around.map((entry) => entry.path.length));
    if (nearest < 0) continue;
    for (let at = path.lastIndexOf("/"); at > nearest; at = path.lastIndexOf("/", at - 1))
      between.add(path.slice(0, at));
  }
  return Array.from(between, (path): Entry => ({ path, how: "write", type: "folder" }));
}

function parentsFirst(one: Entry, other: Entry): number {
  const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);
  return depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1);
}

/** Whether an entry differs from what the entry around it, or the read-only file system, already gives. */
function changesSomething(entry: Entry, inOrder: readonly Entry[]): boolean {
  if (entry.source !== undefined || entry.how === "write") return true;
  const around = inOrder.findLast(
    (other) => other.path !== entry.path && isAtOrBelow(entry.path, other.path),
  );
  const outer = around?.how ?? "read";
  if (entry.how === "hidden" || entry.how === "empty") return outer !== "hidden" && outer !== "empty";
  return outer !== "read";
}
