// Checks that the working directory and the additional directories exist.

import { stat } from "node:fs/promises";
import { errorCodes, RequestError } from "@parley/acp";

/** Throws -32602 for the first root that is not a directory. */
export async function checkRoots(roots: readonly string[]): Promise<void> {
  for (const [index, root] of roots.entries()) {
    const facts = await stat(root).catch((error: NodeJS.ErrnoException) => error.code ?? "");
    if (typeof facts !== "string" && facts.isDirectory()) continue;
    // an unreadable directory may become readable later
    if (typeof facts === "string" && facts !== "ENOENT" && facts !== "ENOTDIR") continue;
    const is = facts === "ENOENT" ? "does not exist" : "is not a directory";
    const what = index === 0 ? "working directory" : "additional directory";
    const message = `the ${what} ${JSON.stringify(root)} ${is}: choose an existing directory`;
    const path = index === 0 ? "/cwd" : `/additionalDirectories/${index - 1}`;
    throw new RequestError(errorCodes.invalidParams, message, { reason: "not_a_directory", path });
  }
}
