// One session with everything, between all editions: what is shown is the same, but for what docs/editions.md lists.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { relay } from "@parley/acp/relay";
import { memoryPair } from "@parley/acp/transport";
import { everyFeatureOf } from "@parley/conformance";
import { type ClientRecord, scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import { editionNamed, type NamedEdition } from "@parley/dialects";
import { logged, lossesOf, shownWithout } from "./documented-losses.ts";
import { servicesOf, servicesWanted } from "./services-of-a-pair.ts";

const limit = { timeout: 60_000 };
const editions = ["v1", "v2", "pharo", "scoped"] as const;
const isDialect = (edition: NamedEdition): boolean => edition === "pharo" || edition === "scoped";
const pairs = editions
  .flatMap((client) => editions.map((agent) => [client, agent] as const))
  .filter((pair) => pair.some(isDialect));

interface Played {
  readonly record: ClientRecord;
  readonly events: readonly { readonly event: string; readonly [detail: string]: unknown }[];
  readonly losses: readonly string[];
}

/** Plays the session that both editions of the scenario have, through a relay or directly. */
async function played(
  [client, agent]: readonly [NamedEdition, NamedEdition],
  by: "relay" | "direct",
  scenario = [client, agent] as const,
): Promise<Played> {
  const features = everyFeatureOf(...scenario);
  const losses = new Set<string>();
  const log = (_level: string, _message: string, details?: unknown) => {
    for (const lost of (details as { lost?: readonly string[] } | undefined)?.lost ?? []) losses.add(lost);
  };
  const [near, clientSide] = memoryPair();
  const [agentSide, far] = by === "relay" ? memoryPair() : [undefined, clientSide];
  const served = scriptedAgent({ ...features.agent, editions: [editionNamed(agent)] }, { log });
  served.connect(far);
  if (agentSide !== undefined)
    relay(clientSide, agentSide, { as: editionNamed(client), agentEdition: editionNamed(agent), log });
  const record = await scriptedClient({ ...features.client, editions: [editionNamed(client)] }, { log }).run(
    near,
  );
  return { record, events: served.events, losses: [...losses] };
}

const relayedPairs = new Map<string, Promise<Played>>();
/** Once for all tests. */
function relayed(pair: readonly [NamedEdition, NamedEdition]): Promise<Played> {
  const known = relayedPairs.get(String(pair)) ?? played(pair, "relay");
  relayedPairs.set(String(pair), known);
  return known;
}

for (const pair of pairs) {
  const [client, agent] = pair;
  test(
    `every feature: a client of ${client}, a relay and an agent of ${agent} show the same`,
    limit,
    async () => {
      const { record, events } = await relayed(pair);
      const plain = await played(["v1", "v1"], "direct", pair);
      assert.deepEqual(shownWithout(record, pair), shownWithout(plain.record, pair));
      assert.deepEqual(servicesOf(events), servicesWanted(client, agent));
    },
  );
}

for (const edition of ["pharo", "scoped"] as const) {
  test(`every feature: a relay between two peers of ${edition} changes nothing`, limit, async () => {
    const direct = await played([edition, edition], "direct");
    const through = await relayed([edition, edition]);
    assert.deepEqual(withoutTimes(through.record), withoutTimes(direct.record));
    assert.deepEqual(withoutTimes(through.events), withoutTimes(direct.events));
  });

  test(`every feature: each loss of ${edition} in docs/editions.md is one`, limit, async () => {
    const pair = [edition, edition] as const;
    const { record } = await relayed(pair);
    const plain = await played(["v1", "v1"], "direct", pair);
    const imagined = lossesOf[edition].filter((loss) => {
      const kept = (each: ClientRecord) => JSON.stringify(shownWithout(each, pair, loss));
      return kept(record) === kept(plain.record);
    });
    assert.deepEqual(imagined, []);
  });
}

test(
  "every loss that a relay logs between editions is in docs/editions.md, and no other is expected",
  limit,
  async () => {
    const seen = new Set<string>();
    for (const pair of pairs) {
      const { losses } = await relayed(pair);
      for (const lost of losses) {
        const [, row] = logged.find(([pattern]) => pattern.test(lost)) ?? [];
        assert.notEqual(row, undefined, `${pair}: ${lost}`);
        seen.add(String(row));
      }
    }
    assert.deepEqual([...seen].sort(), [...new Set(logged.map(([, row]) => row))].sort());
    const page = readFileSync(new URL("../../../../docs/editions.md", import.meta.url), "utf8");
    const rows = [...seen, ...Object.values(lossesOf).flatMap((losses) => losses.map(({ row }) => row))];
    for (const row of rows.filter((each) => each !== "")) assert.ok(page.includes(`\n| ${row} |`), row);
  },
);

/** Measured times and dates differ. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, item) => (key === "timestamp" || key === "duration" ? undefined : item)),
  );
}
