// Remembers agents that did something without asking, by their command and version.

import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";

/** Identifies the program of an agent. */
export interface AgentIdentity {
  readonly command: string;
  readonly version: string;
}

const fileIn = (folder: string): string => join(folder, "never-asks.ndjson");

/** The rule that the agent broke without asking, in words. Undefined if it broke none. */
export function brokenBy(folder: string, { command, version }: AgentIdentity): string | undefined {
  const path = fileIn(folder);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  for (const line of lines) {
    const seen = readLine(line);
    if (seen?.["command"] === command && seen["version"] === version) return String(seen["rule"]);
  }
  return undefined;
}

export function noteBroken(folder: string, agent: AgentIdentity, rule: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const line = JSON.stringify({ ...agent, rule, time: new Date().toISOString() });
  const path = fileIn(folder);
  // a process that was killed may have left half a line
  const isCut = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, "utf8"));
  appendFileSync(path, `${isCut ? "\n" : ""}${line}\n`, { mode: 0o600 });
}

/** Returns a sentence that says what was forgotten. */
export function forgetBroken(folder: string): string {
  const isThere = existsSync(fileIn(folder));
  rmSync(fileIn(folder), { force: true });
  return isThere
    ? "Forgot which agents did something without asking."
    : "No agent did anything without asking.";
}

function readLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const seen: unknown = JSON.parse(line);
    return isObject(seen) ? seen : undefined;
  } catch {
    // a process was killed while it wrote this line
    return undefined;
  }
}
