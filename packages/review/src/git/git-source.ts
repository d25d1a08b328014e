// Snapshots of a repository at both ends of a turn: a copy of the user's index, brought up to date, as a tree.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type FolderChanges, type ReviewLimits, type Source, shownList } from "../files/source.ts";
import { type BytePath, type Hash, shownPath } from "../files/version.ts";
import { firstLook } from "./first-look.ts";
import { LeftOut } from "./left-out.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { headCommit } from "./repository.ts";
import { GitError, runGit, zeroSeparated } from "./run-git.ts";
import { treeChanges } from "./tree-changes.ts";

/** How often a snapshot starts again when files vanish under it. */
const attempts = 3;

interface Point {
  readonly tree: string;
  readonly head: string | undefined;
  /** The rest of the work for the next snapshot. */
  readonly settled: Promise<void>;
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
  #isPrepared = false;
  /** The user's index that ours knows. */
  #seenIndex = "";
  /** The tree of our index, if it is known. */
  #tree: string | undefined;
  #begin: Point | undefined;

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
    const point = await this.#snapshot();
    await point.settled;
    this.#begin = point;
  }

  async end(): Promise<FolderChanges> {
    const begin = this.#begin;
    this.#begin = undefined;
    if (begin === undefined) return { files: [], notes: [] };
    const end = await this.#snapshot();
    const isCovered = (path: BytePath) => !this.#leftOut.has(path);
    const [files] = await Promise.all([
      treeChanges(this.#dir, [begin.tree, end.tree], isCovered),
      end.settled,
    ]);
    return { files, notes: await this.#headNotes(begin.head, end.head) };
  }

  async covers(path: BytePath): Promise<boolean> {
    if (this.#leftOut.has(path) || !this.#looksForNew) return false;
    if (path === ".git" || path.startsWith(".git/")) return false;
    // it says nothing about a path that is not ignored, and does not know literal paths
    const { env, ...command } = this.#dir.command();
    const input = `./${path}\0`;
    const options = { input, okCodes: [0, 1] };
    const asked = { ...command, env: { ...env, GIT_LITERAL_PATHSPECS: "0" } };
    const output = await runGit(asked, ["check-ignore", "-z", "--stdin"], options).catch(() => undefined);
    return output?.length === 0;
  }

  content(id: string): Promise<Buffer> {
    return this.#dir.run(["cat-file", "blob", id]);
  }

  async #snapshot(): Promise<Point> {
    const head = await headCommit(this.#dir.repository);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const isChanged = await this.#update();
        if (!isChanged && this.#tree !== undefined)
          return { tree: this.#tree, head, settled: Promise.resolve() };
        const tree = (await this.#dir.run(["write-tree"])).toString("latin1").trim();
        this.#tree = tree;
        // without it the next look is slower, but not wrong
        return { tree, head, settled: this.#dir.setHead(tree).catch(() => undefined) };
      } catch (error) {
        if (!(error instanceof GitError) || attempt === attempts) throw error;
        await this.#dir.unlock();
      }
    }
  }

  /** Brings the index up to date. Says whether it changed. */
  async #update(): Promise<boolean> {
    await this.#dir.copyExcludes();
    const seen = await this.#indexStamp();
    const forced = this.#isPrepared && seen !== this.#seenIndex ? await this.#forcedPaths() : [];
    if (!this.#isPrepared) await this.#prepare();
    this.#seenIndex = seen;
    const { changed, untracked } = await this.#look();
    const known = await this.#leftOut.storable([...changed, ...forced], this.#limits.trackedFileBytes);
    const fitting = await this.#leftOut.storable(untracked, this.#limits.untrackedFileBytes);
    const fresh = this.#leftOut.thin(fitting, this.#added.size);
    const grown = changed.filter((path) => this.#added.has(path));
    await this.#leftOut.storable(grown, this.#limits.untrackedFileBytes);
    const paths = [...known, ...fresh].filter((path) => !this.#leftOut.has(path));
    if (paths.length > 0) {
      const args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
      this.#tree = undefined;
      await this.#dir.run(args, { input: paths.map((path) => `${path}\0`).join("") });
    }
    for (const path of fresh) this.#added.add(path);
    return paths.length > 0;
  }

  async #prepare(): Promise<void> {
    if (await this.#dir.copyIndex()) {
      const look = await firstLook(this.#dir, this.#mayConvert, this.#limits.untrackedFileBytes);
      for (const path of look.nested) this.#addNested(path);
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

  /** Files that differ from the index, and files that it does not have. `XY path` each: Y is about the file. */
  async #look(): Promise<{ changed: BytePath[]; untracked: BytePath[] }> {
    const others = `--untracked-files=${this.#looksForNew ? "all" : "no"}`;
    const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", others];
    const changed: BytePath[] = [];
    const untracked: BytePath[] = [];
    for (const line of zeroSeparated(await this.#dir.run(args))) {
      const path = line.slice(3);
      if (!line.startsWith("?")) {
        if (line[1] !== " ") changed.push(path);
      } else if (path.endsWith("/")) this.#addNested(path.slice(0, -1));
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
