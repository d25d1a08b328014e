// Runs test programs as another user than the one who runs the tests.

import { statSync } from "node:fs";
import { dirname } from "node:path";

/** The user that owns nothing. */
export const nobody = 65_534;

/** Why a program cannot be run as another user, or false, as `skip` of a test wants it. */
export function cannotBeOther(program: string): string | false {
  if (process.getuid?.() !== 0) return "only root can be another user";
  return !isOpenToAll(program) && "no other user can enter this repository";
}

/** Whether every user can enter the folders above. */
function isOpenToAll(path: string): boolean {
  const folder = dirname(path);
  return (statSync(folder).mode & 0o001) !== 0 && (folder === "/" || isOpenToAll(folder));
}
