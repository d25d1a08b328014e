// Turns problems with trace files into errors that say what to do.

import { TraceError } from "@parley/conformance";
import { CommandError, usageError } from "../command/command-error.ts";

/** The file that a command was given. Throws a usage error if there is none. */
export function traceFile([path]: readonly string[], command: string): string {
  if (path !== undefined) return path;
  throw usageError(
    `expected a trace file: parley ${command} FILE`,
    "record one with parley tap; without --out it prints where it writes",
  );
}

/** Does some work with a trace; rejects with a CommandError if the user can fix the problem. */
export async function withTraceErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw commandError(path, error) ?? error;
  }
}

function commandError(path: string, error: unknown): CommandError | undefined {
  if (error instanceof TraceError) {
    const hint = "record traces with parley tap; see docs/tap.md";
    return new CommandError("trace", `${path}: ${error.message}`, hint);
  }
  const { code, message, path: which = path } = error as NodeJS.ErrnoException; // any error; checked next
  if (code === "ENOENT") {
    return which === path
      ? new CommandError("not_found", `file not found: ${path}`, "check the name; parley tap prints it")
      : new CommandError(
          "not_found",
          `cannot create ${which}: its folder does not exist`,
          "create the folder, or choose another file",
        );
  }
  if (code === "EEXIST") {
    return new CommandError(
      "exists",
      message.replace(/^EEXIST: /, ""),
      "choose another name, or remove the file",
    );
  }
  return code === "EACCES" || code === "EISDIR" || code === "ENOSPC"
    ? new CommandError("file", `${path}: ${message}`, "check the file and its folder")
    : undefined;
}
