// Starts a server in a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";

export interface ServerProcess {
  /** Where it listens: the first line that it prints. */
  readonly url: string;
  readonly exited: Promise<{ readonly exitCode: number }>;
  stderrTail(): string;
  /** It ends when its input does. */
  end(): void;
}

export async function startServer([program, args]: readonly [
  string,
  readonly string[],
]): Promise<ServerProcess> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = once(child, "exit").then(([exitCode]) => ({ exitCode: Number(exitCode) }));
  const [line] = await Promise.race([
    once(child.stdout.setEncoding("utf8"), "data"),
    exited.then(() => Promise.reject(new Error(`the server did not start: ${stderr}`))),
  ]);
  return {
    url: String(line).trim(),
    exited,
    stderrTail: () => stderr,
    end: () => void child.stdin.end(),
  };
}
