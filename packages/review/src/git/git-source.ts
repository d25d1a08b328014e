// Snapshots of a repository at both ends of a turn: a copy of the user's index, brought up to date. What the second update
// changes in it is what the turn changed.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type FolderChanges, type ReviewLimits, type Source, shownList } from "../files/source.ts";
import { type BytePath, type Hash, shownPath } from "../files/version.ts";
import { firstLook } from "./first-look.ts";
import { type Blob, entriesOf, indexChanges, noBlob } from "./index-changes.ts";
import { LeftOut } from "./left-out.ts";
import { type Obstacle, obstacleAt, obstacleIn, searchObstacle } from "./obstacles.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { headCommit } from "./repository.ts";
import { GitError, GitTimeout, runGit, zeroSeparated } from "./run-git.ts";

/** How often a snapshot starts again when files vanish under it. */
const attempts = 3;

/** The start of a turn. */
interface Begin {
  readonly head: string | undefined;
  /** What our index had where it was changed since. */
  readonly before: Map<BytePath, Blob>;
}

export class GitSource implements Source {
  readonly root: string;
  readonly hash: Hash;
  readonly #dir: PrivateGitDir;
  readonly #mayConvert: boolean;
  readonly #limits: ReviewLimits;
  readonly #leftOut: LeftOut;
  readonly #looksForNew: boolean;
  /** Untracked files that our index has. */
  readonly #added = new Set<BytePath>();
  readonly #nested = new Set<string>();
  /** Folders of files that our index has. */
  readonly #folders = new Set<BytePath>();
  /** Why git is not started any more: it waited too long, for this if it is known. */
  #stopped: { readonly obstacle: Obstacle | undefined; readonly why: string } | undefined;
  #isPrepared = false;
  /** The user's index that ours knows. */
  #seenIndex = "";
  #begin: Begin | undefined;

  constructor(
    dir: PrivateGitDir,
    {
      mayConvert,
      limits,
      looksForNew,
      ours,
    }: {
      readonly mayConvert: boolean;
      readonly limits: ReviewLimits;
      /** Whether untracked files are covered. Not in a home folder. */
      readonly looksForNew: boolean;
      /** Our own folder, if it is inside. */
      readonly ours: string | undefined;
    },
  ) {
    this.root = dir.repository.worktree;
    this.hash = dir.hash;
    this.#dir = dir;
    this.#mayConvert = mayConvert;
    this.#limits = limits;
    this.#leftOut = new LeftOut(this.root, limits);
    this.#looksForNew = looksForNew;
    if (ours !== undefined) this.#leftOut.addFolder(`${Buffer.from(ours).toString("latin1")}/`);
  }

  get notCovered(): readonly string[] {
    return this.#leftOut.sentences();
  }

  get nested(): readonly string[] {
    return [...this.#nested].map((path) => join(this.root, shownPath(path)));
  }

  async begin(): Promise<void> {
    const head = await headCommit(this.#dir.repository);
    await this.#snapshot(new Map());
    this.#begin = { head, before: new Map() };
  }

  async end(): Promise<FolderChanges> {
    const begin = this.#begin;
    this.#begin = undefined;
    if (begin === undefined) return { files: [], notes: [] };
    const head = await headCommit(this.#dir.repository);
    await this.#snapshot(begin.before);
    const files = await indexChanges(this.#dir, begin.before);
    return {
      files: files.filter(({ path }) => !this.#leftOut.has(path)),
      notes: await this.#headNotes(begin.head, head),
    };
  }

  async covers(path: BytePath): Promise<boolean> {
    if (this.#leftOut.has(path) || !this.#looksForNew) return false;
    if (path === ".git" || path.startsWith(".git/")) return false;
    if ((await this.#reasonToWait()) !== undefined) return false;
    // it says nothing about a path that is not ignored, and does not know literal paths
    const { env, ...command } = this.#dir.command();
    const input = `./${path}\0`;
    const options = { input, okCodes: [0, 1] };
    const asked = { ...command, env: { ...env, GIT_LITERAL_PATHSPECS: "0" } };
    const args = ["check-ignore", "-z", "--stdin"];
    const output = await runGit(asked, args, options).catch((error: unknown) => this.#noteWait(error));
    return output?.length === 0;
  }

  content(id: string): Promise<Buffer> {
    return this.#dir.run(["cat-file", "blob", id]);
  }

  /** `before` gets what our index had where it is changed. */
  async #snapshot(before: Map<BytePath, Blob>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const why = await this.#reasonToWait();
      if (why !== undefined) throw new Error(why);
      try {
        await this.#update(before);
        return;
      } catch (error) {
        await this.#dir.unlock();
        if (error instanceof GitTimeout) await this.#noteWait(error);
        else if (!(error instanceof GitError) || attempt === attempts) throw error;
      }
    }
  }

  /** Why git would not end, as far as it can be seen before it starts. */
  async #reasonToWait(): Promise<string | undefined> {
    const { obstacle, why } = this.#stopped ?? {};
    if (obstacle === undefined && why !== undefined) return why;
    const found =
      (obstacle === undefined ? undefined : obstacleAt(obstacle.path)) ??
      (await obstacleIn(this.#dir.repository, this.#folders));
    if (found === undefined) this.#stopped = undefined;
    return found === undefined ? undefined : sentenceOf(found);
  }

  /** A git that took too long is not started again while its reason is there. */
  async #noteWait(error: unknown): Promise<undefined> {
    if (!(error instanceof GitTimeout)) return undefined;
    this.#stopped = { obstacle: await searchObstacle(this.root), why: error.message };
    return undefined;
  }

  #addFolders(paths: Iterable<BytePath>): void {
    for (const path of paths) {
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        const folder = path.slice(0, end);
        if (this.#folders.has(folder)) break;
        this.#folders.add(folder);
      }
    }
  }

  /** Brings the index up to date. */
  async #update(before: Map<BytePath, Blob>): Promise<void> {
    await this.#dir.copyExcludes();
    const seen = await this.#indexStamp();
    const forced = this.#isPrepared && seen !== this.#seenIndex ? await this.#forcedPaths() : [];
    if (!this.#isPrepared) await this.#prepare();
    this.#seenIndex = seen;
    const { changed, untracked } = await this.#look();
    const known = await this.#leftOut.storable([...changed.keys(), ...forced], this.#limits.trackedFileBytes);
    const fitting = await this.#leftOut.storable(untracked, this.#limits.untrackedFileBytes);
    const fresh = this.#leftOut.thin(fitting, this.#added.size);
    const grown = [...changed.keys()].filter((path) => this.#added.has(path));
    await this.#leftOut.storable(grown, this.#limits.untrackedFileBytes);
    const paths = [...known, ...fresh].filter((path) => !this.#leftOut.has(path));
    const had = await entriesOf(this.#dir, forced);
    for (const path of paths) {
      if (!before.has(path)) before.set(path, changed.get(path) ?? had.get(path) ?? noBlob);
    }
    if (paths.length > 0) {
      const args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
      await this.#dir.run(args, { input: paths.map((path) => `${path}\0`).join("") });
    }
    for (const path of fresh) this.#added.add(path);
    this.#addFolders(fresh);
  }

  async #prepare(): Promise<void> {
    if (await this.#dir.copyIndex()) {
      const look = await firstLook(this.#dir, this.#mayConvert, this.#limits.untrackedFileBytes);
      for (const path of look.nested) this.#addNested(path);
      this.#addFolders(look.paths);
      for (const path of look.large) {
        const found = await stat(join(this.root, shownPath(path))).catch(() => undefined);
        this.#leftOut.addLarge(path, found?.size ?? 0);
      }
    }
    await this.#dir.closeAttributes();
    this.#isPrepared = true;
  }

  #addNested(path: BytePath): void {
    this.#nested.add(path);
    this.#leftOut.addFolder(`${path}/`);
  }

  async #indexStamp(): Promise<string> {
    const found = await stat(join(this.#dir.repository.gitDir, "index"), { bigint: true }).catch(
      () => undefined,
    );
    return found === undefined ? "" : `${found.ino} ${found.mtimeNs} ${found.size}`;
  }

  /** Files that the user tracks although they are ignored: nothing else would find those that are tracked since. */
  async #forcedPaths(): Promise<BytePath[]> {
    if (!(await this.#dir.copyIndex("theirs"))) return [];
    const args = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
    return zeroSeparated(await runGit(this.#dir.command("theirs"), args));
  }

  /** Files that may differ from the index, with what it has, and files that it does not have. Together as `git status`. */
  async #look(): Promise<{ changed: Map<BytePath, Blob>; untracked: BytePath[] }> {
    const diff = ["diff-files", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all"];
    const others = ["ls-files", "-z", "--others", "--exclude-standard"];
    const [differing, unknown] = await Promise.all([
      this.#dir.run(diff),
      this.#looksForNew ? this.#dir.run(others) : Buffer.alloc(0),
    ]);
    const changed = new Map<BytePath, Blob>();
    const parts = zeroSeparated(differing);
    // `:mode mode id id STATUS NUL path NUL`
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const [mode = "", , id = ""] = (parts[i] ?? "").slice(1).split(" ");
      changed.set(parts[i + 1] ?? "", { mode, id });
    }
    const untracked: BytePath[] = [];
    for (const path of zeroSeparated(unknown)) {
      if (path.endsWith("/")) this.#addNested(path.slice(0, -1));
      else untracked.push(path);
    }
    return { changed, untracked };
  }

  async #headNotes(before: string | undefined, after: string | undefined): Promise<string[]> {
    if (before === after || after === undefined) return [];
    const range = before === undefined ? [after] : [`${before}..${after}`];
    const args = ["log", "--no-show-signature", "--format=%h %s", "--max-count=50", ...range, "--"];
    const lines = (await this.#dir.run(args).catch(() => Buffer.alloc(0)))
      .toString("utf8")
      .split("\n")
      .filter(Boolean);
    const moved = `${this.root}: HEAD moved${before === undefined ? "" : ` from ${before.slice(0, 9)}`} to ${after.slice(0, 9)}.`;
    if (lines.length === 0) return [`${moved} Undo does not move it back.`];
    const what = lines.length === 1 ? "This commit stays" : "These commits stay";
    return [`${moved} Undo does not take back commits. ${what}: ${shownList(lines)}.`];
  }
}

function sentenceOf({ path, what }: Obstacle): string {
  return `${path} is ${what}, and git would wait for it; remove it`;
}
