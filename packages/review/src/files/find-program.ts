// Finds a program on PATH that is not part of the workspace: whoever wrote the project, or an agent, may have put one there.

import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";

/**
 * Finds a program on PATH outside some folders. Both sides are compared by their real paths: a folder on PATH may be a link
 * into the workspace, and the workspace may be named through a link.
 *
 * @param name - The program, such as `git`.
 * @param folders - The folders that it must not be in, absolute.
 * @param env - The environment that has PATH. `process.env` unless given.
 * @returns Its path; undefined when there is none outside the folders.
 * @example
 * ```ts
 * import { findProgram } from "@parley/review";
 *
 * console.log(await findProgram("git", [process.cwd()])); // /usr/bin/git
 * ```
 */
export async function findProgram(
  name: string,
  folders: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const named = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  const closed = [...new Set([...folders, ...named])];
  const isInside = (path: string) =>
    closed.some((folder) => `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`));
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = join(folder, file);
    const real = await realpath(program).catch(() => undefined);
    // the folder too: a link in the workspace can be turned to another program later
    const realFolder = await realpath(dirname(program)).catch(() => undefined);
    if (real === undefined || realFolder === undefined) continue;
    if ([program, real, realFolder].some(isInside)) continue;
    const canRun = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    // under its own name: some programs are links to one that looks at the name
    if (canRun) return program;
  }
  return undefined;
}
