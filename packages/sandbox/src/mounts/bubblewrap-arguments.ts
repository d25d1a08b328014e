// Writes the arguments of bubblewrap. It is a pure function: the same plan gives the same arguments.

import { isAtOrBelow, type LayoutEntry } from "./layout.ts";
import { vanishingMountsOption } from "./vanishing-mounts.ts";

/** Everything that bubblewrap is told, except for the command. */
export interface SandboxPlan {
  /** In order of mounting. */
  readonly entries: readonly LayoutEntry[];
  /** The folder outside that is /tmp inside. */
  readonly temporaryFolder: string;
  readonly hasNetwork: boolean;
  /** The folder with the sockets of the forwarder. */
  readonly forwarderFolder?: string | undefined;
  readonly cwd: string;
  /** Variables that bubblewrap sets inside. Other users can read them, as all arguments. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether bubblewrap creates a session. */
  readonly newSession: boolean;
  readonly isRoot: boolean;
  /** Whether programs inside may create sandboxes of their own: also as root, if the kernel lets them, or never. */
  readonly nesting: "always" | "user" | "never";
  /** Whether bubblewrap can forbid them (from 0.8). */
  readonly canForbidNesting: boolean;
  readonly hasVarTmp: boolean;
  /**
   * Whether it gets a new /proc. Where the kernel refuses one, it sees the /proc around, read-only. A user namespace of
   * its own then keeps it from the memory, variables and files of the processes that it sees.
   */
  readonly hasOwnProc: boolean;
}

/** Where the sockets of the forwarder are inside. */
export const forwarderMount = "/run/parley-hosts";

/**
 * Files of /proc that belong to root and obey it even without capabilities. `core_pattern` in /proc/sys names a program
 * that the kernel would run outside the sandbox. Bubblewrap itself covers `irq` and `bus`.
 */
const procOfRoot = ["sys", "sysrq-trigger", "fs", "acpi", "scsi", "mtrr", "asound"];

/** What bubblewrap is started with. */
export interface BubblewrapArguments {
  /** The arguments, except for the command. */
  readonly options: readonly string[];
  /** The mounts that are left out if they fail, each in three words. */
  readonly vanishing: readonly string[];
}

export function bubblewrapArguments(plan: SandboxPlan): BubblewrapArguments {
  const own = ["/dev", "/proc", "/tmp", ...(plan.hasVarTmp ? ["/var/tmp"] : [])];
  // a workspace such as / must not cover what the sandbox has of its own
  const isAround = ({ path }: LayoutEntry) => own.some((each) => each !== path && isAtOrBelow(each, path));
  const mounts = (isWanted: (entry: LayoutEntry) => boolean) =>
    plan.entries.filter(isWanted).flatMap((entry) => mount(entry, plan.entries));
  const vanishing = mounts((entry) => entry.mayVanish === true && !isAround(entry));
  const options = [
    "--die-with-parent",
    ...(plan.newSession ? ["--new-session"] : []),
    ...namespaces(plan),
    "--cap-drop",
    "ALL",
    // without it, the kernel does not let root map itself in a namespace inside
    ...(plan.isRoot && plan.nesting === "always" ? ["--cap-add", "CAP_SETFCAP"] : []),
    "--ro-bind",
    "/",
    "/",
    ...mounts(isAround),
    "--dev",
    "/dev",
    ...(plan.hasOwnProc ? ["--proc", "/proc"] : []),
    ...(plan.isRoot && plan.hasOwnProc
      ? procOfRoot.flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`])
      : []),
    ...["/tmp", ...(plan.hasVarTmp ? ["/var/tmp"] : [])].flatMap((path) => [
      "--bind",
      plan.temporaryFolder,
      path,
    ]),
    ...mounts((entry) => entry.mayVanish !== true && !isAround(entry)),
    // they come last: nothing else is mounted below them
    ...(vanishing.length === 0 ? [] : vanishingMountsOption),
    ...(plan.forwarderFolder === undefined ? [] : ["--ro-bind", plan.forwarderFolder, forwarderMount]),
    ...Object.entries(plan.env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    plan.cwd,
    "--",
  ];
  return { options, vanishing };
}

function namespaces({ hasNetwork, nesting, canForbidNesting, hasOwnProc }: SandboxPlan): string[] {
  const forbidsNesting = nesting === "never" && canForbidNesting;
  return [
    forbidsNesting || !hasOwnProc ? "--unshare-user" : "--unshare-user-try",
    ...(forbidsNesting ? ["--disable-userns"] : []),
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(hasNetwork ? [] : ["--unshare-net"]),
  ];
}

function mount(entry: LayoutEntry, all: readonly LayoutEntry[]): string[] {
  const { path, how, source = path } = entry;
  if (how === "write") return ["--bind", source, path];
  if (how === "read") return ["--ro-bind", source, path];
  // a device on a mount without devices: opening it is refused
  if (how === "hidden" && entry.type === "file") return ["--ro-bind", "/dev/null", path];
  const hasMore = all.some((other) => other.path !== path && isAtOrBelow(other.path, path));
  // programs can pass through, but not list it
  const mode = how === "empty" ? "0755" : hasMore ? "0111" : "0000";
  // it stays writable, because making it read-only takes longer, and it ends with the command
  return ["--perms", mode, "--tmpfs", path];
}
