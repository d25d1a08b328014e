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
  /^\.(?:circleci|gitlab-ci\.yml|travis\.yml|woodpecker|drone\.yml)$/,
  /^(?:jenkinsfile|azure-pipelines\.yml|bitbucket-pipelines\.yml)$/,
  /^\.(?:vimrc|exrc|nvimrc|emacs|nanorc)$/,
  /^\.dir-locals(?:-2)?\.el$/,
  /\.code-workspace$/,
  /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc)$/,
  /^\.mcp\.json$/,
  /^\.parley$/,
];

/** What others run, that one name does not tell. */
const trustedPath = /[\\/]\.github[\\/](?:workflows|actions)(?:[\\/]|$)/;

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
  const folded = path.normalize("NFC").toLowerCase();
  const names = folded.split(/[\\/]/);
  const has = (patterns: readonly RegExp[]) =>
    names.some((name) => patterns.some((pattern) => pattern.test(name)));
  if (own.some((folder) => isBelow(folded, folder))) return true;
  if (has(secretNames)) return access === "write" || !sample.test(folded);
  return access === "write" && (has(trustedNames) || trustedPath.test(folded));
}

function isBelow(folded: string, folder: string): boolean {
  const above = folder.normalize("NFC").toLowerCase();
  return folded === above || folded.startsWith(`${above}/`) || folded.startsWith(`${above}\\`);
}
