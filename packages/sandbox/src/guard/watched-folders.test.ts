import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { plantedFiles } from "./planted-files.ts";
import { type Found, WatchedFolders } from "./watched-folders.ts";

function workspace(t: TestContext): { readonly root: string; put(...paths: string[]): void } {
  const root = mkdtempSync(join(tmpdir(), "parley-watched-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const put = (...paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), "");
    }
  };
  return { root, put };
}

const to = (folder: string) => ({ asideOf: () => ({ folder }), accepted: new Map<string, string>() });
const names = (paths: Iterable<string>, root: string) =>
  [...paths].map((path) => path.slice(root.length + 1)).sort();

test("hooks, settings and repositories are found in all folders but those of installed packages", (t) => {
  const { root, put } = workspace(t);
  put(
    ".claude/x",
    "a/b/.vscode/x",
    "a/.github/workflows/x",
    "node_modules/p/.claude/x",
    "a/.git/config",
    ".env",
    "x.pem",
  );
  put("bare/HEAD", "bare/objects/x", "bare/refs/x");
  symlinkSync("/", join(root, "everything"));
  const found = new WatchedFolders([root]).search();
  assert.deepEqual(names(found.obeyed, root), [".claude", "a/.github/workflows", "a/b/.vscode"]);
  assert.deepEqual(names(found.repositories, root), ["a/.git", "bare"]);
  assert.equal(found.isIncomplete, false);
});

test("what is new is found again and again, also if a program sets back the times of its folder", (t) => {
  const { root, put } = workspace(t);
  put("a/b/x");
  const watched = new WatchedFolders([root]);
  for (const name of [".vscode", ".idea", ".cursor"]) {
    watched.search();
    put(`a/b/${name}/x`);
    utimesSync(join(root, "a/b"), 0, 0);
    assert.ok(watched.search().obeyed.has(join(root, "a/b", name)), name);
  }
});

test("a search ends at its limit and says so, and what may be old is not moved then", (t) => {
  const { root, put } = workspace(t);
  put("a/x", "b/x", "c/x", "d/x");
  const watched = new WatchedFolders([root], 3);
  const found = watched.search();
  assert.deepEqual([found.folders.size, found.isIncomplete], [3, true]);
  put("a/.claude/x", "d/.claude/x");
  const all = new WatchedFolders([root]).search();
  const aside = join(root, "../aside");
  t.after(() => rmSync(aside, { recursive: true, force: true }));
  const findings = plantedFiles(
    { found, missing: [], kept: new Map(), files: new Map(), stamps: new Map() },
    all,
    to(aside),
  );
  assert.deepEqual(
    names(
      findings.movedAside.map(({ from }) => from),
      root,
    ),
    ["a/.claude"],
  );
  assert.deepEqual(
    names(
      findings.left.map(({ path }) => path),
      root,
    ),
    ["d/.claude"],
  );
  assert.equal(findings.isIncomplete, true);
});

test("a folder that was exchanged for a link is left alone, and what it leads to stays", (t) => {
  const { root, put } = workspace(t);
  put("victim/.claude/x");
  symlinkSync("victim", join(root, "link"));
  const nothing: Found = {
    obeyed: new Set(),
    repositories: new Set(),
    folders: new Set([join(root, "link")]),
    isIncomplete: false,
  };
  const after = { ...nothing, obeyed: new Set([join(root, "link/.claude")]) };
  const before = { found: nothing, missing: [], kept: new Map(), files: new Map(), stamps: new Map() };
  const { movedAside, left } = plantedFiles(before, after, to(join(root, "aside")));
  assert.deepEqual(movedAside, []);
  assert.deepEqual(
    left.map(({ path }) => path),
    [join(root, "link/.claude")],
  );
});

test("a folder that cannot be read is passed over", {
  skip: process.getuid?.() === 0 && "root reads all",
}, (t) => {
  const { root, put } = workspace(t);
  put("closed/.claude/x");
  chmodSync(join(root, "closed"), 0);
  assert.deepEqual([...new WatchedFolders([root]).search().obeyed], []);
  chmodSync(join(root, "closed"), 0o700);
});
