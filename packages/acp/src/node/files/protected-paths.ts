// Paths where one write can take over the machine or one read can give a secret away. Agents and clients ask about
// them in every mode, whatever was allowed before, also where they do not exist yet.

/** Secrets: not even read without asking. Matched on every name of a path. */
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

/** Made to be shared, and read by everybody who sets a project up. */
const sample = /\.(?:example|sample|template|dist)$/;

/** What is run or obeyed by others later: read freely, never written without asking. */
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

/** What others run, that one name does not tell. */
const trustedPath =
  /[\\/](?:\.github[\\/](?:workflows|actions)|\.cargo[\\/]config(?:\.toml)?|\.config[\\/](?:fish|git)|\.yarn[\\/](?:plugins|releases))(?:[\\/]|$)/;

/** Secrets in folders that hold other things too. */
const secretPath =
  /[\\/](?:\.docker[\\/]config\.json|\.kube[\\/]config|\.cargo[\\/]credentials(?:\.toml)?|\.config[\\/](?:gcloud|gh[\\/]hosts\.yml))(?:[\\/]|$)/;

/**
 * Whether a path, absolute, is asked about whatever the mode. Secrets are protected from both kinds of access, and so
 * is everything below the folders that are one's own.
 */
export function isProtectedPath(
  path: string,
  access: "read" | "write",
  own: readonly string[] = [],
): boolean {
  // Some file systems do not tell case apart; a question too many is better than one too few.
  const folded = fold(path);
  const names = folded.split(/[\\/]/);
  const has = (patterns: readonly RegExp[]) =>
    names.some((name) => patterns.some((pattern) => pattern.test(name)));
  if (own.some((folder) => isBelow(folded, folder))) return true;
  if (has(secretNames) || secretPath.test(folded)) return access === "write" || !sample.test(folded);
  return access === "write" && (has(trustedNames) || trustedPath.test(folded));
}

function isBelow(folded: string, folder: string): boolean {
  const above = fold(folder);
  return folded === above || folded.startsWith(`${above}/`) || folded.startsWith(`${above}\\`);
}

/** Twice, since some letters are the same only in capitals: a long s is an s to some file systems. */
function fold(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
