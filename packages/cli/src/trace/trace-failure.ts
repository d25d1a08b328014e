// What goes wrong with a trace, said once for every command that reads one.

import { TraceError } from "@parley/conformance";

/** Runs a command; what the user can do something about becomes a message and exit code 1, all else is thrown. */
export async function withTraceErrors(
  path: string,
  json: boolean,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(path, error);
    if (problem === undefined) throw error;
    if (json) process.stdout.write(`${JSON.stringify({ v: 1, error: problem })}\n`);
    else process.stderr.write(`parley: ${problem.message}\nparley: ${problem.hint}\n`);
    return 1;
  }
}

export function missingFile(command: string, json: boolean): number {
  const message = `which trace? type: parley ${command} FILE`;
  const hint = "parley tap records one; without --out it says where";
  if (json) process.stdout.write(`${JSON.stringify({ v: 1, error: { code: "usage", message, hint } })}\n`);
  else process.stderr.write(`parley: ${message}\nparley: ${hint}\n`);
  return 2;
}

function problemOf(
  path: string,
  error: unknown,
): { code: string; message: string; hint: string } | undefined {
  if (error instanceof TraceError) {
    return {
      code: "trace",
      message: `${path}: ${error.message}`,
      hint: "parley tap records traces; see docs/tap.md",
    };
  }
  const { code, message, path: which = path } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" && which !== path) {
    const hint = "make its folder first, or give another name";
    return { code: "not_found", message: `${which} cannot be made: there is no such folder`, hint };
  }
  if (code === "ENOENT") {
    return {
      code: "not_found",
      message: `there is no file ${path}`,
      hint: "check the name; parley tap says where it writes",
    };
  }
  if (code === "EEXIST") {
    return {
      code: "exists",
      message: message.replace(/^EEXIST: /, ""),
      hint: "give another name, or remove it first",
    };
  }
  return code === "EACCES" || code === "EISDIR" || code === "ENOSPC"
    ? { code: "file", message: `${path}: ${message}`, hint: "check the file and its folder" }
    : undefined;
}
