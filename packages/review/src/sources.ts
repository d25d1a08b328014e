// Everything that a review watches: repositories, those nested in them, other folders, ignored files by name.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import type { ReviewLimits, Source } from "./files/source.ts";
import type { BytePath } from "./files/version.ts";
import { GitSource } from "./git/git-source.ts";
import { makePrivateGitDir } from "./git/private-git-dir.ts";
import { findRepository, isBareRepository, type Repository, repositoryAt } from "./git/repository.ts";
import { ContentStore } from "./manifest/content-store.ts";
import { FolderFiles, ProtectedFiles } from "./manifest/folder-files.ts";
import { ManifestSource } from "./manifest/manifest-source.ts";

/** Repositories inside others, at most. */
const maxRepositories = 100;

/** What sources are made from. */
export interface Ground {
  readonly roots: readonly string[];
  /** The folder of the session. */
  readonly folder: string;
  /** Our whole folder, which is not looked at. */
  readonly home: string;
  /** The program, if there is one. */
  readonly git: string | undefined;
  readonly limits: ReviewLimits;
  readonly env: NodeJS.ProcessEnv;
  /** Ends git where it runs. */
  readonly signal: AbortSignal;
}

/** Ignored files of one root that were asked for by name. */
export class ProtectedSource {
  readonly source: ManifestSource;
  readonly #files = new ProtectedFiles();

  constructor(root: string, store: ContentStore, limits: ReviewLimits) {
    this.source = new ManifestSource(root, this.#files, store, limits);
  }

  /** Says whether the file can be restored. */
  protect(path: BytePath, isRunning: boolean): Promise<boolean> {
    this.#files.add(path);
    return this.source.lookBefore(path, isRunning);
  }
}

export class Sources {
  readonly #ground: Ground;
  readonly #watched: Source[] = [];
  readonly #protected = new Map<string, ProtectedSource>();
  readonly #store: ContentStore;
  readonly #sentences: string[] = [];
  readonly #known = new Set<string>();

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#store = new ContentStore(join(ground.folder, "contents"), ground.limits.contentBytes);
  }

  get roots(): readonly string[] {
    return this.#ground.roots;
  }

  /** Folders and repositories. */
  get watched(): readonly Source[] {
    return this.#watched;
  }

  get all(): readonly Source[] {
    return [...this.#watched, ...Array.from(this.#protected.values(), ({ source }) => source)];
  }

  get notCovered(): readonly string[] {
    return [...this.#sentences, ...this.#watched.flatMap(({ notCovered }) => notCovered)];
  }

  /** A content that a source of this folder keeps, in this process or in an earlier one. */
  async content(root: string, id: string): Promise<Buffer> {
    for (const source of this.all) {
      if (source.root !== root) continue;
      const found = await source.content(id).catch(() => undefined);
      if (found !== undefined) return found;
    }
    throw new Error("its earlier content is not kept any more");
  }

  protectedFilesOf(root: string): ProtectedSource {
    const found = this.#protected.get(root) ?? new ProtectedSource(root, this.#store, this.#ground.limits);
    this.#protected.set(root, found);
    return found;
  }

  async open(): Promise<void> {
    for (const root of this.#ground.roots) await this.#openRoot(root);
    if (this.#watched.some((source) => source instanceof GitSource)) {
      this.#sentences.push("Ignored files are covered only if the agent names them before it writes them.");
    }
  }

  /** Visits all sources, and those of repositories that are found on the way. Gives the new ones. */
  async visit(visit: (source: Source) => Promise<unknown>): Promise<Source[]> {
    const fresh: Source[] = [];
    let next: readonly Source[] = this.all;
    while (next.length > 0) {
      await Promise.all(next.map(visit));
      const found: Source[] = [];
      for (const folder of next.flatMap(({ nested }) => nested)) {
        const source = await this.#openNested(folder);
        if (source !== undefined) found.push(source);
      }
      fresh.push(...found);
      next = found;
    }
    return fresh;
  }

  async #openRoot(root: string): Promise<void> {
    const { git, limits, home } = this.#ground;
    const found = await findRepository(root);
    const isHomes = found !== undefined && this.#holdsHomes(found.worktree) && found.worktree !== root;
    const repository = isHomes ? undefined : found;
    if (repository !== undefined && git !== undefined) {
      await this.#openRepository(repository, git);
      return;
    }
    if (repository !== undefined)
      this.#sentences.push("git is not installed, so repositories are read like other folders.");
    if (await isBareRepository(root)) {
      this.#sentences.push(`${root} is a repository without working tree. It is not covered.`);
    } else if (this.#holdsHomes(root)) {
      this.#sentences.push(
        `${root} is not covered: it is a home folder, or holds one. Work in a folder of a project.`,
      );
    } else if (!this.#known.has(root)) {
      this.#known.add(root);
      const own = home.startsWith(`${root}${sep}`) ? home : undefined;
      this.#watched.push(new ManifestSource(root, new FolderFiles(root, limits, own), this.#store, limits));
    }
  }

  async #openNested(folder: string): Promise<Source | undefined> {
    const { git } = this.#ground;
    if (git === undefined || this.#known.has(folder)) return undefined;
    const repository = await repositoryAt(folder);
    if (repository === undefined) return undefined;
    if (this.#known.size < maxRepositories) return this.#openRepository(repository, git);
    this.#known.add(folder);
    this.#sentences.push(`${folder} is not covered: there are more than ${maxRepositories} repositories.`);
    return undefined;
  }

  async #openRepository(repository: Repository, git: string): Promise<Source | undefined> {
    const { worktree } = repository;
    if (this.#known.has(worktree)) return undefined;
    this.#known.add(worktree);
    const { folder, limits, env, home, signal } = this.#ground;
    const looksForNew = !this.#holdsHomes(worktree);
    if (!looksForNew)
      this.#sentences.push(
        `${worktree}: only tracked files are covered, because it is a home folder or holds one.`,
      );
    try {
      // the same name in each process that opens the session
      const name = createHash("sha256").update(worktree).digest("hex").slice(0, 16);
      const own = join(folder, `repository-${name}`);
      const { dir, mayConvert } = await makePrivateGitDir(own, repository, git, { env, signal });
      const ours = home.startsWith(`${worktree}${sep}`) ? home.slice(worktree.length + 1) : undefined;
      const source = new GitSource(dir, { mayConvert, limits, looksForNew, ours });
      this.#watched.push(source);
      return source;
    } catch (error) {
      this.#sentences.push(
        `${worktree} is not covered: ${error instanceof Error ? error.message : String(error)}.`,
      );
      return undefined;
    }
  }

  /** A home folder, or a folder that one is in. */
  #holdsHomes(folder: string): boolean {
    const homes = [homedir(), this.#ground.env["HOME"] ?? homedir()];
    const prefix = folder.endsWith(sep) ? folder : `${folder}${sep}`;
    return homes.some((home) => `${home}${sep}`.startsWith(prefix));
  }
}
