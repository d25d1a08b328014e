// Starts git so that nothing of the workspace decides what it does: its own folder, its own config, its own environment.

import { spawn } from "node:child_process";

/** A git command takes at most this long: an agent can put something in the way that never ends. */
const timeoutMs = 10_000;
/** After this long the reason is looked for. */
const suspicionMs = 1_000;

export class GitError extends Error {}

/** Git was ended because it took too long. */
export class GitTimeout extends GitError {}

/** How git is started. */
export interface GitCommand {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Whether there is something that it never gets past. It is then ended at once. */
  readonly isHeldUp?: () => Promise<boolean>;
}

/** What every git command of ours gets: no config but ours, no network, no questions, no lazy fetches. */
export function closedEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_PAGER: "cat",
  };
}

/** Runs git to its end and gives what it printed. */
export async function runGit(
  { program, cwd, env, signal, isHeldUp }: GitCommand,
  args: readonly string[],
  { input, okCodes = [0] }: { readonly input?: string | Buffer; readonly okCodes?: readonly number[] } = {},
): Promise<Buffer> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    signal,
  });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  child.stdin.on("error", () => undefined); // git ended before it read everything; its code says why
  child.stdin.end(typeof input === "string" ? Buffer.from(input, "latin1") : input);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("close", resolve);
  const suspicion = setTimeout(async () => {
    if (await isHeldUp?.().catch(() => false)) child.kill("SIGKILL");
  }, suspicionMs);
  const code = await promise.finally(() => clearTimeout(suspicion));
  if (code !== null && okCodes.includes(code)) return Buffer.concat(out);
  if (child.killed) throw new GitTimeout(`git ${args[0]} took too long and was ended`);
  const said = Buffer.concat(errors).toString("utf8").trim().split("\n").slice(0, 3).join(" ");
  const how = code === null ? "was ended" : `ended with ${code}`;
  throw new GitError(`git ${args[0]} ${how}${said === "" ? "" : `: ${said}`}`);
}

/** The parts of output that ends each part with a zero byte. Each byte is one character. */
export function zeroSeparated(output: Buffer): string[] {
  const parts = output.toString("latin1").split("\0");
  parts.pop();
  return parts;
}
