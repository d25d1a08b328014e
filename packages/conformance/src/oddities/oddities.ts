// What real peers do on the wire, each as a pair of scenarios that can be played. None of it is what the protocol says,
// and all of it has been seen: who means to work with everybody plays them all.

import type { AgentScenario, AgentStep, ClientScenario, ClientStep, WireRules } from "@parley/acp/testing";
import { clientOddities } from "./oddities-of-clients.ts";
import { sessionOddities } from "./oddities-of-sessions.ts";
import { turnOddities } from "./oddities-of-turns.ts";
import { wireOddities } from "./oddities-of-wires.ts";

export interface Oddity {
  /** What happens, in a sentence. */
  readonly what: string;
  readonly agent: AgentScenario;
  readonly client: ClientScenario;
}

/** The little that most of them need. */
export interface OddityScript {
  readonly what: string;
  /** Of the agent: the steps of every turn. Default: it says "fine". */
  readonly steps?: readonly AgentStep[];
  readonly wire?: WireRules;
  readonly agent?: Omit<Partial<AgentScenario>, "parley" | "version">;
  /** Of the client. Default: one session, one prompt. */
  readonly does?: readonly ClientStep[];
  readonly client?: Omit<Partial<ClientScenario>, "parley" | "version">;
}

function oddity({ what, steps, wire, agent, does, client }: OddityScript): Oddity {
  return {
    what,
    agent: {
      parley: "agent-scenario",
      version: 1,
      versions: [1],
      otherwise: steps ?? [{ say: "fine" }],
      ...(wire === undefined ? {} : { wire }),
      ...agent,
    },
    client: {
      parley: "client-scenario",
      version: 1,
      steps: does ?? [{ open: "/project" }, { prompt: "hello" }],
      ...client,
    },
  };
}

function all<Name extends string>(scripts: Readonly<Record<Name, OddityScript>>): Record<Name, Oddity> {
  const made = Object.entries<OddityScript>(scripts).map(([name, script]) => [name, oddity(script)]);
  return Object.fromEntries(made) as Record<Name, Oddity>; // the same names
}

export const oddities = {
  ...all(sessionOddities),
  ...all(turnOddities),
  ...all(wireOddities),
  ...all(clientOddities),
} as const;
