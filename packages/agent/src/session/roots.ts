// Whether a session has somewhere to work. An editor that names a folder which is not there is told at once, and not
// by every call of a tool.

import { stat } from "node:fs/promises";
import { errorCodes, RequestError } from "@parley/acp";

/** Throws -32602 for the first of the roots that is no directory. */
export async function checkRoots(roots: readonly string[]): Promise<void> {
  for (const [index, root] of roots.entries()) {
    const facts = await stat(root).catch((error: NodeJS.ErrnoException) => error.code ?? "");
    if (typeof facts !== "string" && facts.isDirectory()) continue;
    // what cannot be looked at now may be reachable later
    if (typeof facts === "string" && facts !== "ENOENT" && facts !== "ENOTDIR") continue;
    const is = facts === "ENOENT" ? "does not exist" : "is no directory";
    const what = index === 0 ? "working directory" : "additional directory";
    const message = `the ${what} ${JSON.stringify(root)} ${is}: open a session where there is one`;
    const path = index === 0 ? "/cwd" : `/additionalDirectories/${index - 1}`;
    throw new RequestError(errorCodes.invalidParams, message, { reason: "not_a_directory", path });
  }
}
