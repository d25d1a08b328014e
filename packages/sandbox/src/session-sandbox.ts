// The sandbox for the commands of one session: opened when the first command runs, and anew when its policy changes.

import { hostWithPort } from "@parley/acp/internal";
import { checkOptions } from "@parley/acp/jsonrpc";
import type { SandboxFindings } from "./guard/planted-files.ts";
import { type HostForwarder, hostForwarder } from "./network/host-forwarder.ts";
import { openSandbox, type Sandbox, type SandboxedCommand } from "./open-sandbox.ts";
import type { SandboxCommand, SandboxOptions, SandboxProfile } from "./policy/sandbox-policy.ts";
import { sandboxStatus } from "./status/sandbox-status.ts";

/** The current limits of a session's sandbox. */
export interface SessionPolicy extends Pick<SandboxOptions, "write" | "hide" | "readOnly"> {
  /** `hosts`: those that `decideHost` allows, where the system can do that. Default: `none`. */
  readonly network?: "none" | "host" | "hosts";
}

/** The options of a session's sandbox. */
export interface SessionSandboxOptions {
  /** The profile of all commands. */
  readonly profile: Exclude<SandboxProfile, "agent" | "off">;
  /** The folders of the workspace. */
  readonly roots: readonly string[];
  /** Called before every command, since rules may change. Default: nothing but the profile. */
  readonly policy?: (() => SessionPolicy) | undefined;
  /** Decides about a host, as `name:port`. The signal aborts with the session. */
  readonly decideHost?: ((host: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Told in a line what a person should know: that no sandbox can start, or what a command left behind. */
  readonly tell?: ((text: string) => void) | undefined;
  /**
   * Gets what was moved aside after a command, to ask the user whether to keep it. The signal aborts with the session.
   * Default: `tell` hears of it.
   */
  readonly onMoved?: ((moved: MovedFiles, signal: AbortSignal) => void) | undefined;
}

/** Hooks and settings that one command has created, and that were moved out of the workspace. */
export interface MovedFiles {
  /** Where they were. */
  readonly paths: readonly string[];
  /** What a person should know, in a line: what was moved, where to, and how to move it back. */
  readonly notice: string;
  /** Moves all of them back, because the user accepts them. Returns a line for each that could not be moved. */
  keep(): readonly string[];
}

/** Wraps the commands of one session. */
export interface SessionSandbox {
  /** The profile of all commands. */
  readonly profile: SessionSandboxOptions["profile"];
  /** Whether a sandbox can start. If none can, `tell` hears it once. */
  isAvailable(): Promise<boolean>;
  /** Says how to start a command in the sandbox. `finished` of the answer must be called. Rejects as `openSandbox` does. */
  wrap(
    command: Omit<SandboxCommand, "ownSession">,
  ): Promise<Omit<SandboxedCommand, "finished" | "keepMoved"> & { finished(): void }>;
  /** As `accept` of a sandbox, for all commands that run. */
  accept(path: string, text: string): Promise<void>;
  /** Ends connections and questions, and removes temporary folders. */
  close(): Promise<void>;
}

/**
 * Creates the sandbox of a session. Nothing happens before its first command.
 *
 * @param options - The profile, the folders, and who decides.
 * @example
 * ```ts
 * import { localTerminals } from "@parley/acp/node";
 * import { sessionSandbox } from "@parley/sandbox";
 *
 * const cwd = process.cwd();
 * const sandbox = sessionSandbox({ profile: "workspace", roots: [cwd], tell: console.error });
 * if (await sandbox.isAvailable()) {
 *   await using terminals = localTerminals({ cwd, wrap: (command) => sandbox.wrap(command) });
 *   const terminal = await terminals.create({ command: "npm", args: ["test"] });
 *   console.log(await terminal.waitForExit());
 * }
 * await sandbox.close();
 * ```
 */
export function sessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  checkOptions("sessionSandbox", options, sessionKeys);
  return new CommandsOfSession(options);
}

class CommandsOfSession implements SessionSandbox {
  readonly profile: SessionSandboxOptions["profile"];
  readonly #options: SessionSandboxOptions;
  readonly #ended = new AbortController();
  #probing: Promise<boolean> | undefined;
  #forwarder: Promise<HostForwarder> | undefined;
  #running = 0;
  #wasIncomplete = false;
  /** What was decided about hosts while commands run. */
  readonly #hosts = new Map<string, Promise<boolean>>();
  /** Allowed hosts that cannot be reached. */
  readonly #toldHosts = new Set<string>();
  /** By what it lets through. */
  readonly #opened = new Map<string, Promise<Sandbox>>();

  constructor(options: SessionSandboxOptions) {
    this.profile = options.profile;
    this.#options = options;
  }

  isAvailable(): Promise<boolean> {
    this.#probing ??= this.#probe();
    return this.#probing;
  }

  async #probe(): Promise<boolean> {
    const { roots, tell } = this.#options;
    const status = await sandboxStatus({ roots });
    if (!status.isAvailable)
      tell?.(
        `no sandbox can start, so you are asked about commands: ${status.reason}; to fix it: ${status.fix}`,
      );
    return status.isAvailable;
  }

  async wrap(command: Omit<SandboxCommand, "ownSession">): ReturnType<SessionSandbox["wrap"]> {
    const sandbox = await this.#sandbox();
    if (this.#ended.signal.aborted) {
      // it was opened after the others were closed
      await sandbox.close();
      throw new Error("the session has ended");
    }
    const wrapped = sandbox.wrap({ ...command, ownSession: true });
    this.#running++;
    const finished = (): void => {
      // "once" is for as long as what asked for it may run
      if (--this.#running === 0) this.#hosts.clear();
      this.#report(wrapped);
    };
    const { keepMoved: _, ...start } = wrapped;
    return { ...start, finished };
  }

  #report(wrapped: SandboxedCommand): void {
    const { movedAside, created, left, isIncomplete } = wrapped.finished();
    const { tell, onMoved } = this.#options;
    if (movedAside.length > 0) {
      const moved: MovedFiles = {
        paths: movedAside.map(({ from }) => from),
        notice: movedNotice(movedAside, this.#options.roots),
        keep: () => wrapped.keepMoved().map(({ path, reason }) => `${path} was not moved back: ${reason}`),
      };
      if (onMoved === undefined) tell?.(moved.notice);
      else onMoved(moved, this.#ended.signal);
    }
    if (created.length > 0)
      tell?.(
        `a command created ${listOf(created)}, which other programs may run or obey; ${created.length > 1 ? "they were" : "it was"} not moved, so check ${created.length > 1 ? "them" : "it"}`,
      );
    for (const { path, reason } of left)
      tell?.(`check ${path}, which other programs may run or obey: ${reason}`);
    if (isIncomplete && !this.#wasIncomplete)
      tell?.(
        "not all folders of the workspace are searched for hooks and settings that commands create: they are too many, or have names that cannot be read",
      );
    this.#wasIncomplete ||= isIncomplete;
  }

  async accept(path: string, text: string): Promise<void> {
    // what cannot be opened has no commands
    for (const each of await Promise.allSettled(this.#opened.values()))
      if (each.status === "fulfilled") each.value.accept(path, text);
  }

  async #sandbox(): Promise<Sandbox> {
    const { profile, roots, policy } = this.#options;
    const { network: wanted = "none", ...paths } = policy?.() ?? {};
    const network = wanted === "hosts" ? await this.#hostNetwork() : wanted;
    const key = JSON.stringify([paths, typeof network === "object" ? "hosts" : network]);
    const opened = this.#opened.get(key) ?? openSandbox({ profile, roots, ...paths, network });
    this.#opened.set(key, opened);
    return opened;
  }

  /** One forwarder for all commands of the session. */
  async #hostNetwork(): Promise<"none" | HostForwarder> {
    const { roots, decideHost } = this.#options;
    const status = await sandboxStatus({ roots });
    if (decideHost === undefined || !status.isAvailable || status.hostsProblem !== undefined) return "none";
    this.#forwarder ??= hostForwarder({
      decide: (host, port) => this.#isAllowed(hostWithPort(host, port), decideHost),
      onUnreachable: (host, port, reason) => this.#unreachable(hostWithPort(host, port), reason),
    });
    return this.#forwarder;
  }

  /** The program gets an error without a reason, and may try many times. */
  #unreachable(host: string, reason: string): void {
    if (this.#toldHosts.has(host)) return;
    this.#toldHosts.add(host);
    this.#options.tell?.(`${host} is allowed, but cannot be reached: ${reason}`);
  }

  /** A program opens many connections to a host: it is decided about once while commands run. */
  #isAllowed(host: string, decide: NonNullable<SessionSandboxOptions["decideHost"]>): Promise<boolean> {
    const decided = this.#hosts.get(host) ?? decide(host, this.#ended.signal);
    this.#hosts.set(host, decided);
    return decided;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const closing = [...this.#opened.values(), ...(this.#forwarder === undefined ? [] : [this.#forwarder])];
    await Promise.allSettled(closing.map(async (each) => (await each).close()));
  }
}

/** More than these are counted. */
const shownPaths = 8;

function listOf(paths: readonly string[]): string {
  const more = paths.length - shownPaths;
  const shown = paths.slice(0, shownPaths).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** As one word of a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** What is moved together keeps the names that it had, so that one command moves it back. */
function movedNotice(moved: SandboxFindings["movedAside"], roots: readonly string[]): string {
  const pairs = moved.map(({ from, to }) => {
    const root = roots.find((each) => from.startsWith(`${each}/`) && to.endsWith(from.slice(each.length)));
    return root === undefined ? [to, from] : [`${to.slice(0, root.length - from.length)}/.`, root];
  });
  const places = [...new Map(pairs.map(([place = "", root = ""]) => [place, root]))];
  const again = places.slice(0, shownPaths).map(([place, root]) => `cp -R ${quoted(place)} ${quoted(root)}`);
  const [them, were] = moved.length > 1 ? ["them", "they were"] : ["it", "it was"];
  const folders = places.map(([place]) => place.replace(/\/\.$/, ""));
  return `a command created ${listOf(moved.map(({ from }) => from))}, which other programs would run or obey; ${were} moved to ${listOf(folders)}; to accept ${them}: ${again.join(" && ")}`;
}

const sessionKeys: Readonly<Record<keyof SessionSandboxOptions, true>> = {
  profile: true,
  roots: true,
  policy: true,
  decideHost: true,
  tell: true,
  onMoved: true,
};
