// The errors of terminals; each has a `reason` for programs.

import { accessSync, constants, existsSync } from "node:fs";
import { resolve } from "node:path";
import { optional } from "../../base/objects.ts";
import type { RequestErrorKind } from "../../jsonrpc/error-kinds.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { isMissingCommand } from "../path-search.ts";
import type { TerminalCommand } from "./command.ts";

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
