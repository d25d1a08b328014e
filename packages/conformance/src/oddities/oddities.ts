// Deviations of real agents and clients from the protocol, each as a pair of scenarios to test against.

import { optional } from "@parley/acp/jsonrpc";
import { clientOddities } from "./oddities-of-clients.ts";
import { sessionOddities } from "./oddities-of-sessions.ts";
import { turnOddities } from "./oddities-of-turns.ts";
import { wireOddities } from "./oddities-of-wires.ts";
import type { Oddity, OddityScript } from "./oddity.ts";

function oddity({ what, steps, wire, replies, agent, does, client }: OddityScript): Oddity {
  return {
    what,
    agent: {
      parley: "agent-scenario",
      version: 1,
      editions: ["v1"],
      otherwise: steps ?? [{ say: "fine" }],
      ...optional({ wire: replies === undefined ? wire : { ...wire, replies } }),
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

/** Unusual behaviours of real agents and clients, by name. */
export const oddities = {
  ...all(sessionOddities),
  ...all(turnOddities),
  ...all(wireOddities),
  ...all(clientOddities),
} as const;
