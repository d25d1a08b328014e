// Paths where one write can take over the machine or one read can give a secret away. They are asked about in
// every mode, whatever was allowed before.

import { homedir } from "node:os";
import { join } from "node:path";

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
  /^\.(?:vimrc|exrc|nvimrc|emacs|nanorc)$/,
  /^\.dir-locals(?:-2)?\.el$/,
  /\.code-workspace$/,
  /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc)$/,
  /^\.mcp\.json$/,
  /^\.parley$/,
];

/** Whether a path, absolute, is asked about whatever the mode. `access`: secrets are protected from both. */
export function isProtected(path: string, access: "read" | "write"): boolean {
  // Some file systems do not tell case apart; a question too many is better than one too few.
  const folded = path.normalize("NFC").toLowerCase();
  const names = folded.split(/[\\/]/);
  const has = (patterns: readonly RegExp[]) =>
    names.some((name) => patterns.some((pattern) => pattern.test(name)));
  if (isOwn(folded)) return true;
  if (has(secretNames)) return access === "write" || !sample.test(folded);
  return access === "write" && has(trustedNames);
}

/** The configuration of this agent, with its keys and its rules. */
function isOwn(folded: string): boolean {
  return ownDirectories().some((directory) => {
    const own = directory.normalize("NFC").toLowerCase();
    return folded === own || folded.startsWith(`${own}/`) || folded.startsWith(`${own}\\`);
  });
}

function ownDirectories(): string[] {
  const { PARLEY_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME } = process.env;
  if (PARLEY_HOME !== undefined && PARLEY_HOME !== "") return [PARLEY_HOME];
  const home = homedir();
  return [
    XDG_CONFIG_HOME || join(home, ".config"),
    XDG_DATA_HOME || join(home, ".local", "share"),
    XDG_STATE_HOME || join(home, ".local", "state"),
  ].map((directory) => join(directory, "parley"));
}
