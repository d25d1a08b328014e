// Paths of the user's config, data and state files. PARLEY_HOME moves all of them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** `parley` in the user's data directory. */
export function dataFolder(): string {
  return folder("data", "XDG_DATA_HOME", ".local", "share");
}

/** `parley` in the user's state directory. */
export function stateFolder(): string {
  return folder("state", "XDG_STATE_HOME", ".local", "state");
}

/** `parley/config.json` in the user's config directory. */
export function configPath(): string {
  return join(folder("config", "XDG_CONFIG_HOME", ".config"), "config.json");
}

/** The user's permission rules. */
export function policyPath(): string {
  return join(configPath(), "..", "policy");
}

/** The history of sessions. */
export function historyPath(): string {
  return join(dataFolder(), "history.db");
}

/** The sessions of Parley's own agent, which are its memory. */
export function ownSessionsPath(): string {
  return join(dataFolder(), "sessions.db");
}

/** Remembered permission answers. */
export function permissionsPath(): string {
  return join(dataFolder(), "permissions.ndjson");
}

/** The folders whose settings the user trusts. */
export function trustFolder(): string {
  return join(stateFolder(), "trust");
}

/** Logs of permission decisions, one per process. */
export function auditFolder(): string {
  return join(stateFolder(), "audit");
}

/** Facts about models, as last refreshed. */
export function registryPath(): string {
  return join(dataFolder(), "models.json");
}

/** Stored API keys. */
export function credentialsPath(): string {
  return join(dataFolder(), "credentials.json");
}

/** Logins to MCP servers, one file each. */
export function mcpLoginsFolder(): string {
  return join(dataFolder(), "mcp-logins");
}

/** Whether nobody asked today under this name. Keeps a date in the state folder, if that can be written. */
export function isFirstToday(name: string): boolean {
  const file = join(stateFolder(), name);
  const today = new Date().toISOString().slice(0, 10);
  try {
    if (readFileSync(file, "utf8").trim() === today) return false;
  } catch {
    // never asked
  }
  try {
    mkdirSync(stateFolder(), { recursive: true });
    writeFileSync(file, `${today}\n`, { mode: 0o600 });
  } catch {
    // a notice too many does no harm
  }
  return true;
}

function folder(name: string, variable: string, ...usual: readonly string[]): string {
  const { PARLEY_HOME: own, [variable]: given } = process.env;
  if (own !== undefined && own !== "") return resolve(own, name);
  // the XDG specification says to ignore relative paths
  return join(given?.startsWith("/") ? given : join(home(), ...usual), "parley");
}

/** HOME, unless it is relative. */
function home(): string {
  const given = homedir();
  return isAbsolute(given) ? given : userInfo().homedir;
}
