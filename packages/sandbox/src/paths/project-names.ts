// Recognises what programs obey directly in a project: every name that begins with a dot, unless it is known to be harmless.

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Files that make a folder a project. */
const manifests = new Set(
  words(`package.json deno.json deno.jsonc bun.lockb jsr.json pyproject.toml setup.py setup.cfg requirements.txt pipfile
    environment.yml cargo.toml go.mod go.work pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts
    build.sbt build.sc project.clj deps.edn composer.json gemfile mix.exs rebar.config pubspec.yaml package.swift podfile
    cmakelists.txt meson.build makefile gnumakefile configure.ac build.zig build.zig.zon stack.yaml cabal.project
    dune-project elm.json project.toml shard.yml gleam.toml build.bazel module.bazel workspace.bazel flake.nix
    dockerfile containerfile conanfile.txt conanfile.py vcpkg.json global.json directory.build.props`),
);

/** The same, for names of any beginning. */
const manifestEnding = /\.(?:csproj|fsproj|vbproj|sln|slnx|gemspec|cabal|nimble|rockspec|xcodeproj)$/;

/** Build output, installed packages, and lists of files. No program runs them or takes settings from them. */
const harmlessNames = new Set(
  words(`
    .npm .npm-packages .node-gyp .pnpm .pnpm-store .pnpm-debug.log .yarn-integrity .yarn-metadata.json .pnp.cjs .pnp.js
    .pnp.loader.mjs .pnp.data.json .package-lock.json .modules.yaml
    .vite .vite-temp .vite-inspect .vitest .vitest-attachments .vitest-reports .webpack .swc .tshy-build
    .next .nuxt .nitro .output .svelte-kit .astro .angular .expo .docusaurus .react-router .vinxi .tanstack .open-next
    .turbo .wireit .nyc_output .coverage .hypothesis .benchmarks .stryker-tmp
    .dmypy.json .pytype .pyre .venv .virtualenv .tox .nox .eggs .ipynb_checkpoints .pdm-build .hatch .pixi
    .gradle .kotlin .cxx .externalnativebuild .lake .stack-work .dart_tool .flutter-plugins
    .flutter-plugins-dependencies .build .elixir_ls .metals
    .cmake .qt .ninja_deps .ninja_log .ninja_lock .deps .libs .dirstamp .tmp_versions .rustc_info.json .cargo-lock .cargo-ok
    .fingerprint .future-incompat-report.json .crates.toml .crates2.json
    .terraform .terraform.lock.hcl .jekyll-metadata .yardoc .scannerwork
    .tmp .temp .logs .ds_store .directory .localized
    .gitignore .gitattributes .gitkeep .keep .ignore .rgignore .fdignore .agignore .dockerignore .containerignore .npmignore
    .prettierignore .eslintignore .stylelintignore .markdownlintignore .gcloudignore .vercelignore .helmignore .slugignore
    .ebignore .cfignore .hgignore .hgtags .bzrignore .editorconfig .mailmap .git-blame-ignore-revs .nojekyll .buildinfo
    .fslckout`),
);

/** Caches, reports, and files that programs and file systems keep beside those that are open. */
const harmlessPattern =
  /^\.(?:.*cache|.*\.tsbuildinfo|.*\.sw[a-z]|#.*|~lock\..*#|nfs[0-9a-f]{8,}|fuse_hidden[0-9a-f]+|coverage\..+|_.*)$/;

/** Folders of tools in which only these names are caches or build output. */
const partlyHarmless: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    ".yarn": "cache unplugged install-state.gz build-state.yml berry ignore",
    ".nx": "cache workspace-data",
    ".cargo": "registry git .package-cache .package-cache-mutate .global-cache .crates.toml .crates2.json",
    ".m2": "repository",
    ".vercel": "output cache",
    ".netlify": "cache functions-internal blobs-serve",
    ".wrangler": "state tmp",
    ".rush": "temp",
    ".moon": "cache",
    ".vitepress": "cache dist",
    ".vuepress": ".cache .temp dist",
    ".storybook": "cache",
  }).map(([name, inside]) => [name, new Set(words(inside))]),
);

/** Folders with what tools have installed or built. Nobody opens them as a workspace. */
const installed = new Set(
  words("node_modules bower_components jspm_packages venv __pycache__ site-packages target pods elm-stuff"),
);

/** Folders with packages of others, which bring settings along. In them only the names that are known count. */
const ofOthers = new Set(words("vendor deps _deps third_party carthage _build cmakefiles"));

/** The folders in which version control systems keep a repository. */
const repositories = new Set(words(".git .hg .jj .sl .svn .bzr .pijul"));

/** Some file systems ignore case. */
const fold = (name: string) => name.toLowerCase();

/** Whether a file of that name makes its folder a project. */
export function isManifest(name: string): boolean {
  const folded = fold(name);
  return manifests.has(folded) || manifestEnding.test(folded);
}

/** Whether something of that name makes its folder a repository. */
export function isRepositoryFolder(name: string): boolean {
  return repositories.has(name);
}

/** Whether git takes a folder with these names in it for a repository, if it finds no `.git`. */
export function looksLikeRepository(names: readonly string[]): boolean {
  const has = (...wanted: readonly string[]) => wanted.every((name) => names.includes(name));
  // `commondir` names the folder that has the objects and the config
  return has("HEAD", "objects", "refs") || has("HEAD", "commondir");
}

/** Whether a folder of that name holds what tools have installed, built or cached. */
export function isInstalledFolder(name: string): boolean {
  return installed.has(fold(name)) || (name.startsWith(".") && isHarmless(fold(name)));
}

/** Whether a folder of that name holds packages of others, with settings for their own authors. */
export function isFolderOfOthers(name: string): boolean {
  return ofOthers.has(fold(name));
}

/** Whether only some names in a folder are harmless. */
export function isPartlyHarmless(name: string): boolean {
  return partlyHarmless.has(fold(name));
}

/**
 * Whether programs may obey a path, given relative to the root, repository or project that it is in, because nothing says
 * that its name is harmless.
 */
export function isObeyedInProject(relativePath: string): boolean {
  const [name = "", inner] = relativePath.split(/[\\/]/).map(fold);
  if (!name.startsWith(".")) return false;
  const harmlessInside = partlyHarmless.get(name);
  if (harmlessInside !== undefined) return inner !== undefined && !harmlessInside.has(inner);
  return !isHarmless(name);
}

function isHarmless(name: string): boolean {
  return harmlessNames.has(name) || harmlessPattern.test(name);
}
