// A home with secrets and a workspace with a repository, outside /tmp, because a sandbox has its own /tmp.

import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox, type SandboxFindings, type SandboxOptions } from "@parley/sandbox";
import { isBelowTmp } from "./required-sandbox.ts";

const ownPlace = process.getuid?.() === 0 ? "/srv" : homedir();
/** `PARLEY_TEST_PLACE`: a folder of the user who runs the tests, who may not own this repository. */
export const cache =
  process.env["PARLEY_TEST_PLACE"] ??
  (isBelowTmp ? ownPlace : fileURLToPath(new URL("../../../../node_modules/.cache", import.meta.url)));

export interface Workplace {
  readonly base: string;
  readonly home: string;
  readonly work: string;
  readonly outside: string;
  /** Opens a sandbox on the workspace. The test closes it. */
  open(options?: Partial<SandboxOptions>): Promise<Sandbox>;
}

/** Whoever removes what a test has created: the context of the test. */
interface Ending {
  after(end: () => void | Promise<void>): void;
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly findings: SandboxFindings;
}

/** Creates the folders, for another user if one is given. The test removes them. */
export function workplace(t: Ending, owner?: number): Workplace {
  mkdirSync(cache, { recursive: true });
  const base = realpathSync(mkdtempSync(join(cache, "sandbox-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const place = placeIn(base, t);
  writeFileSync(join(base, freshMark), "");
  // the workplace lies in the repository of Parley, and git looks for one upwards: an attack that moves .git away, where
  // the sandbox fails, must not change that one
  git(base, "init", "-q");
  for (const folder of [place.work, place.outside]) mkdirSync(folder);
  put(base, {
    "home/.ssh/id_ed25519": "SECRET",
    "home/.npmrc": "SECRET",
    "home/.bashrc": "kept",
    "home/.config/tool/settings": "plain",
    "outside/file": "kept",
    "hidden/secret": "SECRET",
    "work/file": "old",
    "work/locked/file": "kept",
    "work/locked/open/file": "kept",
    "work/.claude/settings.json": "kept",
    "work/packages/a/.vscode/settings.json": "kept",
    "work/packages/a/index.js": "",
  });
  git(place.work, "init", "-q");
  git(place.work, "config", "core.hooksPath", "scripts/hooks");
  put(place.work, { ".git/hooks/pre-push": "kept", "scripts/hooks/pre-commit": "kept" });
  if (owner !== undefined) for (const path of ["", ...below(base)]) chownSync(join(base, path), owner, owner);
  return place;
}

/** In a workplace that nobody has used yet. */
const freshMark = ".fresh";

/** Throws unless a folder is a workplace that nobody has used: attacks must not run anywhere else. */
export function takeFresh(base: string): void {
  // fails where there is none
  rmSync(join(base, freshMark));
}

/** A workplace that exists already. */
export function placeIn(base: string, t?: Ending): Workplace {
  const [home, work, outside] = ["home", "work", "outside"].map((name) => join(base, name));
  if (home === undefined || work === undefined || outside === undefined) throw new Error("there are three");
  const open = async (options: Partial<SandboxOptions> = {}) => {
    const sandbox = await openSandbox({
      roots: [work],
      homeFolder: home,
      aside: join(base, "aside"),
      ...options,
    });
    t?.after(() => sandbox.close());
    return sandbox;
  };
  return { base, home, work, outside, open };
}

/** Writes files with their folders. */
export function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Everything below a folder, relative to it. */
export function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

/** With the variables of a hook, git would take the repository that it runs for. */
function gitEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
}

export function git(cwd: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...who, ...args], {
    cwd,
    env: gitEnvironment(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Runs a script in the sandbox and tells how it ended. */
export async function runIn(
  sandbox: Sandbox,
  script: string,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> },
): Promise<Outcome> {
  const env = { PATH: process.env["PATH"], LANG: "C", ...options.env };
  const run = sandbox.wrap({ command: "sh", args: ["-c", script], cwd: options.cwd, env, ownSession: true });
  const child = spawn(run.command, run.args, {
    cwd: run.cwd,
    env: run.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...status) => resolve(status));
  });
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, signal, stdout, stderr, findings: run.finished() };
}
