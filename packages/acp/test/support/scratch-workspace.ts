// A workspace in a temporary directory, with files outside that must not be touched.

import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { RequestError } from "../../src/jsonrpc/errors.ts";
import {
  canUseDescriptors,
  type DirectoryAccess,
  descriptorAccess,
  portableAccess,
} from "../../src/node/files/directory-access.ts";
import { type LocalFiles, type LocalFilesOptions, localFilesWith } from "../../src/node/files/local-files.ts";

/** Both promise the same as long as nobody else moves things about. */
export const descents: readonly (readonly [string, DirectoryAccess])[] = [
  ...(canUseDescriptors() ? ([["descriptors", descriptorAccess]] as const) : []),
  ["names", portableAccess],
];

export const secret = "not for the agent\n";

export interface Scratch {
  readonly files: LocalFiles;
  /** `base/w`, the root. */
  readonly root: string;
  /** `base/outside`, with the file `secret`. */
  readonly outside: string;
  /** Absolute, below the root. */
  at(path: string): string;
  /** Writes a file directly, with the directories it needs, and returns its path. */
  put(path: string, content: string | Uint8Array): string;
  /** Reads a file directly. */
  get(path: string): string;
  /** Everything below the root, sorted. */
  list(): string[];
}

export function scratch(
  t: TestContext,
  access: DirectoryAccess,
  options: Partial<LocalFilesOptions> = {},
): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-files-")));
  const root = join(base, "w");
  const outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), secret);
  const files = localFilesWith(access, { roots: [root], ...options });
  t.after(async () => {
    await files.close();
    try {
      // Whatever the test did: nothing outside has changed, and no temporary file is left.
      assert.deepEqual(readdirSync(outside), ["secret"]);
      assert.equal(readFileSync(join(outside, "secret"), "utf8"), secret);
      assert.deepEqual(
        list().filter((name) => name.includes(".parley-")),
        [],
      );
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
  const at = (path: string) => join(root, path);
  const list = () => below(root).sort();
  return {
    files,
    root,
    outside,
    at,
    list,
    put(path, content) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    get: (path) => readFileSync(at(path), "utf8"),
  };
}

/** Not `recursive: true`: that follows links, also to /proc. */
function below(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    return [entry.name, ...below(join(directory, entry.name)).map((path) => join(entry.name, path))];
  });
}

/** Awaits a rejection and returns what a peer would see of it. */
export async function refusal(work: Promise<unknown>) {
  const error: unknown = await work.then(
    () => assert.fail("it was accepted"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof RequestError)) throw error;
  // Every RequestError of this folder has this data.
  const data = error.data as { readonly reason: string; readonly file?: string };
  return { code: error.code, message: error.message, reason: data.reason, file: data.file };
}
