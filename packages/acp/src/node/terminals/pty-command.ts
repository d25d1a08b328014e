// A command behind a pseudo-terminal that somebody else makes: the function is passed in, so that this
// library needs no native code. Its shape is that of node-pty's `spawn`, which fits as it is.

import { Buffer } from "node:buffer";
import { accessSync, constants, statSync } from "node:fs";
import { constants as systemConstants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { ExitStatus } from "../../model/terminals.ts";
import { groupMark } from "../group-mark.ts";
import { ProcessGroup } from "../process-group.ts";
import type { CommandSpec } from "./command-spec.ts";
import type { ByteSink, RunningCommand } from "./running-command.ts";
import { startFailure } from "./terminal-errors.ts";

/** `spawn` of `@lydell/node-pty` or `node-pty`, or something like it. */
export type PtySpawn = (command: string, args: string[], options: PtyOptions) => Pty;

export interface PtyOptions {
  /** The value of TERM. */
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** Asks for bytes: a decoder of its own would replace what is not UTF-8. */
  readonly encoding: null;
}

export interface Pty {
  /** It must lead a session of its own, which is what a pseudo-terminal is for. */
  readonly pid: number;
  onData(listener: (data: string | Uint8Array) => void): unknown;
  /** Called when all output has been handed over. */
  onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
  write(data: string): void;
  resize(columns: number, rows: number): void;
  kill(signal?: string): void;
}

/** Throws a RequestError when the command cannot be started. */
export function startPty(spec: CommandSpec, sink: ByteSink, spawn: PtySpawn): RunningCommand {
  const mark = groupMark();
  let pty: Pty;
  try {
    findCommand(spec);
    pty = spawn(spec.command, [...spec.args], {
      name: spec.env.TERM ?? "xterm-256color",
      cols: 80,
      rows: 24,
      cwd: spec.cwd,
      env: { ...spec.env, [mark]: "1" },
      encoding: null,
    });
  } catch (error) {
    // Of the file system, or whatever the given function throws: only its code is looked at.
    throw startFailure(spec.command, spec.cwd, error as NodeJS.ErrnoException);
  }
  const exit = Promise.withResolvers<ExitStatus>();
  const leader = leaderOf(pty);
  let isReading = true;
  pty.onData((data) => {
    if (isReading) sink(typeof data === "string" ? Buffer.from(data, "utf8") : data);
  });
  pty.onExit(({ exitCode, signal }) => {
    leader.exitCode = exitCode;
    exit.resolve(signal ? { signal: signalName(signal) } : { exitCode });
  });
  return {
    pid: pty.pid,
    group: new ProcessGroup(leader, mark),
    exited: exit.promise,
    outputEnded: exit.promise.then(() => {}),
    pty: {
      write: (data) => pty.write(data),
      resize: (columns, rows) => pty.resize(columns, rows),
    },
    stopReading: () => {
      isReading = false;
    },
  };
}

interface GroupLeader {
  readonly pid: number;
  exitCode: number | null;
  readonly signalCode: null;
  kill(): void;
}

function leaderOf(pty: Pty): GroupLeader {
  // node-pty takes no signal on Windows.
  return { pid: pty.pid, exitCode: null, signalCode: null, kill: () => pty.kill() };
}

/** Throws what exec would: a pseudo-terminal starts first and reports a missing command as output. */
function findCommand({ command, cwd, env }: CommandSpec): void {
  if (process.platform === "win32") return;
  statSync(cwd);
  const folders = command.includes("/") ? [undefined] : (env.PATH ?? "/usr/bin:/bin").split(delimiter);
  let failure: unknown;
  for (const folder of folders) {
    try {
      accessSync(resolve(cwd, folder === undefined ? command : join(folder, command)), constants.X_OK);
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function signalName(signal: number): string {
  const names = Object.entries(systemConstants.signals);
  return names.find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}
