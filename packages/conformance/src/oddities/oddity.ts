// The types of an oddity: a pair of scenarios, and its short form.

import type { AgentScenario, AgentStep, ClientScenario, ClientStep, WireRules } from "@parley/acp/testing";

export interface Oddity {
  /** One sentence about what happens. */
  readonly what: string;
  readonly agent: AgentScenario;
  readonly client: ClientScenario;
}

/** The short form of an oddity. */
export interface OddityScript {
  readonly what: string;
  /** The agent's steps in every turn. Default: it says "fine". */
  readonly steps?: readonly AgentStep[];
  readonly wire?: WireRules;
  /** Short for `wire: { replies }`. */
  readonly replies?: NonNullable<WireRules["replies"]>;
  readonly agent?: Omit<Partial<AgentScenario>, "parley" | "version">;
  /** The client's steps. Default: one session, one prompt. */
  readonly does?: readonly ClientStep[];
  readonly client?: Omit<Partial<ClientScenario>, "parley" | "version">;
}
