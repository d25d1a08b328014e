// A git folder of our own beside the user's: their working tree and objects, our config, index and new objects. Git reads
// neither the config nor the hooks of the repository, so nothing in them can run.

import { mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Hash } from "../files/version.ts";
import { searchObstacle } from "./obstacles.ts";
import { readPlainFile } from "./plain-file.ts";
import type { Repository } from "./repository.ts";
import { closedEnvironment, type GitCommand, runGit } from "./run-git.ts";

/** The user's own settings that say which bytes git stores, read without running git in the repository. */
export interface RepositorySettings {
  readonly hash: Hash;
  /** Whether git may store other bytes than there are in the working tree. */
  readonly mayConvert: boolean;
  /** The repository's settings about its files, `-c NAME=VALUE`. None of them names a program or a path. */
  readonly ofFiles: readonly string[];
}

const maxConfigBytes = 2 ** 20;
const maxIndexBytes = 2 ** 30;

/** Files stay as they are: no line endings, no encodings, no filters. This file overrides all `.gitattributes`. */
const attributes = "* -text !eol !ident !filter !working-tree-encoding\n";

export class PrivateGitDir {
  readonly folder: string;
  readonly repository: Repository;
  readonly hash: Hash;
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;

  constructor(
    folder: string,
    repository: Repository,
    hash: Hash,
    { program, env, signal }: Pick<GitCommand, "program" | "env" | "signal">,
  ) {
    this.folder = folder;
    this.repository = repository;
    this.hash = hash;
    this.#program = program;
    this.#env = env;
    this.#signal = signal;
  }

  /** How git is started on the working tree, with our index or another one of ours. */
  command(index = "index"): GitCommand {
    return {
      program: this.#program,
      cwd: this.repository.worktree,
      signal: this.#signal,
      isHeldUp: async () => (await searchObstacle(this.repository.worktree)) !== undefined,
      env: { ...this.#env, GIT_INDEX_FILE: join(this.folder, index) },
    };
  }

  run(args: readonly string[], options?: Parameters<typeof runGit>[2]): Promise<Buffer> {
    return runGit(this.command(), args, options);
  }

  /** Copies the user's index. With its time: git does not trust entries that are as young as their index. */
  async copyIndex(name = "index"): Promise<boolean> {
    const { gitDir } = this.repository;
    for (const file of await readdir(gitDir)) {
      // the larger half of a split index
      if (file.startsWith("sharedindex.")) await copyWithTime(join(gitDir, file), join(this.folder, file));
    }
    return copyWithTime(join(gitDir, "index"), join(this.folder, name));
  }

  /** Removes the lock of a git that was ended. Nobody else uses our index. */
  async unlock(): Promise<void> {
    await rm(join(this.folder, "index.lock"), { force: true });
  }

  /** What is ignored in this clone alone. A link may lead to a file that is no list of names, and is not copied. */
  async copyExcludes(): Promise<void> {
    const source = join(this.repository.commonDir, "info/exclude");
    const found = await readPlainFile(source, { maxBytes: maxConfigBytes, followsLinks: false });
    await writeFile(join(this.folder, "info/exclude"), found?.bytes ?? "");
  }

  /** From now on git sees the bytes as they are. */
  async closeAttributes(): Promise<void> {
    await writeFile(join(this.folder, "info/attributes"), attributes);
  }
}

/** Says whether there was a file. */
async function copyWithTime(source: string, target: string): Promise<boolean> {
  const found = await readPlainFile(source, { maxBytes: maxIndexBytes });
  if (found === undefined) return false;
  await writeFile(target, found.bytes);
  // rounded down: an index that looks older than it is makes git look closer
  const seconds = Math.floor(found.mtimeMs / 1000);
  await utimes(target, seconds, seconds);
  return true;
}

/** Makes the folder. `program` is git. */
export async function makePrivateGitDir(
  folder: string,
  repository: Repository,
  program: string,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<{ readonly dir: PrivateGitDir } & RepositorySettings> {
  const closed = closedEnvironment(env);
  const command = { program, cwd: "/", env: closed, signal };
  const settings = await readSettings(repository, command, env);
  const { hash } = settings;
  await mkdir(join(folder, "objects/info"), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, "refs"), { recursive: true });
  await rm(join(folder, "info"), { recursive: true, force: true });
  await mkdir(join(folder, "info"));
  // the objects of an earlier process are used again, its index is not
  for (const name of await readdir(folder)) {
    if (/^(?:index|theirs|sharedindex\.)/.test(name)) await rm(join(folder, name), { force: true });
  }
  await writeFile(join(folder, "HEAD"), "ref: refs/heads/main\n");
  const lines = [
    "[core]",
    `repositoryformatversion = ${hash === "sha256" ? 1 : 0}`,
    "bare = false",
    "untrackedCache = false",
    "splitIndex = true",
    "protectNTFS = false",
    "protectHFS = false",
    "fsync = none",
    ...(hash === "sha256" ? ["[extensions]", "objectFormat = sha256"] : []),
  ];
  await writeFile(join(folder, "config"), `${lines.join("\n")}\n`);
  const excludes = await globalExcludes(command, env);
  return {
    ...settings,
    dir: new PrivateGitDir(folder, repository, hash, {
      program,
      signal,
      env: {
        ...closed,
        HOME: folder,
        GIT_DIR: folder,
        GIT_WORK_TREE: repository.worktree,
        GIT_OBJECT_DIRECTORY: join(folder, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(join(repository.commonDir, "objects")),
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.excludesFile",
        GIT_CONFIG_VALUE_0: excludes,
      },
    }),
  };
}

/** The list of folders is separated by colons; a name with one is quoted as in C. */
function quotedPath(path: string): string {
  if (!path.includes(delimiter) && !path.startsWith('"')) return path;
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}

const converts = /^core\.(?:autocrlf|eol|attributesfile) /m;
const ofFiles = /^(core\.(?:autocrlf|eol|filemode|symlinks|ignorecase)) (true|false|input|lf|crlf|native)$/gm;

/** Reading a file of settings runs nothing, and includes are not followed. */
async function readSettings(
  { commonDir, gitDir }: Repository,
  command: GitCommand,
  env: NodeJS.ProcessEnv,
): Promise<RepositorySettings> {
  const keys =
    "^(core\\.(autocrlf|eol|attributesfile|filemode|symlinks|ignorecase)|extensions\\.objectformat|include\\.path|includeif\\..*)$";
  const read = async (args: readonly string[], of: GitCommand, input?: Buffer) => {
    const options = { okCodes: [0, 1], ...(input === undefined ? {} : { input }) };
    return (await runGit(of, ["config", ...args, "--get-regexp", keys], options)).toString("utf8");
  };
  const config = await readPlainFile(join(commonDir, "config"), { maxBytes: maxConfigBytes });
  const own = config === undefined ? "" : await read(["--file", "-"], command, config.bytes);
  const users = await read([], userCommand(command, env));
  const hasAttributes = await stat(join(gitDir, "info/attributes")).then(
    () => true,
    () => false,
  );
  return {
    hash: /^extensions\.objectformat sha256$/m.test(own) ? "sha256" : "sha1",
    mayConvert: hasAttributes || /^include/m.test(own) || converts.test(own) || converts.test(users),
    ofFiles: Array.from(own.matchAll(ofFiles), ([, name, value]) => ["-c", `${name}=${value}`]).flat(),
  };
}

/** Git with the user's own settings, started where no repository is. */
function userCommand(command: GitCommand, env: NodeJS.ProcessEnv): GitCommand {
  const names = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"];
  const { GIT_CONFIG_NOSYSTEM: _, GIT_CONFIG_GLOBAL: __, ...rest } = command.env;
  const own = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return { ...command, env: { ...rest, ...Object.fromEntries(own), GIT_DIR: "/dev/null" } };
}

/** The user's file of names that are ignored everywhere. */
async function globalExcludes(command: GitCommand, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ["config", "--type=path", "--get", "core.excludesFile"];
  const set = (await runGit(userCommand(command, env), args, { okCodes: [0, 1] })).toString("utf8").trim();
  if (set !== "") return set;
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? homedir(), ".config"), "git/ignore");
}
