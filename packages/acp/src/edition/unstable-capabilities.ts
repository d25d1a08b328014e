// Lists the capabilities of agents that belong to unstable features, which both versions declare alike.

import { lists, type UnstableFeature, type UnstableFeatures } from "../validation/unstable-features.ts";
import type { AgentCapabilities } from "./agent-edition.ts";

const features = {
  fork: "fork",
  archive: "archive",
  sessionStatus: "session_status",
  setTitle: "session_title",
  systemPrompt: "system_prompt",
  systemPromptOverride: "system_prompt",
  authStatus: "auth_status",
  providers: "providers",
} as const satisfies Partial<Record<keyof AgentCapabilities, UnstableFeature>>;

type UnstableCapabilities = Pick<AgentCapabilities, keyof typeof features>;

interface DeclaredBySessions {
  readonly delete?: unknown;
  readonly additionalDirectories?: unknown;
  readonly fork?: unknown;
  readonly archive?: unknown;
  readonly status?: unknown;
  readonly title?: unknown;
  readonly systemPrompt?: { readonly mode?: { readonly override?: unknown } | null } | null;
}

interface DeclaredByAgent {
  readonly auth?: { readonly status?: unknown } | null;
  readonly providers?: unknown;
}

/** Reads the capabilities that both versions declare alike. */
export function capabilitiesFromWire(
  session: DeclaredBySessions | undefined,
  { auth, providers }: DeclaredByAgent,
): UnstableCapabilities & Pick<AgentCapabilities, "delete" | "additionalDirectories"> {
  return {
    delete: session?.delete != null,
    additionalDirectories: session?.additionalDirectories != null,
    fork: session?.fork != null,
    archive: session?.archive != null,
    sessionStatus: session?.status != null,
    setTitle: session?.title != null,
    systemPrompt: session?.systemPrompt != null,
    systemPromptOverride: session?.systemPrompt?.mode?.override != null,
    authStatus: auth?.status != null,
    providers: providers != null,
  };
}

/** Those whose feature is enabled. */
export function unstableCapabilities(unstable: UnstableFeatures): UnstableCapabilities {
  const entries = Object.entries(features).map(([name, feature]) => [name, lists(unstable, feature)]);
  return Object.fromEntries(entries) as UnstableCapabilities; // the keys of the table
}

/** Without those whose feature is not enabled. */
export function enabledCapabilities(can: AgentCapabilities, unstable: UnstableFeatures): AgentCapabilities {
  const off = Object.entries(unstableCapabilities(unstable)).filter(([, isEnabled]) => !isEnabled);
  return { ...can, ...Object.fromEntries(off) };
}
