// Finds a program on PATH that is not part of the workspace: whoever wrote the project may have put one there.

import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Its path; undefined when there is none outside the folders. */
export async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const isInside = (path: string) => folders.some((folder) => `${path}${sep}`.startsWith(`${folder}${sep}`));
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(folder) || isInside(folder)) continue;
    const program = join(folder, file);
    const real = await realpath(program).catch(() => undefined);
    if (real === undefined || isInside(real)) continue;
    const canRun = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    // under its own name: some programs are links to one that looks at the name
    if (canRun) return program;
  }
  return undefined;
}
