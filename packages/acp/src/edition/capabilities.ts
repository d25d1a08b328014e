// Declares, reads and masks the capabilities of clients and agents. Each is one row, with its place in both versions.

import { isObject } from "../base/objects.ts";
import { lists, type UnstableFeature, type UnstableFeatures } from "../validation/unstable-features.ts";
import type { AgentCapabilities, ClientCapabilities } from "./agent-edition.ts";
import type { ProtocolVersion } from "./negotiate.ts";
import { terminalOutputKey } from "./vendor-extensions.ts";

/**
 * The path of an object that is there or not. Behind `=` that of a boolean, behind `?` of one that is left out if it is
 * false. A boolean: all peers of the version have the capability, or none.
 */
type Place = string | boolean;
type Places<Name extends string> = Readonly<Record<Name, readonly [v1: Place, v2: Place]>>;

type ClientName = Exclude<keyof ClientCapabilities, "_meta" | "partsMeta">;
type AgentName = Exclude<keyof AgentCapabilities, "_meta" | "partsMeta">;

export const clientPlaces: Places<ClientName> = {
  readTextFile: ["=fs.readTextFile", false],
  writeTextFile: ["=fs.writeTextFile", false],
  terminal: ["=terminal", false],
  terminalAuth: ["?auth.terminal", "auth.terminal"],
  elicitationForm: ["elicitation.form", "elicitation.form"],
  elicitationUrl: ["elicitation.url", "elicitation.url"],
  booleanOptions: ["session.configOptions.boolean", true],
  notices: ["session.notices", true],
  compaction: ["session.compaction", true],
  plans: ["plan", true],
  subagents: ["subagents", true],
  terminalOutput: [`?_meta.${terminalOutputKey}`, true],
};

export const agentPlaces: Places<AgentName> = {
  image: ["=promptCapabilities.image", "session.prompt.image"],
  audio: ["=promptCapabilities.audio", "session.prompt.audio"],
  embeddedContext: ["=promptCapabilities.embeddedContext", "session.prompt.embeddedContext"],
  mcpStdio: [true, "session.mcp.stdio"],
  mcpHttp: ["=mcpCapabilities.http", "session.mcp.http"],
  mcpSse: ["=mcpCapabilities.sse", false],
  mcpAcp: ["?mcpCapabilities.acp", "session.mcp.acp"],
  sessions: [true, "session"],
  load: ["=loadSession", "session"],
  resume: ["sessionCapabilities.resume", "session"],
  list: ["sessionCapabilities.list", "session"],
  close: ["sessionCapabilities.close", "session"],
  delete: ["sessionCapabilities.delete", "session.delete"],
  fork: ["sessionCapabilities.fork", "session.fork"],
  archive: ["sessionCapabilities.archive", "session.archive"],
  sessionStatus: ["sessionCapabilities.status", "session.status"],
  setTitle: ["sessionCapabilities.title", "session.title"],
  // what version 1 says is beside its capabilities; in version 2 a second prompt may join the work that is running
  steer: [false, "session"],
  additionalDirectories: ["sessionCapabilities.additionalDirectories", "session.additionalDirectories"],
  systemPrompt: ["sessionCapabilities.systemPrompt", "session.systemPrompt"],
  systemPromptOverride: [
    "sessionCapabilities.systemPrompt.mode.override",
    "session.systemPrompt.mode.override",
  ],
  // version 2 says it by its ways to log in
  logout: ["auth.logout", false],
  authStatus: ["auth.status", "auth.status"],
  providers: ["providers", "providers"],
};

/** The capabilities that belong to unstable features. */
const features = {
  mcpAcp: "mcp_over_acp",
  fork: "fork",
  archive: "archive",
  sessionStatus: "session_status",
  setTitle: "session_title",
  systemPrompt: "system_prompt",
  systemPromptOverride: "system_prompt",
  authStatus: "auth_status",
  providers: "providers",
} as const satisfies Partial<Record<AgentName, UnstableFeature>>;

/** The unstable capabilities of an agent, by its features. */
export function unstableCapabilities(unstable: UnstableFeatures): Record<keyof typeof features, boolean> {
  return each(features, (_, feature) => lists(unstable, feature));
}

/** Without those whose feature is not enabled. */
export function enabledCapabilities(can: AgentCapabilities, unstable: UnstableFeatures): AgentCapabilities {
  return { ...can, ...each(features, (name, feature) => can[name] && lists(unstable, feature)) };
}

function each<Name extends string, Row>(
  rows: Readonly<Record<Name, Row>>,
  has: (name: Name, row: Row) => boolean,
): Record<Name, boolean> {
  const names = Object.keys(rows) as Name[]; // of a constant
  return Object.fromEntries(names.map((name) => [name, has(name, rows[name])])) as Record<Name, boolean>; // all of them
}

export function fromWire<Name extends string>(
  places: Places<Name>,
  version: ProtocolVersion,
  declared: unknown,
): Record<Name, boolean> {
  return each(places, (_, row) => {
    const place = row[version - 1];
    if (typeof place !== "string") return place === true;
    const inside = (part: unknown, name: string) => (isObject(part) ? part[name] : undefined);
    const value = place.replace(/^[=?]/, "").split(".").reduce(inside, declared);
    return /^[=?]/.test(place) ? value === true : value != null;
  });
}

interface Part {
  [name: string]: Part | boolean;
}

/** Adds the capabilities to what is declared in any case. */
export function toWire<Name extends string, Wire extends object>(
  places: Places<Name>,
  version: ProtocolVersion,
  can: Readonly<Record<Name, boolean>>,
  declared: Wire,
): Wire {
  for (const name of Object.keys(places) as Name[]) {
    const place = places[name][version - 1];
    if (typeof place !== "string" || (!can[name] && !place.startsWith("="))) continue;
    const keys = place.replace(/^[=?]/, "").split(".");
    const last = keys.pop() ?? "";
    let part = declared as Part; // as: plain JSON
    for (const key of keys) {
      part[key] ??= {};
      part = part[key] as Part; // as: no boolean has parts
    }
    if (/^[=?]/.test(place)) part[last] = can[name];
    else part[last] ??= {};
  }
  return declared;
}
