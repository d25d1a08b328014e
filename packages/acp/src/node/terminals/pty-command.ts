// Starts a command in a pseudo-terminal, by a function like node-pty's `spawn` that the caller passes in.

import { Buffer } from "node:buffer";
import { accessSync, constants, statSync } from "node:fs";
import { constants as systemConstants } from "node:os";
import { resolve } from "node:path";
import type { ExitStatus } from "../../model/content.ts";
import { findProgram } from "../path-search.ts";
import { type OwnedChild, ProcessGroup } from "../process-group.ts";
import { groupMark } from "../watchdog.ts";
import { type ByteSink, type RunningCommand, startFailure, type TerminalCommand } from "./command.ts";

/** The `spawn` function of `@lydell/node-pty` or `node-pty`, or a similar one. */
export type PtySpawn = (command: string, args: string[], options: PtyOptions) => Pty;

/** The options that a `PtySpawn` function gets. */
export interface PtyOptions {
  /** The value of TERM. */
  readonly name: string;
  /** The width of the screen, in characters: 80. */
  readonly cols: number;
  /** The height of the screen, in lines: 24. */
  readonly rows: number;
  /** The absolute working directory. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Record<string, string>;
  /** Asks for bytes instead of text. */
  readonly encoding: null;
}

/** A pseudo-terminal, as node-pty returns it. */
export interface Pty {
  /** The process must lead its own session, as in every pseudo-terminal. */
  readonly pid: number;
  /** Adds a listener for output. */
  onData(listener: (data: string | Uint8Array) => void): unknown;
  /** Adds a listener for the exit, which comes after all output. */
  onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
  /** Sends input. */
  write(data: string): void;
  /** Changes the size of the screen. */
  resize(columns: number, rows: number): void;
  /** Ends the process. Default signal: SIGHUP. */
  kill(signal?: string): void;
}

/** Throws a RequestError when the command cannot be started. */
export function startPty(spec: TerminalCommand, sink: ByteSink, spawn: PtySpawn): RunningCommand {
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
    // from the file system or the given function; only the code is used
    throw startFailure(spec, error as NodeJS.ErrnoException);
  }
  const exit = Promise.withResolvers<ExitStatus>();
  let exitCode: number | null = null;
  let isReading = true;
  pty.onData((data) => {
    if (isReading) sink(typeof data === "string" ? Buffer.from(data, "utf8") : data);
  });
  pty.onExit(({ exitCode: code, signal }) => {
    exitCode = code;
    exit.resolve(signal ? { signal: signalName(signal) } : { exitCode: code });
  });
  const leader: OwnedChild = {
    pid: pty.pid,
    get exitCode() {
      return exitCode;
    },
    signalCode: null,
    // node-pty accepts no signal on Windows
    kill: () => pty.kill(),
  };
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

/** Throws for a missing command, which a pseudo-terminal would report as output only. */
function findCommand({ command, cwd, env }: TerminalCommand): void {
  if (process.platform === "win32") return;
  statSync(cwd);
  if (findProgram(command, { cwd, path: env.PATH ?? "/usr/bin:/bin" }) !== undefined) return;
  if (command.includes("/")) accessSync(resolve(cwd, command), constants.X_OK);
  // for a name, too, if no folder has it: see isMissingCommand
  throw Object.assign(new Error(`${command} cannot be executed`), { code: "EACCES" });
}

function signalName(signal: number): string {
  const names = Object.entries(systemConstants.signals);
  return names.find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}
