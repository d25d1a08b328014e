// Checks the command of a terminal, which runs without a shell, and describes it while it runs.

import { constants as systemConstants } from "node:os";
import { isAbsolute } from "node:path";
import type { ExitStatus } from "../../model/content.ts";
import type { CreateTerminalOptions } from "../../model/services.ts";
import type { ProcessGroup } from "../process-group.ts";
import { invalidParam } from "./terminal-errors.ts";

/** A command as it is started. */
export interface TerminalCommand {
  /** A program on PATH, or a path. */
  readonly command: string;
  /** Its arguments, which no shell reads. */
  readonly args: readonly string[];
  /** Its working directory; an absolute path. */
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Throws RequestError "invalid_params" for a command that no system can start. */
export function commandSpec(
  options: CreateTerminalOptions,
  base: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): TerminalCommand {
  const { command, args = [], cwd = base.cwd } = options;
  if (command === "") throw invalidParam("/command", "command must not be empty; give a program or a path");
  if (command.includes("\0")) throw invalidParam("/command", "command must not contain a NUL character");
  const bad = args.findIndex((word) => word.includes("\0"));
  if (bad >= 0) throw invalidParam(`/args/${bad}`, `args[${bad}] must not contain a NUL character`);
  if (!isAbsolute(cwd) || cwd.includes("\0")) {
    throw invalidParam("/cwd", `cwd must be an absolute path, got ${JSON.stringify(cwd.slice(0, 200))}`);
  }
  checkNames(options.env ?? {});
  return { command, args, cwd, env: { ...environment(base.env), ...options.env } };
}

/** Throws RequestError "invalid_params" for anything but a whole number of bytes. */
export function checkedByteLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 0) return limit;
  throw invalidParam(
    "/outputByteLimit",
    `outputByteLimit must be a number of bytes, 0 or more, got ${limit}`,
  );
}

/** Throws RequestError "invalid_params" for anything but a number of milliseconds. */
export function checkedTimeout(timeoutMs: number | undefined): number | undefined {
  if (timeoutMs === undefined || (typeof timeoutMs === "number" && timeoutMs >= 0)) return timeoutMs;
  throw invalidParam("/timeoutMs", `timeoutMs must be a number of milliseconds, got ${String(timeoutMs)}`);
}

/** Throws RequestError "invalid_params" for what is no signal of this system. */
export function checkedSignal(signal: string): NodeJS.Signals {
  if (Object.hasOwn(systemConstants.signals, signal)) return signal as NodeJS.Signals; // one of its names
  const got = JSON.stringify(String(signal).slice(0, 50));
  throw invalidParam("/signal", `signal must be one of this system, such as "SIGINT", got ${got}`);
}

function checkNames(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name)) {
      const got = JSON.stringify(name.slice(0, 200));
      throw invalidParam("/env", `an environment name must be without "=" and NUL and not empty, got ${got}`);
    }
    if (value.includes("\0")) throw invalidParam("/env", `env ${name} must not contain a NUL character`);
  }
}

/** Our environment with the changes, without Parley's own variables. */
function environment(changes: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const ours = { ...process.env };
  delete ours.PARLEY_WIRE_FD;
  // set by our launcher; one that the user has set stays
  if (ours.PARLEY_CACHE_SET !== undefined) delete ours.NODE_COMPILE_CACHE;
  delete ours.PARLEY_CACHE_SET;
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...ours, ...changes })) {
    if (value !== undefined) env[name] = value;
  }
  return env;
}

export interface RunningCommand {
  readonly pid: number;
  readonly group: ProcessGroup;
  /** Resolves when the command's own process has exited. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** Resolves when all writers have closed its output, background processes included. Never rejects. */
  readonly outputEnded: Promise<void>;
  /** Controls the pseudo-terminal, if it has one. */
  readonly pty: PtyControl | undefined;
  /** Stops reading; further writes fail with EPIPE. */
  stopReading(): void;
}

/** Controls a pseudo-terminal. */
export interface PtyControl {
  /** Sends input, as if typed. */
  write(data: string): void;
  /** Changes the size of the screen, in characters. */
  resize(columns: number, rows: number): void;
}

/** Receives output. The buffer may be reused: copy the bytes to keep them. */
export type ByteSink = (bytes: Uint8Array) => void;
