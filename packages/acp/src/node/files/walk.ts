// Resolves a path from an open root, one name at a time, and follows links only below the roots.

import { mkdirSync, readlinkSync } from "node:fs";
import type { DirectoryAccess, Handle, OpenedRoot } from "./directory-access.ts";
import { fileError, quotedPath, systemCode } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { type Location, pathFrom, type Roots } from "./roots.ts";

/** The same as on Linux. */
const maxLinks = 40;
/** Names per path, links included: bounds the time for a hostile tree of links. */
const maxSteps = 4096;

/** The result of a walk. Must be closed. */
export interface ResolvedPath {
  readonly root: OpenedRoot;
  readonly directory: Handle;
  /** The name in the directory; empty when the path is the directory itself, such as a root. */
  readonly name: string;
  /** The entry, or undefined when there is none. A link only with `keepLink`. */
  readonly entry: Handle | undefined;
  /** Whether the missing name came from a link, not from the caller. */
  readonly dangling: boolean;
  /** The path without links. */
  readonly canonical: string;
  close(): void;
}

export interface WalkOptions {
  /** Creates missing directories, but never those that a link names. */
  readonly makeDirectories?: boolean;
  /** Does not follow a link at the end of the path, to remove or move it. */
  readonly keepLink?: boolean;
  /** False makes a link a conflict, for a path that was resolved before. */
  readonly followLinks?: boolean | undefined;
}

export class Walk {
  readonly #roots: Roots;
  readonly #access: DirectoryAccess;
  readonly #path: FilePath;
  #root: OpenedRoot;
  #here: Handle;
  /** The names from the root to here, without links. */
  #walked: string[] = [];
  #pending: readonly string[];
  /** How many of the pending names come from links. */
  #linked = 0;
  #links = 0;

  constructor(roots: Roots, access: DirectoryAccess, path: FilePath) {
    this.#roots = roots;
    this.#access = access;
    this.#path = path;
    const location = roots.locate(path.names);
    if (location === undefined) throw roots.outside(path.text);
    this.#root = location.root;
    this.#here = location.root.handle;
    this.#pending = location.rest;
  }

  toEnd(options: WalkOptions = {}): ResolvedPath {
    try {
      for (let step = 0; step < maxSteps; step += 1) {
        const resolved = this.#step(options);
        if (resolved !== undefined) return resolved;
      }
      const message = `${quotedPath(this.#path.text)} takes more than ${maxSteps} steps through links to resolve`;
      throw fileError("limit_exceeded", message, this.#path.text);
    } catch (error) {
      this.#leaveHere();
      throw error;
    }
  }

  #step({
    makeDirectories = false,
    keepLink = false,
    followLinks = true,
  }: WalkOptions): ResolvedPath | undefined {
    const name = this.#pending[0];
    if (name === undefined) return this.#resolved("", this.#here);
    // only from links: means the parent directory, as for the system
    if (name === "..") return this.#goUp();
    const entry = this.#access.lookup(this.#here, name);
    const isLast = this.#pending.length === 1;
    if (entry === undefined) {
      if (isLast) return this.#resolved(name, undefined);
      if (!makeDirectories || this.#linked > 0) throw this.#missing(makeDirectories);
      this.#makeDirectory(name);
      return undefined;
    }
    if (entry.stat.isSymbolicLink() && !(keepLink && isLast && this.#linked === 0)) {
      entry.close();
      if (!followLinks) throw this.#bent();
      this.#follow(name);
      return undefined;
    }
    if (isLast) return this.#resolved(name, entry);
    if (!entry.stat.isDirectory()) {
      entry.close();
      const message = `${quotedPath(this.#path.text)} leads through a file; only directories contain others`;
      throw fileError("not_a_directory", message, this.#path.text);
    }
    this.#leaveHere();
    this.#here = entry;
    this.#walked.push(name);
    this.#pending = this.#pending.slice(1);
    this.#linked = Math.max(0, this.#linked - 1);
    return undefined;
  }

  #follow(name: string): void {
    let target: string;
    try {
      target = readlinkSync(`${this.#here.at}/${name}`);
    } catch (error) {
      // changed since the lookup: look again
      if (systemCode(error) === "EINVAL" || systemCode(error) === "ENOENT") return;
      throw error;
    }
    this.#links += 1;
    if (this.#links > maxLinks) {
      throw this.#roots.outside(this.#path.text, `goes through more than ${maxLinks} symbolic links`);
    }
    const names = target.split(process.platform === "win32" ? /[\\/]/ : "/");
    const steps = names.filter((step) => step !== "" && step !== ".");
    const rest = this.#pending.slice(1);
    this.#linked = Math.max(0, this.#linked - 1);
    if (isAbsolute(target)) this.#restart(this.#located(steps), rest);
    else {
      this.#pending = [...steps, ...rest];
      this.#linked += steps.length;
    }
  }

  #goUp(): undefined {
    const rest = this.#pending.slice(1);
    this.#linked -= 1;
    if (this.#walked.length > 0) {
      this.#restart({ root: this.#root, rest: this.#walked.slice(0, -1) }, rest);
      return;
    }
    // above the root, but it may lead back into one, as ../project/x does
    const fromLink = rest.slice(0, this.#linked);
    const above = namesOf(this.#root.path).slice(0, -1);
    const own = rest.slice(this.#linked);
    this.#linked = 0;
    this.#restart(this.#located([...above, ...fromLink]), own);
  }

  #located(steps: readonly string[]): Location {
    const location = this.#roots.locate(steps) ?? this.#roots.locate(withoutParents(steps));
    if (location === undefined) {
      throw this.#roots.outside(this.#path.text, "leads outside the workspace through a symbolic link");
    }
    return location;
  }

  /** Starts again from a root: first the names of a link, then the rest of the path. */
  #restart(location: Location, rest: readonly string[]): void {
    this.#leaveHere();
    this.#root = location.root;
    this.#here = location.root.handle;
    this.#walked = [];
    this.#pending = [...location.rest, ...rest];
    this.#linked += location.rest.length;
  }

  #makeDirectory(name: string): void {
    this.#access.confirm(this.#here.at, this.#root);
    try {
      mkdirSync(`${this.#here.at}/${name}`);
    } catch (error) {
      // somebody else created it: the next step checks what it is
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }

  #bent(): Error {
    const message = `${quotedPath(this.#path.text)} now leads through a symbolic link; resolve it again`;
    return fileError("conflict", message, this.#path.text);
  }

  #missing(isWrite: boolean): Error {
    if (isWrite) return this.#roots.outside(this.#path.text, danglingLink);
    const message = `cannot find ${quotedPath(this.#path.text)}: ENOENT, a directory on the way does not exist`;
    return fileError("not_found", message, this.#path.text);
  }

  #resolved(name: string, entry: Handle | undefined): ResolvedPath {
    const directory = this.#here;
    const names = name === "" ? this.#walked : [...this.#walked, name];
    return {
      root: this.#root,
      directory,
      name,
      entry,
      dangling: entry === undefined && this.#linked > 0,
      canonical: pathFrom([...namesOf(this.#root.path), ...names]),
      close: () => {
        if (entry !== directory) entry?.close();
        this.#leaveHere();
      },
    };
  }

  #leaveHere(): void {
    if (!this.#roots.isRoot(this.#here)) this.#here.close();
    this.#here = this.#root.handle;
  }
}

export const danglingLink = "is a symbolic link to something that does not exist";

function namesOf(path: string): string[] {
  return path.split(process.platform === "win32" ? "\\" : "/").filter((name) => name !== "");
}

function isAbsolute(target: string): boolean {
  return process.platform === "win32" ? /^(?:[a-z]:)?[\\/]/i.test(target) : target.startsWith("/");
}

function withoutParents(steps: readonly string[]): string[] {
  const names: string[] = [];
  for (const step of steps) {
    if (step === "..") names.pop();
    else names.push(step);
  }
  return names;
}
