// Stores API keys in a file that only its owner can read. A change by another process takes effect at once.

import { chmodSync, readFileSync, rmSync, statSync } from "node:fs";
import { isObject } from "@parley/acp/jsonrpc";
import { replaceFileSync } from "@parley/acp/node";

/** The API keys in a file. */
export interface CredentialsFile {
  /** The path of the file. */
  readonly path: string;
  /** Returns the key of a provider. */
  key(provider: string): string | undefined;
  /** Changes whenever the file changes. */
  revision(): string;
  /** Stores the key of a provider and replaces an older one. */
  store(provider: string, key: string): void;
  /** Deletes the key of a provider. False when there was none. */
  remove(provider: string): boolean;
}

type Keys = Readonly<Record<string, string>>;

/**
 * Opens a file of API keys that only its owner can read. A change by another process takes effect at once. The file is
 * created with the first key.
 *
 * @example
 * import { credentialsFile } from "@parley/agent/models";
 *
 * const credentials = credentialsFile("/home/me/.config/my-agent/credentials.json");
 * credentials.store("anthropic", process.env["KEY"] ?? "");
 */
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

/** A malformed file counts as empty; the next login overwrites it. */
function read(path: string): Keys {
  try {
    // the file may have been copied with a wider mode
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const keys = isObject(value) && isObject(value["keys"]) ? value["keys"] : {};
    const entries = Object.entries(keys).filter(([, key]) => typeof key === "string");
    return Object.fromEntries(entries) as Keys; // only strings are left
  } catch {
    // an error from JSON.parse would contain keys
    return {};
  }
}

function replace(path: string, keys: Keys): void {
  replaceFileSync(path, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
}
