// Runs `parley` as a script does, with agents that play a scenario.

import { type ChildProcess, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { AgentScenario, AgentStep } from "@parley/conformance/testing";
import { launcher, programCommand } from "../../../acp/test/support/programs.ts";
import { type Ran, runInProcess } from "./in-process.ts";

export { launcher, type Ran };
export const patience = { timeout: 120_000 };

export interface RunEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** It starts a process. False leaves it open, for `onOutput` to write to. */
  readonly input?: string | false;
  readonly cwd?: string;
  /** Called when its process has been started. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Sees stdout as it grows, of a process. */
  readonly onOutput?: (stdout: string, child: ChildProcess) => void;
}

/** Commands that need neither a terminal nor a signal to end. */
const endByThemselves: ReadonlySet<string> = new Set(["run", "sessions", "permissions", "agents", "config"]);

/** A folder of its own for one file of tests: everything that parley keeps is in there. */
export class RunProbe {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), "parley-run-test-")));
  readonly cwd: string = join(this.folder, "project");
  readonly home: string = join(this.folder, "home");
  /** In the environment of everything that a test starts, so that what is left of it can be found. */
  readonly mark: string = `parley-run-test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  #scenarios = 0;

  constructor() {
    mkdirSync(this.cwd);
    after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** The argv of an agent that plays this. */
  agent(scenario: Partial<AgentScenario> | readonly AgentStep[]): string[] {
    const play = isSteps(scenario) ? { otherwise: scenario } : scenario;
    const file = join(this.folder, `scenario-${++this.#scenarios}.json`);
    writeFileSync(file, JSON.stringify({ parley: "agent-scenario", version: 1, ...play }));
    return [...programCommand("conformance/test/support/scripted-agent-process.ts"), file];
  }

  /** Runs the command in this process, if it needs none of its own. */
  parley(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { input = "", onOutput, cwd = this.cwd } = options;
    const needsProcess = input !== "" || onOutput !== undefined || !endByThemselves.has(args[0] ?? "");
    if (needsProcess) return this.started(args, options);
    return runInProcess(args, { cwd, env: this.#environment(options) });
  }

  /** Starts a process, as a shell does. */
  started(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.#start(launcher, args, options);
  }

  /** As it is typed into a shell; `args` are "$@". */
  typed(line: string, args: readonly string[] = [], options: RunOptions = {}): Promise<Ran> {
    return this.#start("/bin/sh", ["-c", `"$0" ${line}`, launcher, ...args], options);
  }

  /** With a terminal of so many columns for stdout and stderr, whose text is stdout here. */
  atTerminal(columns: number, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const words = [launcher, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const line = `stty cols ${columns}; ${words.join(" ")}`;
    return this.#start("/usr/bin/script", ["--quiet", "--return", "--command", line, "/dev/null"], options);
  }

  #environment({ env }: RunOptions): NodeJS.ProcessEnv {
    return {
      ...process.env,
      PARLEY_HOME: this.home,
      PARLEY_MODEL: "offline",
      // one cache for the command and for the agents, which inherit it
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(this.folder, "cache"),
      PARLEY_TEST_MARK: this.mark,
      ...env,
    };
  }

  #start(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
    const child = spawn(program, args, {
      cwd: options.cwd ?? this.cwd,
      env: this.#environment(options),
      stdio: "pipe",
    });
    options.onStart?.(child);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      options.onOutput?.(stdout, child);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => {
      // it may have left without reading
    });
    if (options.input !== false) child.stdin.end(options.input ?? "");
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status, signal) => resolve({ status, signal, stdout, stderr }));
    });
  }

  /** One prompt to an agent that plays this. */
  run(
    scenario: Partial<AgentScenario> | readonly AgentStep[],
    args: readonly string[] = [],
    options: RunOptions = {},
  ): Promise<Ran> {
    return this.parley(["run", "--no-history", "hello", ...args, "--", ...this.agent(scenario)], options);
  }

  /** Processes that a test started, directly or not, and that still live. */
  leftovers(mark: string = this.mark): string[] {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark);
      } catch {
        // it has gone, or is somebody else's
        return false;
      }
    });
  }
}

export function eventsOf({ stdout }: Ran): RunEvent[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunEvent);
}

/** Ctrl-C as soon as stdout has this, once. */
export function interruptAt(words: string): Pick<RunOptions, "onOutput"> {
  let isDone = false;
  return {
    onOutput(stdout, child) {
      if (isDone || !stdout.includes(words)) return;
      isDone = true;
      child.kill("SIGINT");
    },
  };
}

function isSteps(scenario: Partial<AgentScenario> | readonly AgentStep[]): scenario is readonly AgentStep[] {
  return Array.isArray(scenario);
}
