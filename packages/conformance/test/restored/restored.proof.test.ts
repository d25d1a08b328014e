// A connection that is put down after any message and taken up again goes on as if nothing had happened: the app sees the same,
// and the same passes on the wire. `npm run test:soak -- restored` tries every message of every scenario.

import assert from "node:assert/strict";
import { test } from "node:test";
import { everyFeature, oddities } from "@parley/conformance";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { moreScenarios, type Scenario } from "./more-scenarios.ts";
import { type Played, play } from "./play.ts";

const limit = { timeout: inSoak(120_000, 1_200_000) };

/** A flood has thousands of equal messages: of those, a few hundred. */
const mostPositions = 400;

/** Positions of the sample, spread over all messages, and the same in every run. */
function positions(messages: number, most: number): readonly number[] {
  const count = Math.min(messages, most);
  return Array.from({ length: count }, (_, at) => 1 + Math.floor(((at + 0.618) * messages) / count));
}

const seen = ({ record, wire, events }: Played) => ({ record, wire, events });

async function restoredAt(name: string, scenario: Scenario, sample: number): Promise<void> {
  const straight = await play(scenario, () => false);
  assert.equal(straight.restored, 0);
  for (const position of positions(straight.messages, inSoak(sample, mostPositions))) {
    const played = await play(scenario, (count) => count === position);
    assert.deepEqual(seen(played), seen(straight), `${name}: put down after message ${position}`);
  }
  if (straight.messages > mostPositions) return;
  const played = await play(scenario, () => true);
  assert.deepEqual(seen(played), seen(straight), `${name}: put down after every message`);
  // the handshake is over after two messages, and the last ones may be those of the end
  if (straight.messages > 6)
    assert.ok(played.restored > straight.messages / 2, `restored ${played.restored}`);
}

for (const edition of ["v1", "v2"] as const) {
  test(`put down and taken up again, every feature is the same (G11, ${edition})`, limit, async () => {
    const editions = [edition] as const;
    const { agent, client } = everyFeature;
    await restoredAt(edition, { agent: { ...agent, editions }, client: { ...client, editions } }, 40);
  });

  test(
    `put down and taken up again, waiting prompts and pieces are the same (G11, ${edition})`,
    limit,
    async () => {
      const editions = [edition] as const;
      for (const [name, { agent, client }] of Object.entries(moreScenarios))
        await restoredAt(name, { agent: { ...agent, editions }, client: { ...client, editions } }, 50);
    },
  );
}

test(
  "put down and taken up again, the oddities of agents and clients are the same (G11)",
  limit,
  async () => {
    for (const [name, oddity] of Object.entries(oddities)) await restoredAt(name, oddity, 3);
  },
);
