// An agent of another edition, for an editor.

import type { Transport } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed, type NamedEdition } from "@parley/dialects";

/** The agent in the edition of the editor. What it cannot express is said once, as a bridge does. */
export async function translated(agent: Transport, edition: NamedEdition) {
  const [{ relay }, { openBridgeLog }] = await Promise.all([
    import("@parley/acp/relay"),
    import("./bridge-log.ts"),
  ]);
  const [near, far] = memoryPair();
  const { closed } = relay(far, agent, {
    agentEdition: editionNamed(edition),
    log: openBridgeLog(undefined).log,
  });
  return { transport: near, closed };
}
