// Where what must last is on this machine.

import { homedir } from "node:os";
import { join } from "node:path";

/** `parley` in the user's data directory; PARLEY_HOME moves it. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { PARLEY_HOME: own, XDG_DATA_HOME: data } = environment;
  if (own !== undefined && own !== "") return join(own, "data");
  return join(data?.startsWith("/") ? data : join(homedir(), ".local", "share"), "parley");
}
