import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { isProtectedPath } from "../paths/protected-paths.ts";
import { secrets } from "../policy/secrets.ts";
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

const to = (folder: string, root: string) => ({
  asideOf: (path: string) => ({ folder, name: path.slice(root.length + 1) }),
  isOpened: () => false,
  accepted: new Map<string, string>(),
});
const names = (paths: Iterable<string>, root: string) =>
  [...paths].map((path) => path.slice(root.length + 1)).sort();

test("hooks, settings and repositories are found in all folders but those of installed packages", (t) => {
  const { root, put } = workspace(t);
  put(".claude/x", "a/b/.vscode/x", "a/c/.github/workflows/x", "a/c/.github/x", "node_modules/p/.claude/x");
  put("a/.git/config", "a/b/.env", "x.pem");
  put("bare/HEAD", "bare/objects/x", "bare/refs/x");
  symlinkSync("/", join(root, "everything"));
  const found = new WatchedFolders([root]).search();
  assert.deepEqual(names(found.obeyed, root), [".claude", "a/b/.vscode", "a/c/.github/workflows"]);
  assert.deepEqual(names(found.repositories, root), ["a/.git", "bare"]);
  assert.equal(found.isIncomplete, false);
});

test("a folder that looks like a bare repository is searched like any other, and its settings count too", (t) => {
  const { root, put } = workspace(t);
  put(
    "HEAD",
    "objects/.vscode/x",
    "refs/x",
    ".git/config",
    "a/HEAD",
    "a/objects/x",
    "a/refs/x",
    "a/b/.mcp.json",
  );
  const found = new WatchedFolders([root]).search();
  assert.deepEqual(names(found.obeyed, root), ["a/b/.mcp.json", "objects/.vscode"]);
  assert.deepEqual([...found.repositories].sort(), [root, join(root, ".git"), join(root, "a")]);
});

test("in roots, repositories and projects every name with a dot counts that is not known to be harmless", (t) => {
  const { root, put } = workspace(t);
  put(".unknown/x", ".cache/.unknown/x", ".gitignore", "src/.unknown", "src/deep/.unknown");
  put("lib/pyproject.toml", "lib/.unknown", "lib/.mypy_cache/x", "sub/.git/config", "sub/.unknown");
  put(".yarn/cache/x", ".yarn/releases/x", ".yarn/unplugged/p/package.json", ".yarn/unplugged/p/.unknown");
  put("vendor/a/composer.json", "vendor/a/.unknown", "vendor/a/.vscode/x");
  const watched = new WatchedFolders([root]);
  const expected = [".unknown", ".yarn/releases", "lib/.unknown", "sub/.unknown", "vendor/a/.vscode"];
  assert.deepEqual(names(watched.search().obeyed, root), expected);
});

test("an edit is asked about exactly where a command could not write", (t) => {
  const { root, put } = workspace(t);
  const paths = [
    ".unknown/x",
    ".cache/.unknown/x",
    ".gitignore",
    "src/.unknown",
    "src/.vscode/x",
    "src/a.ts",
  ];
  paths.push("lib/pyproject.toml", "lib/.unknown", "lib/.mypy_cache/x", "lib/deep/.unknown", "sub/.unknown");
  paths.push(
    ".yarn/cache/x",
    ".yarn/releases/x",
    ".yarn/unplugged/p/package.json",
    ".yarn/unplugged/p/.unknown",
  );
  paths.push("vendor/a/composer.json", "vendor/a/.unknown", "node_modules/a/package.json", "src/.yarn/other");
  put(...paths, "sub/.git/config", "node_modules/a/.unknown");
  const obeyed = [...new WatchedFolders([root]).search().obeyed];
  for (const path of paths.map((each) => join(root, each))) {
    const isHeld = obeyed.some((each) => path === each || path.startsWith(`${each}/`));
    assert.equal(isProtectedPath(path, "write", [], [root]), isHeld, path);
    assert.equal(isProtectedPath(path, "read", [], [root]), false, path);
  }
});

test("a folder whose manifest a command has removed stays a project for edits", (t) => {
  const { root, put } = workspace(t);
  put("lib/go.mod");
  new WatchedFolders([root]).search();
  rmSync(join(root, "lib/go.mod"));
  assert.ok(isProtectedPath(join(root, "lib/.golangci.yml"), "write", [], [root]));
});

test("the folders that agents and editors have at home are protected where a workspace has them", (t) => {
  const { root, put } = workspace(t);
  const shared = /^\.(?:config|local\/share)\/(?!Code|github)/;
  const own = (secrets["agents and editors"] ?? []).map((path) => path.replace(shared, ".").toLowerCase());
  const folders = [...new Set(own.filter((path) => !path.includes("/")))];
  assert.ok(folders.includes(".goose") && folders.includes(".pi"));
  put(...folders.map((path) => `deep/er/${path}/x`));
  const found = names(new WatchedFolders([root]).search().obeyed, root);
  assert.deepEqual(found, folders.map((path) => `deep/er/${path}`).sort());
});

test("a project that loses its manifest, and its repository, stays a project", (t) => {
  const { root, put } = workspace(t);
  put("lib/package.json", "sub/.git/config");
  const watched = new WatchedFolders([root]);
  watched.search();
  for (const path of ["lib/package.json", "sub/.git"]) rmSync(join(root, path), { recursive: true });
  put("lib/.unknown", "sub/.unknown");
  assert.deepEqual(names(watched.search().obeyed, root), ["lib/.unknown", "sub/.unknown"]);
});

test("new folders do not push those out of the search that are known", (t) => {
  const { root, put } = workspace(t);
  put("z/deep/er/.vscode/x");
  const watched = new WatchedFolders([root], 10);
  watched.search();
  put(...Array.from({ length: 20 }, (_, number) => `a${number}/x`), "z/deep/er/.mcp.json");
  const found = watched.search();
  assert.deepEqual(names(found.obeyed, root), ["z/deep/er/.mcp.json", "z/deep/er/.vscode"]);
  assert.deepEqual([found.folders.size, found.isIncomplete], [10, true]);
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
    { found, missing: [], kept: new Map(), gitFolders: [], files: new Map(), stamps: new Map() },
    all,
    to(aside, root),
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
    guessed: new Set(),
    repositories: new Set(),
    folders: new Set([join(root, "link")]),
    isIncomplete: false,
  };
  const after = { ...nothing, obeyed: new Set([join(root, "link/.claude")]) };
  const before = {
    found: nothing,
    missing: [],
    kept: new Map(),
    gitFolders: [],
    files: new Map(),
    stamps: new Map(),
  };
  const { movedAside, left } = plantedFiles(before, after, to(join(root, "aside"), root));
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
