// Opens a sandbox for the commands of a session, or for an agent.

import { mkdirSync, rmdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { gitSettings } from "./git-settings.ts";
import { type Aside, asideFolder, moveBack } from "./guard/move-aside.ts";
import {
  identityOf,
  isReachable,
  isThere,
  realPath,
  realPathOrMissing,
  smallFilesIn,
  stampOf,
} from "./guard/path-facts.ts";
import { newCommands, nothingFound, plantedFiles, type SandboxFindings } from "./guard/planted-files.ts";
import { watchFolders } from "./guard/watched-folders.ts";
import {
  createHookFolders,
  type Grounds,
  groundsOf,
  mountEntries,
  newSubmodules,
  stoppedRebases,
} from "./mount-entries.ts";
import { bubblewrapArguments } from "./mounts/bubblewrap-arguments.ts";
import { isAtOrBelow } from "./mounts/layout.ts";
import { tolerantStart } from "./mounts/vanishing-mounts.ts";
import { bridgeLine } from "./network/bridge-command.ts";
import type { HostForwarder } from "./network/host-forwarder.ts";
import { dividedEnvironment, sandboxEnvironment } from "./policy/environment.ts";
import {
  checkSandboxOptions,
  type SandboxCommand,
  type SandboxOptions,
  type SandboxProfile,
} from "./policy/sandbox-policy.ts";
import { commandRuns, folderOfRuns, isMounted, safeEntries } from "./running-commands.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxFailure } from "./status/explain-failure.ts";
import { inheritedDescriptors } from "./status/inherited-descriptors.ts";
import { missingProgram } from "./status/missing-program.ts";
import { canForbidNesting, probeSandbox, type SandboxTools } from "./status/sandbox-status.ts";

/** A command to start instead of the one that was wrapped. */
export interface SandboxedCommand {
  /** The program to start. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** The folder to start it in. The command itself starts in its own. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Paths that must not be written, but have no mount. Those that do not exist are moved aside if the command creates
   * them. Those that appeared while another command ran cannot be mounted safely.
   */
  readonly notMounted: readonly string[];
  /**
   * To call when the command has ended. Moves hooks and settings aside that it has planted. Those of an agent are only
   * named, because a person may have worked beside it for hours.
   */
  finished(): SandboxFindings;
  /**
   * To call after `finished` if the user accepts what was moved aside. Moves all of it back, and returns what could not be
   * moved, with the reason.
   */
  keepMoved(): SandboxFindings["left"];
}

/** Wraps commands, so that they run in a sandbox. */
export interface Sandbox extends AsyncDisposable {
  /** The profile that it was opened with. */
  readonly profile: SandboxProfile;
  /** The folder outside that all commands see as /tmp. Absent for the profile `off`. */
  readonly temporaryFolder: string | undefined;
  /**
   * Says how to start a command in the sandbox.
   *
   * @throws {Error} With the code `ENOENT` or `EACCES`, as `spawn` reports it, when there is no such program or folder.
   */
  wrap(command: SandboxCommand): SandboxedCommand;
  /**
   * Says that a file is written outside the sandbox, for example by an edit that the user has allowed. A hook or a settings
   * file is then not moved aside after the commands that run now, as long as it has this text. If one of them changes it,
   * the change is moved aside and the text is restored.
   */
  accept(path: string, text: string): void;
  /** Removes its temporary folder. */
  close(): Promise<void>;
}

/** Agents bring sandboxes of their own. As root that needs a right that commands do not get. */
const nestings = { agent: "always", workspace: "user", "read-only": "user", strict: "never" } as const;

/** Signals that bubblewrap would die of. They are meant for the command. */
const signals = "HUP,INT,QUIT,TERM,USR1,USR2";

/**
 * Opens a sandbox. Close it with the session that it belongs to.
 *
 * @param options - What the sandbox lets through.
 * @throws {SandboxError} When no sandbox can start here. It says why and what to do.
 * @throws {TypeError} When a path is not absolute.
 * @example
 * ```ts
 * import { spawn } from "node:child_process";
 * import { once } from "node:events";
 * import { openSandbox } from "@parley/sandbox";
 *
 * await using sandbox = await openSandbox({ roots: [process.cwd()] });
 * const run = sandbox.wrap({ command: "npm", args: ["test"], cwd: process.cwd(), env: process.env, ownSession: true });
 * const child = spawn(run.command, run.args, { cwd: run.cwd, env: run.env, detached: true, stdio: "inherit" });
 * await once(child, "exit");
 * console.log(run.finished().movedAside);
 * ```
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  checkSandboxOptions(options);
  const profile = options.profile ?? "workspace";
  if (profile === "off") return unsandboxed();
  const { status, tools } = await probeSandbox([
    ...options.roots,
    ...(options.write ?? []),
    ...(options.state ?? []),
  ]);
  if (!status.isAvailable) throw new SandboxError(status);
  if (tools === undefined) throw new Error("the programs of an available sandbox are known");
  const network = options.network ?? (profile === "agent" ? "host" : "none");
  if (typeof network === "object" && status.hostsProblem !== undefined) {
    throw new SandboxError({ problem: "no_hosts", ...status.hostsProblem });
  }
  for (const folder of options.state ?? []) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { homeFolder: home = homedir(), env = process.env } = options;
  const grounds = groundsOf(options, profile, home, env, await gitSettings(home, env, options.roots));
  const closed = grounds.roots.find((root) => !isReachable(root));
  if (closed !== undefined) throw new SandboxError(closedFolder(closed));
  // without links, as mounts need it
  const temporaryFolder = await mkdtemp(join(realPath(tmpdir()) ?? tmpdir(), "parley-sandbox-"));
  return new BubblewrapSandbox(grounds, tools, network, temporaryFolder);
}

class BubblewrapSandbox implements Sandbox {
  readonly profile: Grounds["profile"];
  readonly temporaryFolder: string;
  readonly #grounds: Grounds;
  readonly #tools: SandboxTools;
  readonly #network: "none" | "host" | HostForwarder;
  readonly #watching: ReturnType<typeof watchFolders>;
  /** What it mounts although no option names it, by what identifies each. */
  readonly #own: ReadonlyMap<string, string | undefined>;
  /** The commands that run: the files that were accepted meanwhile, and what ends each. */
  readonly #running = new Map<Map<string, string>, () => void>();

  constructor(
    grounds: Grounds,
    tools: SandboxTools,
    network: "none" | "host" | HostForwarder,
    temporaryFolder: string,
  ) {
    this.profile = grounds.profile;
    this.temporaryFolder = temporaryFolder;
    this.#grounds = grounds;
    this.#tools = tools;
    this.#network = network;
    const folders = [temporaryFolder, ...(typeof network === "object" ? [network.folder] : [])];
    this.#own = new Map(folders.map((path) => [path, identityOf(path)]));
    this.#watching = watchFolders(grounds.profile === "read-only" ? [] : grounds.roots);
  }

  wrap(spec: SandboxCommand): SandboxedCommand {
    const { command, args = [], env } = spec;
    const cwd = realPath(spec.cwd);
    const problem = cwd === undefined ? "ENOENT" : missingProgram(command, cwd, env["PATH"]);
    if (cwd === undefined || problem !== undefined) throw spawnError(command, problem ?? "ENOENT");
    this.#checkOwn();
    const { watched } = this.#watching;
    const found = watched.search();
    const hookFolders = createHookFolders(this.#grounds, found);
    const rebases = stoppedRebases(this.#grounds, found);
    const mounts = mountEntries(this.#grounds, found, {
      program: command,
      own: [...this.#own.keys(), folderOfRuns()],
    });
    const { writable, roots, gitFolders } = this.#grounds;
    const entries = safeEntries(mounts.entries, [...roots, ...gitFolders]);
    const tools = this.#tools;
    const forwarder = typeof this.#network === "object" ? this.#network : undefined;
    const keepsSecrets = this.profile === "agent";
    const hasBridge = forwarder !== undefined;
    const divided = dividedEnvironment(sandboxEnvironment(env, { hasBridge, keepsSecrets }));
    const closing = this.#closing();
    const hasVanishing = entries.some(({ mayVanish }) => mayVanish === true);
    // code that a variable loads must not see what is still open, and shells lose some variables
    const isAssigned = closing.length > 0 || hasVanishing;
    const assignments = Object.entries(divided.inside).map(([name, value]) => `${name}=${value}`);
    const loading =
      !isAssigned || assignments.length === 0 ? [] : [tools.env ?? "/usr/bin/env", ...assignments];
    const { options, vanishing } = bubblewrapArguments({
      entries,
      temporaryFolder: this.temporaryFolder,
      hasNetwork: this.#network === "host",
      forwarderFolder: forwarder?.folder,
      cwd,
      env: isAssigned ? {} : divided.inside,
      newSession: spec.ownSession !== true,
      isRoot: process.getuid?.() === 0,
      nesting: nestings[this.profile],
      canForbidNesting: canForbidNesting(tools.version),
      // as a link to /tmp it needs no mount
      hasVarTmp: realPath("/var/tmp") === "/var/tmp",
      hasOwnProc: tools.hasOwnProc,
    });
    const signalled = spec.ownSession === true && tools.env !== undefined ? [tools.env] : [];
    const start = tolerantStart(vanishing);
    const [program = "", ...words] = [
      ...signalled.flatMap((path) => [path, `--ignore-signal=${signals}`]),
      ...start.outside,
      tools.bubblewrap,
      ...options,
      ...start.inside,
      ...closing,
      ...signalled.flatMap((path) => [path, `--default-signal=${signals}`]),
      ...loading,
      ...this.#launcher(forwarder, command),
      command,
      ...args,
    ];
    const dropped = mounts.entries.filter((entry) => entry.how === "read" && !entries.includes(entry));
    const notMounted = [...mounts.notMounted, ...dropped.map(({ path }) => path)];
    const stamps = new Map(notMounted.filter(isThere).map((path) => [path, stampOf(path)]));
    const ended = commandRuns({ writable, mounts: entries.map(({ path }) => path) });
    const accepted = new Map<string, string>();
    this.#running.set(accepted, ended);
    let findings: SandboxFindings | undefined;
    const finished = () => {
      ended();
      this.#running.delete(accepted);
      // nobody looks at them any more, unless another command has mounted them
      for (const path of hookFolders) if (!isMounted(path)) removeEmpty(path);
      const after = watched.search();
      const places = new Map<string, string>();
      const missing = [...mounts.missing, ...newSubmodules(this.#grounds, found, mounts.gitFolders)];
      const planted = plantedFiles({ ...mounts, missing, found, stamps }, after, {
        asideOf: (path) => this.#asideOf(path, places),
        isOpened: (path) => this.#grounds.opened.includes(path),
        accepted,
      });
      const commands = newCommands(rebases, stoppedRebases(this.#grounds, after));
      return { ...planted, left: [...planted.left, ...commands] };
    };
    return {
      command: program,
      args: words,
      cwd: "/",
      env: divided.outside,
      notMounted,
      finished: () => (findings ??= finished()),
      keepMoved: () => this.#keep(findings?.movedAside ?? []),
    };
  }

  /** A command whose workspace has the folder for temporary files in it could have put a link in the place of ours. */
  #checkOwn(): void {
    const replaced = [...this.#own].find(
      ([path, was]) => identityOf(path) !== was || realPath(path) !== path,
    );
    if (replaced === undefined) return;
    throw new Error(
      `the temporary folder of the sandbox ${replaced[0]} was replaced, so no command can start; open a new session`,
    );
  }

  /**
   * A shell that closes what our own parent has left open. It obeys no variable that the command may have set. It runs
   * inside, so that only this is lost if one is forgotten.
   */
  #closing(): string[] {
    const numbers = inheritedDescriptors();
    if (numbers.length === 0) return [];
    const { bash } = this.#tools;
    if (bash === undefined)
      throw new Error(
        `this process has inherited open files (${numbers.join(", ")}), which only bash can close: install bash, or start Parley without them`,
      );
    return [
      bash,
      "--norc",
      "--noprofile",
      "-p",
      "-c",
      `exec ${numbers.map((number) => `${number}>&-`).join(" ")}\nexec -- "$@"`,
      "bash",
    ];
  }

  /** A shell that starts the bridges, or that hides from `env` that the name of the command has a `=`. */
  #launcher(forwarder: HostForwarder | undefined, command: string): string[] {
    const { socat, setsid } = this.#tools;
    if (forwarder !== undefined && socat !== undefined)
      return ["/bin/sh", "-c", bridgeLine(socat, setsid), "sh"];
    return command.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh"] : [];
  }

  accept(path: string, text: string): void {
    for (const accepted of this.#running.keys()) accepted.set(realPathOrMissing(path), text);
  }

  #keep(moved: SandboxFindings["movedAside"]): SandboxFindings["left"] {
    return moved.flatMap(({ from, to }) => {
      try {
        moveBack(to, from);
      } catch (error) {
        return [{ path: from, reason: error instanceof Error ? error.message : String(error) }];
      }
      // commands that still run did not create them
      for (const [path, text] of smallFilesIn(from)) this.accept(path, text);
      return [];
    });
  }

  /** `places`: for each root, the folder that has everything of one command, under the names that it had in the root. */
  #asideOf(path: string, places: Map<string, string>): Aside | { reason: string } {
    const { options, writable } = this.#grounds;
    if (this.profile === "agent") return { reason: "it appeared while the agent ran, and may be yours" };
    // one folder to write can be in another, which must not hold what is moved out of it
    const around = writable.filter((each) => isAtOrBelow(path, each));
    const root = around.sort((one, other) => one.length - other.length)[0] ?? dirname(path);
    const parent = options.aside ?? join(dirname(root), `${basename(root)}.moved-aside`);
    const folder = places.get(root) ?? asideFolder(parent);
    places.set(root, folder);
    return { folder, name: relative(root, path) };
  }

  async close(): Promise<void> {
    for (const ended of this.#running.values()) ended();
    this.#watching.end();
    await rm(this.temporaryFolder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // somebody uses it
  }
}

function unsandboxed(): Sandbox {
  const close = async () => undefined;
  return {
    profile: "off",
    temporaryFolder: undefined,
    wrap: ({ command, args = [], cwd, env }) => ({
      command,
      args,
      cwd,
      env: Object.fromEntries(
        Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined),
      ),
      notMounted: [],
      finished: () => nothingFound,
      keepMoved: () => [],
    }),
    accept: () => undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function closedFolder(path: string): SandboxFailure {
  return {
    problem: "other",
    reason: `a sandboxed root has no capabilities and cannot enter a folder above ${path}, which belongs to another user`,
    fix: "run Parley as that user",
  };
}

/** The error that `spawn` reports. */
function spawnError(command: string, code: "ENOENT" | "EACCES"): Error {
  return Object.assign(new Error(`spawn ${command} ${code}`), {
    code,
    syscall: `spawn ${command}`,
    path: command,
  });
}
