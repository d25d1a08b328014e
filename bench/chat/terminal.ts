// Runs a program in a terminal of its own, and types into it.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** 300 MB take half a minute on a quiet machine. */
const patienceMs = 600_000;

/** util-linux has one that can run a command; without it, these benchmarks cannot run. */
export function hasTerminals(): boolean {
  return spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0;
}

export interface TerminalProgram {
  /** When it was started, by performance.now(). */
  readonly startedAt: number;
  type(keys: string): void;
  /** Resolves with the time when the terminal has received this, from now on. Rejects if the program ends before. */
  shows(wanted: string): Promise<number>;
  /** Resolves when the program has ended. */
  readonly ended: Promise<number | null>;
  /** The memory of the program, in MiB. */
  peakMiB(): number;
  /** The bytes that the terminal has received. */
  readonly received: number;
  kill(): void;
}

/** Starts a program of Node in a terminal of 100 columns and 30 rows. What it keeps is in `folder`. */
export function inTerminal(
  argv: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): TerminalProgram {
  const pidFile = join(folder, "pid");
  const quoted = [process.execPath, ...argv].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const startedAt = performance.now();
  const child = spawn(
    "script",
    ["-qfec", `stty cols 100 rows 30; echo $$ > '${pidFile}'; exec ${quoted}`, "/dev/null"],
    {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
      env: {
        ...process.env,
        TERM: "xterm-256color",
        NODE_COMPILE_CACHE: join(folder, "cache"),
        PARLEY_HOME: join(folder, "home"),
        ...env,
      },
    },
  );
  const wanted = new Map<string, { resolve(at: number): void; reject(error: Error): void }>();
  let tail = "";
  let received = 0;
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    received += text.length;
    if (wanted.size === 0) {
      tail = "";
      return;
    }
    const at = performance.now();
    const seen = tail + text;
    tail = seen.slice(-200);
    for (const [each, { resolve }] of wanted) {
      if (!seen.includes(each)) continue;
      wanted.delete(each);
      resolve(at);
    }
  });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  void ended.then(() => {
    for (const [each, { reject }] of wanted) reject(new Error(`it ended before it showed ${each}: ${tail}`));
  });
  return {
    startedAt,
    ended,
    get received() {
      return received;
    },
    type: (keys) => child.stdin.write(keys),
    shows(text) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      wanted.set(text, { resolve, reject });
      const patience = setTimeout(
        () => reject(new Error(`it never showed ${text}; the end: ${JSON.stringify(tail)}`)),
        patienceMs,
      );
      return promise.finally(() => clearTimeout(patience));
    },
    peakMiB: () => peakOf(existsSync(pidFile) ? readFileSync(pidFile, "utf8").trim() : ""),
    kill: () => child.kill(),
  };
}

function peakOf(pid: string): number {
  const status = `/proc/${pid}/status`;
  if (pid === "" || !existsSync(status)) return 0;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1] ?? 0) / 1024;
}
