// Where what must last is on this machine.

import { homedir } from "node:os";
import { join } from "node:path";

/** `parley` in the user's data directory; PARLEY_HOME moves it. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return folder("data", environment.XDG_DATA_HOME, [".local", "share"], environment);
}

/** `parley/config.json` in the user's config directory; PARLEY_HOME moves it. */
export function configPath(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folder("config", environment.XDG_CONFIG_HOME, [".config"], environment), "config.json");
}

/** The keys of those who have logged in. */
export function credentialsPath(environment: NodeJS.ProcessEnv = process.env): string {
  return join(dataFolder(environment), "credentials.json");
}

function folder(
  name: string,
  given: string | undefined,
  usual: readonly string[],
  { PARLEY_HOME: own }: NodeJS.ProcessEnv,
): string {
  if (own !== undefined && own !== "") return join(own, name);
  // a relative path is to be ignored, says the standard
  return join(given?.startsWith("/") ? given : join(homedir(), ...usual), "parley");
}
