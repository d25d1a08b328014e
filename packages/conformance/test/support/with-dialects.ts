// Reads the dialects of a scenario from JSON, which has no more of them than their names.

import type { AgentScenario } from "@parley/conformance/testing";
import { editionNamed, type NamedEdition } from "@parley/dialects";

export function withDialects<Scenario extends Pick<AgentScenario, "editions">>(scenario: Scenario): Scenario {
  const { editions } = scenario;
  if (editions === undefined) return scenario;
  const spoken = editions.map((each) =>
    // as: a test has named one of ours
    editionNamed((typeof each === "string" ? each : each.name) as NamedEdition),
  );
  return { ...scenario, editions: spoken };
}
