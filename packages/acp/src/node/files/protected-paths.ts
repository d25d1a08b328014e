// Recognises paths that hold secrets or that other programs execute, which always need approval, in every mode.

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

/** Files that other programs execute or obey: free to read, never written without approval. */
const trustedNames: readonly RegExp[] = [
  /^\.git$/,
  /^\.hg$/,
  /^\.jj$/,
  /^\.gitmodules$/,
  /^\.gitconfig$/,
  /^\.husky$/,
  /^\.(?:bash|zsh|k?sh|fish|tcsh|csh)(?:rc|env|_profile|_login|_logout|_aliases|_history)$/,
  /^\.(?:profile|login|zprofile|zlogin|zlogout|inputrc)$/,
  /^\.(?:vscode|idea|zed|cursor|vim|emacs\.d|devcontainer)$/,
  /^\.(?:claude|codex|gemini|qwen|opencode|goose|copilot|cline|aider\.conf\.yml)$/,
  /^\.(?:windsurf|continue|roo|kiro|amazonq|junie|kilocode)$/,
  /^\.(?:cursor|windsurf|cline|roo)rules$/,
  /^\.(?:circleci|gitlab-ci\.yml|travis\.yml|woodpecker|drone\.yml)$/,
  /^(?:jenkinsfile|azure-pipelines\.yml|bitbucket-pipelines\.yml)$/,
  /^\.(?:vimrc|exrc|nvimrc|emacs|nanorc)$/,
  /^\.dir-locals(?:-2)?\.el$/,
  /^\.(?:gdbinit|lldbinit|pdbrc|irbrc|pryrc|rprofile|psqlrc|sqliterc|tmux\.conf|screenrc|direnvrc)$/,
  /^\.?(?:pre-commit-config\.yaml|lefthook(?:-local)?\.ya?ml)$/,
  /^\.(?:mvn|bazelrc|pnpmfile\.cjs)$/,
  /\.code-workspace$/,
  /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc)$/,
  /^\.mcp\.json$/,
  /^\.parley$/,
];

/** The same, for files that a single name does not identify. */
const trustedPath =
  /[\\/](?:\.github[\\/](?:workflows|actions)|\.cargo[\\/]config(?:\.toml)?|\.config[\\/](?:fish|git)|\.yarn[\\/](?:plugins|releases))(?:[\\/]|$)/;

/** Secrets in folders with other contents. */
const secretPath =
  /[\\/](?:\.docker[\\/]config\.json|\.kube[\\/]config|\.cargo[\\/]credentials(?:\.toml)?|\.config[\\/](?:gcloud|gh[\\/]hosts\.yml))(?:[\\/]|$)/;

/**
 * Whether an absolute path always needs approval. Secrets, and everything below the folders in `own`, are protected
 * from reading and writing; the user's skills there are only protected from writing.
 */
export function isProtectedPath(
  path: string,
  access: "read" | "write",
  own: readonly string[] = [],
): boolean {
  // some file systems ignore case
  const folded = fold(path);
  const names = folded.split(/[\\/]/);
  const has = (patterns: readonly RegExp[]) =>
    names.some((name) => patterns.some((pattern) => pattern.test(name)));
  const isOwn = own.some((folder) => isBelow(folded, folder));
  if (isOwn && !(access === "read" && own.some((folder) => isSkill(path, folder)))) return true;
  if (has(secretNames) || secretPath.test(folded)) return access === "write" || !sample.test(folded);
  return access === "write" && (has(trustedNames) || trustedPath.test(folded));
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
