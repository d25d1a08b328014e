// Reads and matches patterns of hosts: `example.org`, `*.example.org`, `example.org:443`.

import type { RuleEffect } from "../subjects/subject.ts";
import { PatternError } from "./name-pattern.ts";
import type { Rule } from "./rule.ts";

/** Throws a PatternError for what is no host. `effect` is that of a rule. */
export function checkHostPattern(pattern: string, effect?: RuleEffect): void {
  if (!/^(?:\*|(?:\*\.)?[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(pattern))
    throw new PatternError(
      "expected a host without a scheme or a path: example.org, *.example.org or example.org:443",
    );
  if (effect === "allow" && pattern !== thisMachine && isThisMachine(pattern.replace(/^\*/, "")))
    throw new PatternError(
      `net ${thisMachine} means the whole network of this machine; a port or an address cannot be picked; write net ${thisMachine}`,
    );
}

/** The pattern that opens the network of this machine to commands in a sandbox, which have one of their own. */
export const thisMachine = "localhost";

export function isForThisMachine({ effect, operation, pattern }: Rule): boolean {
  return effect === "allow" && operation === "net" && pattern === thisMachine;
}

/** Nothing in the network of this machine can be held back, so a rule that forbids or asks about any host keeps it closed. */
export function closesThisMachine({ effect, operation }: Rule): boolean {
  return effect !== "allow" && (operation === "net" || operation === "*");
}

/** Generous: where no port is said it may be the one that is meant. */
export function matchesHost(pattern: string, host: string, isGenerous: boolean): boolean {
  const [, wantedName = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase().replace(/\.(?=:|$)/, "")) ?? [];
  if (wantedPort !== undefined && wantedPort !== port && !(isGenerous && port === undefined)) return false;
  if (wantedName === "*") return true;
  return wantedName.startsWith("*.") ? name.endsWith(wantedName.slice(1)) : name === wantedName;
}

/** By its other name, too, where it is this machine. */
export function hostNames(host: string): readonly string[] {
  return isThisMachine(host) ? [host, host.replace(/^.*?(?=:\d+$|$)/, thisMachine)] : [host];
}

/** Whether a host, with or without a port, is the machine that Parley runs on. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?)$/.test(name);
}
