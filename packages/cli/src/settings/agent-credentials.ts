// Stores the variables that users enter to log in to an agent, readable only by them and given only to that agent.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFileSync } from "@parley/acp/node";
import { dataFolder } from "./data-folder.ts";

type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function agentCredentialsPath(): string {
  return join(dataFolder(), "agent-credentials.json");
}

/** The variables of one agent. */
export function agentCredentials(agent: string): Readonly<Record<string, string>> {
  const all = readAll();
  return Object.hasOwn(all, agent) ? (all[agent] ?? {}) : {};
}

export function storeCredentials(agent: string, values: Readonly<Record<string, string>>): string {
  write({ ...readAll(), [agent]: { ...agentCredentials(agent), ...values } });
  return agentCredentialsPath();
}

/** Returns whether there were any. */
export function deleteCredentials(agent: string): boolean {
  const { [agent]: removed, ...rest } = readAll();
  if (removed === undefined) return false;
  write(rest);
  return true;
}

function readAll(): Credentials {
  let text: string;
  try {
    text = readFileSync(agentCredentialsPath(), "utf8");
  } catch {
    return {};
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Credentials) : {}; // our own file
  } catch {
    // edited by hand: log in again
    return {};
  }
}

function write(all: Credentials): void {
  const file = agentCredentialsPath();
  if (Object.keys(all).length === 0) return rmSync(file, { force: true });
  replaceFileSync(file, `${JSON.stringify(all)}\n`);
}
