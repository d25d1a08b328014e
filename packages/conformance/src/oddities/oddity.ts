// The types of an oddity: a pair of scenarios, and its short form.

import type { AgentScenario, AgentStep } from "../testing/agent-scenario.ts";
import type { ClientScenario, ClientStep } from "../testing/client-scenario.ts";
import type { WireRules } from "../testing/scripted-wire.ts";

/** One unusual behaviour of real agents or clients, as a pair of scenarios to play against each other. */
export interface Oddity {
  /** One sentence about what happens. */
  readonly what: string;
  /** The agent's side, for `scriptedAgent()`. */
  readonly agent: AgentScenario;
  /** The client's side, for `scriptedClient()`. */
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
