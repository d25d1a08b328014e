import assert from "node:assert/strict";
import { test } from "node:test";
import { isObeyedInProject } from "./project-names.ts";
import { isObeyedPath, isProtectedPath } from "./protected-paths.ts";

const own = "/h/.config/parley";
const isProtected = (path: string, access: "read" | "write") => isProtectedPath(path, access, [own]);

test("secrets are protected from reading and writing", () => {
  const secrets = [
    "/w/.env",
    "/w/.env.local",
    "/w/a/.ENV",
    "/h/.ssh/config",
    "/w/keys/id_ed25519",
    "/w/server.pem",
  ];
  for (const path of [...secrets, `${own}/config.json`]) {
    assert.ok(isProtected(path, "read"), path);
    assert.ok(isProtected(path, "write"), path);
  }
});

test("what others run or obey is asked about before it is written", () => {
  const trusted = ["/w/.git/hooks/pre-commit", "/w/.git", "/h/.bashrc", "/h/.zshenv", "/h/.profile"];
  for (const path of [
    ...trusted,
    "/w/.vscode/settings.json",
    "/w/.idea/x.xml",
    "/w/.env.example",
    "/w/.mcp.json",
    "/w/.GIT/config",
    "/w/.claude/settings.json",
    "/w/.github/workflows/ci.yml",
    "/w/.gitlab-ci.yml",
  ]) {
    assert.ok(!isProtected(path, "read"), path);
    assert.ok(isProtected(path, "write"), path);
  }
});

test("ordinary files are not protected", () => {
  for (const path of [
    "/w/src/a.ts",
    "/w/.gitignore",
    "/w/.github/ISSUE_TEMPLATE.md",
    "/w/environment.ts",
    "/w/keys.ts",
  ]) {
    assert.ok(!isProtected(path, "write"), path);
  }
});

test("logins in tool folders, and files that debuggers, builds, hooks and other agents obey, are protected", () => {
  for (const path of [
    "/h/.docker/config.json",
    "/h/.kube/config",
    "/h/.cargo/credentials.toml",
    "/h/.pypirc",
  ])
    assert.ok(isProtected(path, "read"), path);
  for (const path of [
    "/w/.cargo/config.toml",
    "/w/.gdbinit",
    "/w/.pre-commit-config.yaml",
    "/w/lefthook.yml",
    "/w/.cursorrules",
    "/w/.windsurf/rules.md",
    "/w/.mvn/jvm.config",
  ]) {
    assert.ok(isProtected(path, "write"), path);
    assert.ok(!isProtected(path, "read"), path);
  }
  for (const path of ["/w/.docker/Dockerfile", "/w/config.toml", "/w/src/lefthook.ts"])
    assert.ok(!isProtected(path, "write"), path);
});

test("a name that some file systems treat like a protected one is protected", () => {
  assert.ok(isProtected("/h/.\u017fsh/id", "read"));
  assert.ok(isProtected("/w/.e\u0301nv/../.GIT/hooks/x", "write"));
});

test("what others obey is told from secrets, by the path below a workspace", () => {
  const obeyed = [
    ".git",
    "a/.claude",
    ".VSCODE/settings.json",
    ".github/workflows/ci.yml",
    "a/.mcp.json",
    ".parley/policy",
  ];
  for (const path of obeyed) assert.ok(isObeyedPath(path), path);
  for (const path of [".env", "server.pem", ".ssh/config", "src/git", ".github/CODEOWNERS"])
    assert.ok(!isObeyedPath(path), path);
});

test("skills in a program's own folder may be read; the rest of it, and writing, is protected", () => {
  const own = ["/h/.config/parley", "/home-of-parley"];
  for (const folder of ["/h/.config/parley/skills/tidy", "/home-of-parley/config/skills/tidy"]) {
    assert.ok(!isProtectedPath(`${folder}/boxes.md`, "read", own), folder);
    assert.ok(isProtectedPath(`${folder}/boxes.md`, "write", own));
    assert.ok(isProtectedPath(`${folder}/.env`, "read", own));
    assert.ok(isProtectedPath(`${folder}/../../credentials.json`, "read", own));
  }
  for (const path of [
    "/h/.config/parley/config.json",
    "/h/.config/parley/skills-of-others/a",
    "/h/.config/parley/SKILLS/a",
  ])
    assert.ok(isProtectedPath(path, "read", own), path);
});

test("files that agents, editors, shells and servers obey are protected at any depth, with and without a dot", () => {
  const agents = [
    ".pi/extensions/x",
    ".factory/x",
    ".kimi/x",
    ".vibe/x",
    ".augment/x",
    "opencode.jsonc",
    "crush.json",
  ];
  const editors = [".helix/languages.toml", ".devcontainer.json", ".nvim.lua", "x.code-workspace"];
  const shells = [".envrc", "mise.toml", ".mise.local.toml", ".autoenv.zsh"];
  const servers = [".github/hooks/x", ".github/mcp.json", ".gitea/x", ".buildkite/x", "appveyor.yml"];
  for (const path of [...agents, ...editors, ...shells, ...servers, ".pijul/config", ".bazeliskrc"]) {
    assert.ok(isObeyedPath(`deep/er/${path}`), path);
    assert.ok(isProtected(`/w/deep/er/${path}`, "write"), path);
  }
});

test("in a project a name with a dot counts unless it is a cache, build output or a list of files", () => {
  for (const path of [
    ".unknown",
    ".env",
    ".Unknown/x",
    ".yarn/releases",
    ".yarn/sdks/x",
    ".nx/nxw.js",
    ".github",
  ])
    assert.ok(isObeyedInProject(path), path);
  for (const path of [
    "src",
    "unknown",
    ".cache",
    ".CACHE",
    ".eslintcache",
    ".gitignore",
    ".yarn",
    ".yarn/cache",
    ".x.swp",
  ])
    assert.ok(!isObeyedInProject(path), path);
});
