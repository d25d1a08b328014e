// Paths of the user's config, data, state and cache files.

import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

/** `parley` in the user's data directory; PARLEY_HOME moves it. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return folder("data", environment.XDG_DATA_HOME, [".local", "share"], environment);
}

/** `parley/config.json` in the user's config directory; PARLEY_HOME moves it. */
export function configPath(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folder("config", environment.XDG_CONFIG_HOME, [".config"], environment), "config.json");
}

/** The user's permission rules. */
export function policyPath(environment: NodeJS.ProcessEnv = process.env): string {
  return join(configPath(environment), "..", "policy");
}

/** Remembered permission answers. */
export function permissionsPath(environment: NodeJS.ProcessEnv = process.env): string {
  return join(dataFolder(environment), "permissions.ndjson");
}

/** Logs of permission decisions, one per process. */
export function auditFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(stateFolder(environment), "audit");
}

/** `parley` in the user's state directory; PARLEY_HOME moves it. */
export function stateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return folder("state", environment.XDG_STATE_HOME, [".local", "state"], environment);
}

/** A file in `parley` in the user's cache directory; PARLEY_HOME moves it. */
export function cachePath(name: string, environment: NodeJS.ProcessEnv = process.env): string {
  return join(folder("cache", environment.XDG_CACHE_HOME, [".cache"], environment), name);
}

/** Stored API keys. */
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
  // the XDG specification says to ignore relative paths
  return join(given?.startsWith("/") ? given : join(home(), ...usual), "parley");
}

/** HOME, unless it is relative. */
function home(): string {
  const given = homedir();
  return isAbsolute(given) ? given : userInfo().homedir;
}
