// Starts `parley serve` as a script does, and reads its lines of JSON.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { launcher, type RunProbe } from "./run-probe.ts";

type Line = Readonly<Record<string, unknown>>;

export interface Served {
  readonly url: string;
  /** Undefined when it was given. */
  readonly token: string | undefined;
  readonly command: string;
  readonly child: ChildProcess;
  readonly lines: readonly Line[];
  /** The first log line that fits, now or later. */
  logged(fits: (line: Line) => boolean): Promise<Line>;
  /** Ends it by a signal; resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Ends with the test. */
export async function startServe(
  t: TestContext,
  probe: RunProbe,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = spawn(launcher, ["serve", "--json", ...args], {
    cwd: probe.cwd,
    env: {
      ...process.env,
      PARLEY_HOME: probe.home,
      PARLEY_MODEL: "offline",
      PARLEY_TEST_MARK: probe.mark,
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const end = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  t.after(() => end());
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on("line", (text) => {
    lines.push(JSON.parse(text));
    for (const look of waiting) look();
  });
  const logged = (fits: (line: Line) => boolean) =>
    new Promise<Line>((resolve, reject) => {
      const look = () => {
        const found = lines.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      void exited.then(() => reject(new Error(`parley serve has ended: ${JSON.stringify(lines)}`)));
      look();
    });
  const { command } = await logged(({ type }) => type === "command");
  const value = (type: string, name: string) => lines.find((line) => line["type"] === type)?.[name];
  const token = value("token", "token");
  return {
    url: String(value("listening", "url")),
    token: token === undefined ? undefined : String(token),
    command: String(command),
    child,
    lines,
    logged,
    end,
  };
}
