// Checks the command of a terminal, which runs without a shell, and describes it while it runs.

import { accessSync, constants, existsSync } from "node:fs";
import { constants as systemConstants } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { optional } from "../../base/objects.ts";
import type { RequestErrorKind } from "../../jsonrpc/error-kinds.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { ExitStatus } from "../../model/content.ts";
import type { CreateTerminalOptions } from "../../model/services.ts";
import { isMissingCommand } from "../path-search.ts";
import type { ProcessGroup } from "../process-group.ts";

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

/** `path` is a JSON pointer to the wrong parameter. */
export function invalidParam(path: string, message: string): RequestError {
  return RequestError.invalidParams(`terminal/create: ${message}`, path);
}

export function unknownTerminal(): RequestError {
  const message = "there is no such terminal: it was released, or never created here";
  return new RequestError("not_found", message, { data: { reason: "terminal_not_found" } });
}

export function tooManyTerminals(most: number): RequestError {
  const message = `terminal/create: the limit of ${most} terminals is reached; release one that has ended`;
  return new RequestError("limit_exceeded", message, { data: { reason: "limit_exceeded" } });
}

export function terminalsClosed(): RequestError {
  const message = "terminal/create: the session's terminals have been closed";
  return new RequestError("unavailable", message, { data: { reason: "unavailable" } });
}

/** Explains why a command did not start. */
export function startFailure(spec: TerminalCommand, cause: NodeJS.ErrnoException): RequestError {
  const { kind, reason, message, path } = explain(spec, cause);
  const data = { reason, ...optional({ path }) };
  return new RequestError(kind, `could not start ${JSON.stringify(spec.command)}: ${message}`, {
    data,
    cause,
  });
}

interface Explanation {
  readonly kind: RequestErrorKind;
  readonly reason: string;
  readonly message: string;
  readonly path?: string;
}

function explain({ command, cwd, env }: TerminalCommand, cause: NodeJS.ErrnoException): Explanation {
  if (!canEnter(cwd)) {
    const message = `its working directory ${cwd} does not exist or cannot be entered; give another cwd`;
    return { kind: "not_found", reason: "cwd_not_found", path: "/cwd", message };
  }
  if (isMissingCommand(command, cause, env["PATH"])) {
    return {
      kind: "not_found",
      reason: "command_not_found",
      path: "/command",
      message: whyMissing(command, cwd),
    };
  }
  if (cause.code === "EACCES" || cause.code === "EPERM") {
    const message =
      "it is not executable; chmod +x it, or start it through its interpreter (sh, node, python)";
    return { kind: "invalid_params", reason: "not_executable", path: "/command", message };
  }
  if (cause.code === "E2BIG") {
    const message = "its arguments and environment are too long; pass large input in a file";
    return { kind: "invalid_params", reason: "too_long", path: "/args", message };
  }
  // usually out of processes, descriptors or memory
  return { kind: "unavailable", reason: "unavailable", message: cause.code ?? "the system refused" };
}

function whyMissing(command: string, cwd: string): string {
  if (!command.includes("/")) {
    const hint = /\s/.test(command) ? "; arguments belong in args, a shell line in sh -c" : "";
    return `there is no such command on PATH; install it, or give the full path${hint}`;
  }
  return existsSync(resolve(cwd, command))
    ? "the interpreter named in its first line does not exist; install it, or start the file through another one"
    : "there is no such file; check the path";
}

function canEnter(folder: string): boolean {
  try {
    accessSync(`${folder}/.`, constants.X_OK);
    return true;
  } catch {
    // missing, a file, or forbidden
    return false;
  }
}
