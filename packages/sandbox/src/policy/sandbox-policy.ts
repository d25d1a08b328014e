// What a sandbox lets through, as its owner states it.

import { isAbsolute } from "node:path";
import { checkOptions } from "@parley/acp/jsonrpc";
import type { HostForwarder } from "../network/host-forwarder.ts";

/**
 * What a sandbox lets through.
 *
 * - `workspace`: writes to the roots and to its own /tmp, reads everything but secrets, has no network.
 * - `read-only`: the same, but the roots cannot be written either.
 * - `strict`: the same as `workspace`, but home is hidden except for the roots and the tools of PATH.
 * - `agent`: for a whole agent. Also writes to its state folders, and has the network of the host.
 * - `off`: no sandbox.
 */
export type SandboxProfile = CommandProfile | "agent";

/** The profiles that commands can run in. */
export type CommandProfile = "workspace" | "read-only" | "strict" | "off";

/** What a sandbox lets through. All paths are absolute. A path that is denied stays denied, however the lists nest. */
export interface SandboxOptions {
  /** `workspace` if absent. */
  readonly profile?: SandboxProfile | undefined;
  /** The folders of the workspace. */
  readonly roots: readonly string[];
  /** Further files and folders to write. Those that do not exist are ignored. */
  readonly write?: readonly string[] | undefined;
  /** Folders to write in which a program keeps its state. They are created if they do not exist. */
  readonly state?: readonly string[] | undefined;
  /** Secrets, from the list in docs/sandbox.md, that may be read all the same. */
  readonly read?: readonly string[] | undefined;
  /** Files and folders that cannot be read. */
  readonly hide?: readonly string[] | undefined;
  /** Files and folders that cannot be written. */
  readonly readOnly?: readonly string[] | undefined;
  /**
   * `none`: no network. `host`: the network of the host, with its loopback interface. A forwarder: the hosts that it
   * lets through. If absent, `host` for the profile `agent` and `none` for all others.
   */
  readonly network?: "none" | "host" | HostForwarder | undefined;
  /**
   * Where hooks and settings are moved that a command has planted. If absent, a folder next to the root, with
   * `.moved-aside` added to its name.
   */
  readonly aside?: string | undefined;
  /** The user's home. If absent, that of this process. */
  readonly homeFolder?: string | undefined;
  /**
   * The user's environment. It says where tools and secrets are (PATH, XDG_CONFIG_HOME). If absent, that of this process.
   * The environment of a command does not count, because an agent may have set it.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A command as it would be started without a sandbox. */
export interface SandboxCommand {
  /** A program on PATH, or a path. */
  readonly command: string;
  /** Its arguments, which no shell reads. */
  readonly args?: readonly string[] | undefined;
  /** The folder that it starts in. */
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Set it if the command starts in a session of its own: with `detached: true`, or in a pseudo-terminal that nobody
   * else uses. Signals to its process group then reach the command. Otherwise the sandbox creates a session, because a
   * command could type into the terminal that it shares.
   */
  readonly ownSession?: boolean | undefined;
}

const sandboxKeys: Readonly<Record<keyof SandboxOptions, true>> = {
  profile: true,
  roots: true,
  write: true,
  state: true,
  read: true,
  hide: true,
  readOnly: true,
  network: true,
  aside: true,
  homeFolder: true,
  env: true,
};

/** Throws a TypeError for an option that does not exist, and for a path that is not absolute. */
export function checkSandboxOptions(options: SandboxOptions): void {
  checkOptions("openSandbox", options, sandboxKeys);
  const {
    roots,
    write = [],
    state = [],
    read = [],
    hide = [],
    readOnly = [],
    aside,
    homeFolder: home,
  } = options;
  const all = { roots, write, state, read, hide, readOnly, aside: aside ?? [], home: home ?? [] };
  for (const [name, paths] of Object.entries(all)) {
    const wrong = [paths].flat().find((path) => !isAbsolute(path) || path.includes("\0"));
    if (wrong === undefined) continue;
    throw new TypeError(`${name} of a sandbox must be absolute paths, got ${JSON.stringify(wrong)}`);
  }
}
