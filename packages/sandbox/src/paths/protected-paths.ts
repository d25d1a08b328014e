// Recognises paths that hold secrets or that other programs execute, which always need approval, in every mode.

import { isObeyedInProjects } from "./project-folders.ts";

/** Secrets, which need approval for reading too. Matched against every name of a path. */
const secretNames: readonly RegExp[] = [
  /^\.env(?:\..*|rc)?$/,
  /^\.ssh$/,
  /^\.gnupg$/,
  /^\.aws$/,
  /^\.netrc$/,
  /^\.pgpass$/,
  /^\.git-credentials$/,
  /^\.(?:azure|pypirc|htpasswd|vault-token)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:pem|key|p12|pfx|kdbx)$/,
];

/** Example files, which may be read. */
const sample = /\.(?:example|sample|template|dist)$/;

/**
 * Files that other programs execute or obey, at any depth: free to read, never written without approval. Directly in a
 * project more names count, see project-names.ts.
 */
const trustedNames: readonly RegExp[] = [
  // version control and its hooks
  /^\.(?:git|hg|jj|sl|svn|bzr|pijul|gitmodules|gitconfig|hgsub|husky|huskyrc)$/,
  /^\.?(?:pre-commit-config\.ya?ml|lefthook(?:-local)?\.(?:ya?ml|toml|json)|pre-commit-hooks\.yaml)$/,
  // shells, and what sets variables where a person enters a folder
  /^\.(?:bash|zsh|k?sh|fish|tcsh|csh)(?:rc|env|_profile|_login|_logout|_aliases|_history)$/,
  /^\.(?:profile|login|zprofile|zlogin|zlogout|inputrc|envrc|direnvrc|xinitrc|xprofile|xsession)$/,
  /^\.(?:autoenv(?:_leave)?(?:\.zsh)?|env\.leave|tool-versions|flox|devbox)$/,
  /^\.?(?:mise|rtx)(?:\.[a-z0-9_-]+)*\.toml$|^\.?mise$/,
  // editors
  /^\.(?:vscode|vscode-server|idea|zed|cursor|vim|nvim|emacs\.d|helix|fleet|nova|theia|vs|run|devcontainer(?:\.json)?)$/,
  /^\.(?:vimrc|exrc|nvimrc|lvimrc|local\.vimrc|nvim\.lua|nvimrc\.lua|exrc\.lua|vimspector\.json|emacs|nanorc|kateproject)$/,
  /^\.(?:dir-locals(?:-2)?\.el|ycm_extra_conf\.py|lazy\.lua|neoconf\.json|projections\.json)$/,
  /^\.?(?:devcontainer|devfile)\.(?:json|ya?ml)$/,
  /\.(?:code-workspace|sublime-project|sublime-workspace)$/,
  // agents: the folders of all that Parley knows, and others
  /^\.(?:parley|claude|codex|gemini|qwen|opencode|goose|copilot|cline|pi|kimi|vibe|augment|junie|factory)$/,
  /^\.(?:codeium|windsurf|continue|roo|roomodes|kiro|amazonq|kilocode|crush|amp|agents?|openhands|trae|tabnine|zencoder|warp|gptme|cody)$/,
  /^\.(?:cursor|windsurf|cline|roo|kilocode|augment)rules$/,
  /^\.(?:aider(?:\.[a-z.]+)?|goosehints|claude\.json|mcp\.json)$/,
  /^\.?(?:opencode|crush)\.jsonc?$/,
  // continuous integration
  /^\.(?:circleci|gitlab-ci\.ya?ml|gitlab|travis\.ya?ml|woodpecker(?:\.ya?ml)?|drone\.(?:ya?ml|star|jsonnet))$/,
  /^\.(?:gitea|forgejo|gogs|buildkite|semaphore|teamcity|azure-pipelines|cirrus\.(?:ya?ml|star)|builds|build\.yml)$/,
  /^\.?(?:jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|appveyor\.ya?ml|cloudbuild\.(?:ya?ml|json))$/,
  /^(?:buildspec\.ya?ml|codemagic\.yaml|bitrise\.yml|wercker\.yml|screwdriver\.yaml)$/,
  // debuggers, interpreters and build tools
  /^\.(?:gdbinit|lldbinit|pdbrc(?:\.py)?|irbrc|pryrc|rprofile|psqlrc|sqliterc|tmux\.conf|screenrc)$/,
  /^\.(?:ghci|ocamlinit|iex\.exs|erlang|octaverc|pythonrc(?:\.py)?|ipython|perldb|juliarc\.jl)$/,
  /^\.(?:mvn|bazelrc|bazeliskrc|buckconfig(?:\.local)?|pnpmfile\.[cm]?js|bsp|condarc|gemrc)$/,
  /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc)$/,
];

/** The same, for files that a single name does not identify. */
const trustedPath = new RegExp(
  `[\\\\/](?:${[
    "\\.github[\\\\/](?:workflows|actions|hooks|mcp\\.json|extensions|agents)",
    "\\.cargo[\\\\/](?:config(?:\\.toml)?|bin)",
    "\\.config[\\\\/](?:fish|git|mise|direnv)",
    "\\.yarn[\\\\/](?:plugins|releases|sdks)",
    "\\.bundle[\\\\/]config",
  ].join("|")})(?:[\\\\/]|$)`,
);

/** Secrets in folders with other contents. */
const secretPath =
  /[\\/](?:\.docker[\\/]config\.json|\.kube[\\/]config|\.cargo[\\/]credentials(?:\.toml)?|\.config[\\/](?:gcloud|gh[\\/]hosts\.yml))(?:[\\/]|$)/;

/**
 * Whether access to an absolute path always needs approval, in every mode. Secrets, such as `.env` and keys, are protected
 * from reading and writing. What other programs execute or obey, such as git hooks and settings of editors, is protected from
 * writing.
 *
 * @param path The path, with its links resolved.
 * @param own Folders with configuration. Everything in them is protected from reading and writing, but skills may be
 * read. Default: none.
 * @param roots The folders of the workspace. In its projects more names are protected from writing. Default: none.
 * @example
 * import { isProtectedPath } from "@parley/sandbox/paths";
 *
 * console.log(isProtectedPath("/project/.env", "read")); // true
 * console.log(isProtectedPath("/project/src/main.ts", "write", [], ["/project"])); // false
 */
export function isProtectedPath(
  path: string,
  access: "read" | "write",
  own: readonly string[] = [],
  roots: readonly string[] = [],
): boolean {
  // some file systems ignore case
  const folded = fold(path);
  const names = folded.split(/[\\/]/);
  const has = (patterns: readonly RegExp[]) =>
    names.some((name) => patterns.some((pattern) => pattern.test(name)));
  const isOwn = own.some((folder) => isBelow(folded, folder));
  if (isOwn && !(access === "read" && own.some((folder) => isSkill(path, folder)))) return true;
  if (has(secretNames) || secretPath.test(folded)) return access === "write" || !sample.test(folded);
  if (access === "read") return false;
  return has(trustedNames) || trustedPath.test(folded) || isObeyedInProjects(path, roots);
}

/**
 * Whether other programs execute or obey a path, given relative to a workspace: hooks, shell start-up files, settings of
 * editors and agents, CI files. Secrets are not meant.
 */
export function isObeyedPath(relativePath: string): boolean {
  const folded = `/${fold(relativePath)}`;
  return (
    trustedPath.test(folded) ||
    folded.split(/[\\/]/).some((name) => trustedNames.some((pattern) => pattern.test(name)))
  );
}

/** `own` is the config folder, or the folder that it is in. What may be read is compared as it is. */
function isSkill(path: string, own: string): boolean {
  const isPlain = !/[\\/]\.\.(?:[\\/]|$)/.test(path);
  return isPlain && ["skills", "config/skills"].some((name) => path.startsWith(`${own}/${name}/`));
}

function isBelow(folded: string, folder: string): boolean {
  const above = fold(folder);
  return folded === above || folded.startsWith(`${above}/`) || folded.startsWith(`${above}\\`);
}

/** To upper case first, because some letters, such as the long s, equal another one only in upper case. */
function fold(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
