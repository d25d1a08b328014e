// The keys that a user has stored by logging in: one file that only its owner can read. Read anew when it has changed, so
// that a login in a terminal counts in an agent that runs. Synchronous, since the library asks in the order of requests.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

export interface CredentialsFile {
  readonly path: string;
  key(provider: string): string | undefined;
  /** Another one after each change, whoever made it. */
  revision(): string;
  store(provider: string, key: string): void;
  /** Whether there was one. */
  remove(provider: string): boolean;
}

type Keys = Readonly<Record<string, string>>;

export function credentialsFile(path: string): CredentialsFile {
  let known: { readonly revision: string; readonly keys: Keys } = { revision: "none", keys: {} };
  const current = (): Keys => {
    const revision = revisionOf(path);
    if (revision !== known.revision) known = { revision, keys: revision === "none" ? {} : read(path) };
    return known.keys;
  };
  return {
    path,
    key: (provider) => (Object.hasOwn(current(), provider) ? current()[provider] : undefined),
    revision: () => revisionOf(path),
    store: (provider, key) => replace(path, { ...current(), [provider]: key }),
    remove(provider) {
      const { [provider]: removed, ...others } = current();
      if (removed === undefined) return false;
      if (Object.keys(others).length === 0) rmSync(path, { force: true });
      else replace(path, others);
      return true;
    },
  };
}

function revisionOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "none" : `${stat.ino}/${stat.size}/${stat.mtimeNs}`;
}

/** A file that cannot be understood has no keys: the next login writes it anew. */
function read(path: string): Keys {
  try {
    // somebody may have copied it with a wider mode
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const keys: unknown = typeof value === "object" && value !== null && "keys" in value ? value.keys : {};
    const entries = typeof keys === "object" && keys !== null ? Object.entries(keys) : [];
    return Object.fromEntries(entries.filter(([, key]) => typeof key === "string"));
  } catch {
    // the error of JSON.parse would repeat what is in the file
    return {};
  }
}

/** Whole or not at all, and never readable for others, not even for a moment. */
function replace(path: string, keys: Keys): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}
