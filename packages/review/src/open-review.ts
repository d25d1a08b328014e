// Opens a review of some folders.

import { mkdir, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { findProgram } from "@parley/acp/node";
import { defaultLimits, type ReviewLimits } from "./files/source.ts";
import type { Review } from "./ledger/review-types.ts";
import { ReviewSession } from "./review-session.ts";
import { Sources } from "./sources.ts";
import { folderProblem } from "./storage/folder-problem.ts";
import { Parts } from "./storage/parts.ts";
import { openSessionFolder } from "./storage/sessions.ts";

/** The folders that a review covers, and the folder that it stores in. */
export interface ReviewOptions {
  /** The folders that the agent works in, absolute. A folder inside a repository stands for the whole repository. */
  readonly roots: readonly string[];
  /** A folder of ours, absolute, for objects, indexes and contents. It is made if it is missing. */
  readonly stateFolder: string;
  /**
   * The name of the session, unique in its first root. Its turns are stored: opened again under this name, in another
   * process too, earlier turns can be seen and undone. Without a name, the turns live as long as the review.
   */
  readonly session?: string;
  /** Bounds of what is stored. */
  readonly limits?: Partial<ReviewLimits>;
  /** Where git and the user's settings are found. `process.env` unless set. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Opens a review: what an agent changes in folders from now on can be seen and undone, hunk by hunk. Nothing of the workspace
 * is run: no hooks, no filters, no settings of the repository.
 *
 * @param options - The folders, and where to store.
 * @throws {TypeError} When a path is not absolute, or there is no root.
 * @throws {Error} When nothing can be stored in `stateFolder`. The message says why and what to do.
 * @example
 * ```ts
 * import { mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openReview } from "@parley/review";
 *
 * const folder = await mkdtemp(join(tmpdir(), "review-"));
 * await using review = await openReview({ roots: [folder], stateFolder: await mkdtemp(join(tmpdir(), "home-")) });
 * await review.beginTurn("say hello");
 * await writeFile(join(folder, "hello.txt"), "hello\n");
 * const { changes } = await review.endTurn();
 * console.log(`${changes.files.length} files +${changes.added} -${changes.removed}`);
 * const undone = await review.undo({ turn: 1 });
 * console.log(undone.files.map(({ outcome }) => outcome)); // undone
 * await review.redo(undone);
 * ```
 */
export async function openReview(options: ReviewOptions): Promise<Review> {
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(reviewKeys, key));
  if (unknown !== undefined) {
    const known = Object.keys(reviewKeys).join(", ");
    throw new TypeError(`openReview: there is no option ${unknown}; the options are ${known}`);
  }
  const { env = process.env } = options;
  for (const path of [...options.roots, options.stateFolder]) {
    if (!isAbsolute(path)) throw new TypeError(`wanted an absolute path, got ${JSON.stringify(path)}`);
  }
  if (options.roots.length === 0)
    throw new TypeError("roots is empty; give the folder that the agent works in");
  const limits = { ...defaultLimits, ...options.limits };
  const roots = [...new Set(await Promise.all(options.roots.map((root) => realpath(root))))];
  const { home, folder } = await openFolder(options, roots, limits.storedBytes).catch((error: unknown) => {
    throw folderProblem(options.stateFolder, error);
  });
  const ending = new AbortController();
  const sources = new Sources({
    roots,
    folder: folder.path,
    home,
    git: findProgram("git", { path: env["PATH"] ?? "", outside: options.roots }),
    limits,
    env,
    signal: ending.signal,
  });
  await sources.open();
  const isNamed = options.session !== undefined && !folder.isBusy;
  const parts = isNamed ? new Parts(join(folder.path, "turns"), limits.turnBytes) : undefined;
  const session = new ReviewSession({ sources, folder, parts, ending });
  await session.restore();
  return session;
}

async function openFolder(options: ReviewOptions, roots: readonly string[], storedBytes: number) {
  await mkdir(options.stateFolder, { recursive: true, mode: 0o700 });
  const home = await realpath(options.stateFolder);
  return { home, folder: await openSessionFolder({ home, roots, session: options.session, storedBytes }) };
}

/** This package knows no protocol, so it does not import the check of the others. */
const reviewKeys: Readonly<Record<keyof ReviewOptions, true>> = {
  roots: true,
  stateFolder: true,
  session: true,
  limits: true,
  env: true,
};
