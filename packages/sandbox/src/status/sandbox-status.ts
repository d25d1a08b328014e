// Finds out whether a sandbox can start here, by starting one.

import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { checkOptions } from "@parley/acp/jsonrpc";
import { realPath } from "../guard/path-facts.ts";
import { bubblewrapArguments } from "../mounts/bubblewrap-arguments.ts";
import {
  explainFailure,
  installCommand,
  isAtLeast,
  type Observed,
  oldestVersion,
  type SandboxFailure,
} from "./explain-failure.ts";
import { findTool } from "./find-tool.ts";

/** The programs that a sandbox uses. */
export interface SandboxTools {
  readonly bubblewrap: string;
  readonly version: string;
  /** Whether a sandbox can have a new /proc. Inside another sandbox, root cannot mount one. */
  readonly hasOwnProc: boolean;
  /** GNU env, which lets signals pass bubblewrap and reach the command. */
  readonly env: string | undefined;
  readonly socat: string | undefined;
  readonly setsid: string | undefined;
  /** Closes what this process has inherited. */
  readonly bash: string | undefined;
}

/** Whether a sandbox can start here. */
export type SandboxStatus =
  | {
      readonly isAvailable: true;
      /** The path and version of bubblewrap. */
      readonly program: string;
      readonly version: string;
      /** Why hosts cannot be allowed by name, if they cannot. */
      readonly hostsProblem?: { readonly reason: string; readonly fix: string };
    }
  | ({ readonly isAvailable: false } & SandboxFailure);

/** What was found, with the programs. */
export type Probed = { readonly status: SandboxStatus; readonly tools?: SandboxTools };

const probed = new Map<string, Promise<Probed>>();

/**
 * Whether a sandbox can start here, and if not, why and what to do. It starts one, once per process.
 *
 * @param options - `roots`: the folders of the workspace, from which bubblewrap is never taken.
 * @example
 * ```ts
 * import { sandboxStatus } from "@parley/sandbox";
 *
 * const status = await sandboxStatus();
 * console.log(status.isAvailable ? `bubblewrap ${status.version}` : `${status.reason}: ${status.fix}`);
 * ```
 */
export async function sandboxStatus(
  options: { readonly roots?: readonly string[] } = {},
): Promise<SandboxStatus> {
  checkOptions("sandboxStatus", options, { roots: true });
  return (await probeSandbox(options.roots ?? [])).status;
}

export function probeSandbox(roots: readonly string[]): Promise<Probed> {
  const find = (name: string) => findTool(name, process.env["PATH"], roots);
  const [bubblewrap, env, socat, setsid, bash] = ["bwrap", "env", "socat", "setsid", "bash"].map(find);
  const key = JSON.stringify([bubblewrap, env, socat, setsid, bash]);
  const known = probed.get(key) ?? probe({ bubblewrap, env, socat, setsid, bash });
  probed.set(key, known);
  return known;
}

type Programs = Readonly<Record<"bubblewrap" | "env" | "socat" | "setsid" | "bash", string | undefined>>;

async function probe({ bubblewrap, env, socat, setsid, bash }: Programs): Promise<Probed> {
  const observed = observe();
  const failed = (more: Partial<Observed>): Probed => ({
    status: { isAvailable: false, ...explainFailure({ ...observed, program: bubblewrap, ...more }) },
  });
  if (observed.platform !== "linux" || bubblewrap === undefined)
    return failed({ inWorkspace: findTool("bwrap", process.env["PATH"], []) });
  const shown = await run(bubblewrap, ["--version"]);
  const version = /\d+(?:\.\d+)+/.exec(shown.output)?.[0];
  if (version === undefined) return failed({ output: shown.output });
  if (!isAtLeast(version, oldestVersion)) return failed({ oldVersion: version });
  const signals = env === undefined ? undefined : await run(env, ["--ignore-signal=TERM", "true"]);
  const tried = await run(bubblewrap, [...trial(version, true), "true"]);
  const isStarted =
    tried.isDone ||
    // what is seen in the /proc around is then the business of the sandbox around, and not of the host
    (observed.isInSandbox && (await run(bubblewrap, [...trial(version, false), "true"])).isDone);
  if (!isStarted) return failed({ output: tried.output, isSetuid: isSetuid(bubblewrap) });
  const install = installCommand(observed.distribution, observed.isRoot).replace("bubblewrap ", "");
  const hostsProblem = { reason: "socat is not installed, so hosts cannot be allowed by name", fix: install };
  return {
    status: {
      isAvailable: true,
      program: bubblewrap,
      version,
      ...(socat === undefined ? { hostsProblem } : {}),
    },
    tools: {
      bubblewrap,
      version,
      hasOwnProc: tried.isDone,
      env: signals?.isDone === true ? env : undefined,
      socat,
      setsid,
      bash,
    },
  };
}

/** What every command gets, with all namespaces. */
function trial(version: string, hasOwnProc: boolean): readonly string[] {
  return bubblewrapArguments({
    entries: [],
    temporaryFolder: tmpdir(),
    hasNetwork: false,
    cwd: "/",
    env: {},
    newSession: false,
    isRoot: process.getuid?.() === 0,
    nesting: "user",
    canForbidNesting: canForbidNesting(version),
    hasVarTmp: false,
    hasOwnProc,
  }).options;
}

export function canForbidNesting(version: string): boolean {
  return isAtLeast(version, "0.8.0");
}

function run(
  program: string,
  args: readonly string[],
): Promise<{ readonly isDone: boolean; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 20_000, encoding: "utf8", cwd: "/" }, (error, stdout, stderr) => {
      resolve({ isDone: error === null, output: `${stdout}${stderr}` });
    });
  });
}

function observe(): Observed {
  const release = text("/etc/os-release");
  const ids = [...release.matchAll(/^(?:ID|ID_LIKE)=["']?([^"'\n]*)/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  const setting = (name: string) => text(`/proc/sys/${name}`).trim();
  return {
    platform: process.platform,
    distribution: ids,
    output: "",
    apparmorRestricts: setting("kernel/apparmor_restrict_unprivileged_userns") === "1",
    userNamespacesOff:
      setting("user/max_user_namespaces") === "0" || setting("kernel/unprivileged_userns_clone") === "0",
    isContainer:
      existsSync("/.dockerenv") || existsSync("/run/.containerenv") || process.env["container"] !== undefined,
    // the first process of a process namespace that bubblewrap has created
    isInSandbox: text("/proc/1/comm").trim() === "bwrap",
    isRoot: process.getuid?.() === 0,
    isSetuid: false,
  };
}

function isSetuid(program: string): boolean {
  const real = realPath(program);
  return real !== undefined && (statSync(real).mode & 0o4000) !== 0;
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
