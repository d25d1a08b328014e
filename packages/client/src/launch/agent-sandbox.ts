// Runs the process of an agent in a sandbox.

import { statSync } from "node:fs";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { hostWithPort } from "@parley/acp/internal";
import type { HostForwarder, Sandbox, SandboxedCommand } from "@parley/sandbox";
import type { AgentEntry, CommandEntry } from "../agents/agent-spec.ts";
import { checkHostPattern, isThisMachine, matchesHost } from "../rules/host-pattern.ts";
import { LaunchError } from "./launch-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The folders of a sandboxed agent. */
export interface AgentSandbox {
  /** The absolute folders of its sessions, which it can write to. Default: the working directory of its process. */
  readonly roots?: readonly string[] | undefined;
  /** Absolute paths that it cannot read. */
  readonly hide?: readonly string[] | undefined;
  /** Absolute paths that it cannot write. */
  readonly readOnly?: readonly string[] | undefined;
}

/** The sandbox that an agent is to run in; what the caller says counts more than what its spec says. */
export function wantedSandbox(
  entry: AgentEntry,
  given: boolean | AgentSandbox | undefined,
): AgentSandbox | undefined {
  const own = entry.transport === "stdio" && entry.sandbox;
  const wanted = given ?? own;
  if (wanted === false || wanted === undefined) return undefined;
  if (entry.transport === "stdio") return wanted === true ? {} : wanted;
  throw new LaunchError(
    "no_sandbox",
    `${entry.name} was not started in a sandbox: it is on another machine`,
    {
      hint: "use it without a sandbox; what it does there cannot be limited from here",
    },
  );
}

/** The command that starts the agent, as it would be without a sandbox. */
interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface SandboxedAgent extends Pick<SandboxedCommand, "command" | "args" | "cwd" | "env"> {
  /** To call once, when its process has ended: removes what the sandbox needed, and tells what is new in the workspace. */
  ended(): Promise<LeftBehind | undefined>;
}

export interface LeftBehind {
  readonly paths: readonly string[];
  readonly isIncomplete: boolean;
}

/** `user` is the environment of the user, which says where secrets and state are. Throws a LaunchError. */
export async function sandboxedAgent(
  entry: CommandEntry,
  given: AgentCommand,
  { roots = [given.cwd], hide = [], readOnly = [] }: AgentSandbox,
  user: Environment,
): Promise<SandboxedAgent> {
  const { hostForwarder, openSandbox, SandboxError } = await import("@parley/sandbox");
  const { needs = {}, hosts, name } = entry;
  for (const host of hosts ?? []) checkHostPattern(host);
  const home = user["HOME"] || homedir();
  const place = (path: string) => placeOf(path, home, user);
  const cache = place(`~/.cache/parley/agents/${encodeURIComponent(name)}/npm`);
  const named = [...(needs.state ?? []), ...(entry.state ?? [])].map(place);
  // a file can be written, but not replaced by renaming
  const files = named.filter(isFile);
  let network: HostForwarder | undefined;
  let sandbox: Sandbox | undefined;
  const close = async () => {
    await sandbox?.close();
    await network?.close();
  };
  try {
    network =
      hosts === undefined ? undefined : await hostForwarder(decisions([...hosts, ...(needs.hosts ?? [])]));
    sandbox = await openSandbox({
      profile: "agent",
      roots,
      state: [...named.filter((path) => !isFile(path)), cache],
      write: files,
      read: (needs.read ?? []).map(place),
      hide,
      readOnly: [...readOnly, ...(needs.readOnly ?? []).map(place)],
      network: network ?? "host",
      homeFolder: home,
      env: user,
    });
    const env = { ...withoutNpmCache(given.env), npm_config_cache: cache, ...needs.env, ...entry.env };
    const wrapped = sandbox.wrap({ ...given, env, ownSession: true });
    const ended = async () => {
      const { created, left, isIncomplete } = wrapped.finished();
      await close();
      const paths = [...created, ...left.map(({ path }) => path)];
      return paths.length === 0 && !isIncomplete ? undefined : { paths, isIncomplete };
    };
    return { ...wrapped, ended };
  } catch (error) {
    await close();
    if (!(error instanceof SandboxError)) throw error;
    throw new LaunchError("no_sandbox", `${name} was not started: no sandbox can start: ${error.reason}`, {
      hint: error.fix,
      cause: error,
    });
  }
}

/** Addresses that are named themselves may also be reached by a name. */
function decisions(patterns: readonly string[]) {
  const literals = patterns.map((each) => each.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"));
  return {
    decide: (host: string, port: number) => {
      const full = hostWithPort(host, port);
      const isNameless = isIP(host) !== 0 || isThisMachine(host);
      return patterns.some(
        // a star is for names, not for this machine and what has only an address
        (pattern) => matchesHost(pattern, full, false) && !(isNameless && pattern.startsWith("*")),
      );
    },
    privateAddresses: literals.filter((each) => isIP(each) !== 0),
  };
}

/** Where a user keeps config, data, state and caches, if not below home. */
const moved = [
  ["~/.config/", "XDG_CONFIG_HOME"],
  ["~/.local/share/", "XDG_DATA_HOME"],
  ["~/.local/state/", "XDG_STATE_HOME"],
  ["~/.cache/", "XDG_CACHE_HOME"],
] as const;

function placeOf(path: string, home: string, user: Environment): string {
  const [, variable, usual = path] = /^(\w+)=(.*)$/.exec(path) ?? [];
  const value = variable === undefined ? undefined : user[variable];
  if (value !== undefined && isAbsolute(value)) return value;
  for (const [prefix, name] of moved) {
    const folder = user[name];
    if (usual.startsWith(prefix) && folder !== undefined && isAbsolute(folder))
      return join(folder, usual.slice(prefix.length));
  }
  return usual.startsWith("~/") ? join(home, usual.slice(2)) : usual;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * npm and npx write to their cache. It is not that of the user, which has programs that the user starts; and not in /tmp,
 * because npx would load an agent again at each start. npm reads the variable in any case.
 */
function withoutNpmCache(env: AgentCommand["env"]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_config_cache$/i.test(name)));
}
