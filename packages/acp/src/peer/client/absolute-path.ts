// Checks that a path is absolute, on the machine of whoever it is for.

import { argumentText } from "../../jsonrpc/errors.ts";

/** Throws a TypeError for a path that is not absolute on any system: the agent's may not be ours. */
export function checkAbsolute(method: string, field: string, path: unknown): void {
  if (typeof path === "string" && /^(?:\/|\\\\|[a-z]:[\\/])/i.test(path)) return;
  throw new TypeError(
    `${method}: ${field} must be an absolute path such as "/home/me/project", got ${argumentText(path)}`,
  );
}
