// Reads and matches patterns of hosts: `example.org`, `*.example.org`, `example.org:443`.

import { PatternError } from "./name-pattern.ts";

/** Throws a PatternError for what is no host. */
export function checkHostPattern(pattern: string): void {
  if (/^(?:\*|(?:\*\.)?[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(pattern)) return;
  throw new PatternError(
    "a host is example.org, *.example.org or example.org:443, without a scheme or a path",
  );
}

/** Generous: where no port is said it may be the one that is meant. */
export function matchesHost(pattern: string, host: string, isGenerous: boolean): boolean {
  const [, wantedName = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase().replace(/\.(?=:|$)/, "")) ?? [];
  if (wantedPort !== undefined && wantedPort !== port && !(isGenerous && port === undefined)) return false;
  if (wantedName === "*") return true;
  return wantedName.startsWith("*.") ? name.endsWith(wantedName.slice(1)) : name === wantedName;
}

/** Whether a host, with or without a port, is the machine that Parley runs on. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?)$/.test(name);
}
