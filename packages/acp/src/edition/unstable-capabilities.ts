// Declares, reads and masks the capabilities of agents that belong to unstable features. Each is one row.

import { isObject } from "../base/objects.ts";
import { lists, type UnstableFeature, type UnstableFeatures } from "../validation/unstable-features.ts";
import type { AgentCapabilities } from "./agent-edition.ts";

/** The feature of each, and its place, which is the same in both versions below the part about sessions. */
const rows = {
  fork: ["fork", "session/fork"],
  archive: ["archive", "session/archive"],
  sessionStatus: ["session_status", "session/status"],
  setTitle: ["session_title", "session/title"],
  systemPrompt: ["system_prompt", "session/systemPrompt"],
  systemPromptOverride: ["system_prompt", "session/systemPrompt/mode/override"],
  authStatus: ["auth_status", "auth/status"],
  providers: ["providers", "providers"],
} as const satisfies Partial<
  Record<keyof AgentCapabilities, readonly [feature: UnstableFeature, place: string]>
>;

type Name = keyof typeof rows;
const names = Object.keys(rows) as Name[]; // of a constant

function each(has: (name: Name) => boolean): Pick<AgentCapabilities, Name> {
  return Object.fromEntries(names.map((name) => [name, has(name)])) as Pick<AgentCapabilities, Name>; // all of them
}

export function unstableCapabilities(unstable: UnstableFeatures): Pick<AgentCapabilities, Name> {
  return each((name) => lists(unstable, rows[name][0]));
}

/** Without those whose feature is not enabled. */
export function enabledCapabilities(can: AgentCapabilities, unstable: UnstableFeatures): AgentCapabilities {
  const mcpAcp = can.mcpAcp && lists(unstable, "mcp_over_acp");
  return { ...can, mcpAcp, ...each((name) => can[name] && lists(unstable, rows[name][0])) };
}

export function unstableFromWire(session: object | null | undefined, agent: object) {
  const declared: unknown = { ...agent, session };
  const inside = (part: unknown, name: string) => (isObject(part) ? part[name] : undefined);
  return each((name) => rows[name][1].split("/").reduce(inside, declared) != null);
}

interface Part {
  [name: string]: Part;
}

export function unstableToWire(can: AgentCapabilities) {
  const declared: Part = {};
  for (const name of names.filter((each) => can[each])) {
    let part = declared;
    for (const key of rows[name][1].split("/")) part = part[key] ??= {};
  }
  // as: the first names of the places
  return declared as { readonly [name in "session" | "auth" | "providers"]?: Record<never, never> };
}
