import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isAtOrBelow, type LayoutEntry, layout, type Wishes } from "./layout.ts";

const write = (path: string): LayoutEntry => ({ path, how: "write", type: "folder" });
const secret = (path: string): LayoutEntry => ({ path, how: "hidden", type: "folder" });
const none: Wishes = { entries: [], protectedPaths: [], readOnly: [], hidden: [] };
const shown = (wishes: Partial<Wishes>) =>
  layout({ ...none, ...wishes }).map(({ path, how }) => `${how} ${path}`);

test("every folder between a root and a protected path is a mount of its own", () => {
  assert.deepEqual(
    shown({ entries: [write("/w")], protectedPaths: ["/w/.git/hooks", "/w/a/b/.claude", "/w/.mcp.json"] }),
    [
      "write /w",
      "write /w/.git",
      "read /w/.mcp.json",
      "write /w/a",
      "read /w/.git/hooks",
      "write /w/a/b",
      "read /w/a/b/.claude",
    ],
  );
});

test("a secret that a link in the workspace names, or that a rule keeps from being written, stays hidden", () => {
  const entries = [write("/home"), secret("/home/.ssh"), secret("/etc/shadow")];
  const expected = ["write /home", "hidden /etc/shadow", "hidden /home/.ssh"];
  assert.deepEqual(shown({ entries, protectedPaths: ["/home/.ssh", "/etc/shadow"] }), expected);
  assert.deepEqual(shown({ entries, readOnly: ["/home/.ssh", "/home/.ssh/id"] }), expected);
});

test("a root in a hidden folder is shown, and a hidden folder in a root is hidden", () => {
  assert.deepEqual(
    shown({ entries: [secret("/h/.claude"), write("/h/.claude/trees/x"), write("/w"), secret("/w/.ssh")] }),
    ["write /w", "hidden /h/.claude", "hidden /w/.ssh", "write /h/.claude/trees/x"],
  );
});

test("a hidden path in a protected one does not make it writable", () => {
  const hidden = [{ path: "/w/.git/hooks/x", type: "file" as const }];
  assert.deepEqual(shown({ entries: [write("/w")], protectedPaths: ["/w/.git/hooks"], hidden }), [
    "write /w",
    "write /w/.git",
    "read /w/.git/hooks",
    "hidden /w/.git/hooks/x",
  ]);
});

test("a hidden path in a hidden one does not open what is between them", () => {
  const hidden = ["/w/a", "/w/a/b/c"].map((path) => ({ path, type: "folder" as const }));
  assert.deepEqual(shown({ entries: [write("/w")], hidden }), ["write /w", "hidden /w/a"]);
});

test("a protected path that an entry names is open, unless a rule keeps it", () => {
  const wishes = { entries: [write("/w"), write("/w/.claude")], protectedPaths: ["/w/.claude"] };
  assert.deepEqual(shown(wishes), ["write /w", "write /w/.claude"]);
  assert.deepEqual(shown({ ...wishes, readOnly: ["/w/.claude"] }), ["write /w", "read /w/.claude"]);
});

test("a folder that leads only to a socket may vanish with it, and one that leads to more may not", () => {
  const sockets = ["/w/run/s", "/w/a/s"].map((path) => ({ path, type: "file" as const, mayVanish: true }));
  const entries = [write("/w"), secret("/w/a/b/.ssh")];
  const vanishing = layout({ ...none, entries, hidden: sockets }).filter(({ mayVanish }) => mayVanish);
  assert.deepEqual(
    vanishing.map(({ path }) => path),
    ["/w/run", "/w/a/s", "/w/run/s"],
  );
});

/** What a path must be, by the rules as docs/sandbox.md has them. */
function expected(path: string, { entries, protectedPaths, readOnly, hidden }: Wishes): LayoutEntry["how"] {
  if (hidden.some((each) => isAtOrBelow(path, each.path))) return "hidden";
  const rank = { write: 3, read: 2, empty: 1, hidden: 0 };
  const over = entries.filter((each) => isAtOrBelow(path, each.path));
  const [deepest] = over.sort((a, b) => b.path.length - a.path.length || rank[b.how] - rank[a.how]);
  if (deepest === undefined) return "read";
  if (deepest.how !== "write") return deepest.how;
  if (readOnly.some((each) => isAtOrBelow(path, each))) return "read";
  const guards = protectedPaths.filter(
    (each) => isAtOrBelow(path, each) && each.length > deepest.path.length,
  );
  return guards.length > 0 ? "read" : "write";
}

/** What the mounts make of a path: the last one that covers it. Those that may vanish come after all others. */
function mounted(path: string, entries: readonly LayoutEntry[]): LayoutEntry["how"] {
  const inOrder = [false, true].flatMap((last) =>
    entries.filter(({ mayVanish = false }) => mayVanish === last),
  );
  return inOrder.findLast((each) => isAtOrBelow(path, each.path))?.how ?? "read";
}

test("a denied path is denied whatever the lists say and however they nest", () => {
  const names = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 });
  const path = names.map((parts) => `/${parts.join("/")}`);
  const paths = fc.array(path, { maxLength: 3 });
  const entry = fc.record({
    path,
    how: fc.constantFrom("write" as const, "read" as const, "hidden" as const, "empty" as const),
    type: fc.constant("folder" as const),
  });
  const wishes = fc.record({
    entries: fc.array(entry, { maxLength: 5 }),
    protectedPaths: paths,
    readOnly: paths,
    hidden: fc.array(fc.record({ path, type: fc.constant("folder" as const), mayVanish: fc.boolean() }), {
      maxLength: 3,
    }),
  });
  fc.assert(
    fc.property(wishes, path, (all, tried) => {
      const [got, wanted] = [mounted(tried, layout(all)), expected(tried, all)];
      const isClosed = (how: LayoutEntry["how"]) => how === "hidden" || how === "empty";
      // both show nothing of what is there
      if (isClosed(got) && isClosed(wanted)) return;
      assert.equal(got, wanted);
    }),
    { numRuns: 5_000 },
  );
});

test("a read-only root below /tmp is mounted, since /tmp is another folder inside", () => {
  const entries: LayoutEntry[] = [{ path: "/tmp/w", how: "read", type: "folder" }];
  assert.deepEqual(shown({ entries, replaced: ["/tmp"] }), ["read /tmp/w"]);
  assert.deepEqual(shown({ entries }), []);
});
