// Asks the user's login shell for PATH: an editor that was started from a menu does not have it.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { homedir, userInfo } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { groupMark, ProcessGroup } from "@parley/acp/internal/node";
import { withTimeout } from "@parley/acp/jsonrpc";

const defaultWaitMs = 500;
const defaultShellMs = 10_000;
const killMs = 500;
/** A shell that is killed in the middle of its start files leaves what they hold: with a lock of pyenv each new shell waits a minute. */
const afterExitMs = 2_000;
const maxOutputChars = 256 * 1024;

export interface LoginShell {
  /** Default: that of the user. */
  readonly shell?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Variables that it does not get. */
  readonly without: readonly string[];
  /** A command does not wait longer for it; later ones have it. */
  readonly waitMs?: number;
  /** A shell that takes longer is ended. */
  readonly shellMs?: number;
}

/** Knows PATH of the login shell. The shell starts with the first call of a method, and only once. */
export class LoginPath {
  readonly #options: LoginShell;
  #asked: Promise<string | undefined> | undefined;

  constructor(options: LoginShell) {
    this.#options = options;
  }

  /** Starts the shell, so that its answer is there when a command needs it. */
  prefetch(): void {
    this.#asked ??= askShell(this.#options).catch(() => undefined);
  }

  /** PATH for a command, or undefined when the shell does not tell, or not soon enough. */
  async get(): Promise<string | undefined> {
    this.prefetch();
    const { env = process.env, waitMs = defaultWaitMs } = this.#options;
    const told = await withTimeout(waitMs, this.#asked ?? Promise.resolve(undefined));
    return told === undefined ? undefined : joinedPath(env["PATH"] ?? "", told);
  }
}

/**
 * What only this process has comes first, for somebody put it there on purpose: a virtual environment, a development
 * shell. The rest is in the order of the login shell.
 */
function joinedPath(own: string, told: string): string {
  const folders = told.split(delimiter).filter((folder) => isAbsolute(folder));
  const known = new Set(folders);
  return [...own.split(delimiter).filter((folder) => folder !== "" && !known.has(folder)), ...folders].join(
    delimiter,
  );
}

async function askShell(options: LoginShell): Promise<string | undefined> {
  const { shell = userShell(), env = process.env, without, shellMs = defaultShellMs } = options;
  if (process.platform === "win32" || shell === undefined || !isAbsolute(shell)) return undefined;
  // what its start files print is noise
  const edge = `parley-${randomUUID()}`;
  const mark = groupMark();
  const kept = Object.entries(env).filter(([name]) => !without.includes(name));
  // a shell of its own prints it, since login shells differ in how they write variables
  const line = `exec /bin/sh -c 'printf "%s%s%s" "$0" "$PATH" "$0"' ${edge}`;
  const child = spawn(shell, ["-l", "-i", "-c", line], {
    // the start files of many people look at the working directory, which may be a stranger's project
    cwd: homedir(),
    // a session of its own: an interactive shell must not take over the terminal of this process
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...Object.fromEntries(kept), TERM: "dumb", [mark]: "1" },
  });
  const { pid } = child;
  if (pid === undefined) {
    await once(child, "error");
    return undefined;
  }
  const group = new ProcessGroup(Object.assign(child, { pid }), mark);
  // it ends by itself, also when this process ends first
  group.leave(afterExitMs);
  const found = Promise.withResolvers<string | undefined>();
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-maxOutputChars);
    // the second edge ends it; what the start files leave in the background is not waited for
    const [, path, rest] = printed.split(edge, 3);
    if (rest !== undefined) found.resolve(path);
  });
  child.once("close", () => found.resolve(undefined));
  try {
    const path = await withTimeout(shellMs, found.promise);
    return path === undefined || path === "" || /[\0\r\n]/.test(path) ? undefined : path;
  } finally {
    await group.terminate(killMs);
  }
}

function userShell(): string | undefined {
  const { SHELL } = process.env;
  if (SHELL !== undefined && SHELL !== "") return SHELL;
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // the user has no entry, as in some containers
    return undefined;
  }
}
