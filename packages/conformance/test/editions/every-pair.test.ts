// One session with everything, between all editions: what is shown is the same, but for what docs/editions.md lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { relay } from "@parley/acp/relay";
import { type ClientRecord, scriptedAgent, scriptedClient } from "@parley/acp/testing";
import { memoryPair } from "@parley/acp/transport";
import { everyFeatureOf } from "@parley/conformance";
import { shownWithout } from "./documented-losses.ts";

const limit = { timeout: 60_000 };
const editions = ["v1", "v2", "pharo", "scoped"] as const;
type Edition = (typeof editions)[number];
const isDialect = (edition: Edition) => edition === "pharo" || edition === "scoped";

interface Played {
  readonly record: ClientRecord;
  readonly events: readonly unknown[];
  readonly losses: readonly string[];
}

/** Plays the session that all editions of the pair have; `through` a relay, or directly. */
async function played(client: Edition, agent: Edition, through: boolean, scenario: readonly [Edition, Edition] = [client, agent]): Promise<Played> {
  const features = everyFeatureOf(...scenario);
  const losses = new Set<string>();
  const log = (_level: string, _message: string, details?: unknown) => {
    for (const lost of (details as { lost?: readonly string[] } | undefined)?.lost ?? []) losses.add(lost);
  };
  const [near, clientSide] = memoryPair();
  const [agentSide, far] = through ? memoryPair() : [undefined, clientSide];
  const served = scriptedAgent({ ...features.agent, editions: [agent] }, { log });
  served.connect(far);
  if (agentSide !== undefined) relay(clientSide, agentSide, { as: client, agentEdition: agent, log });
  const record = await scriptedClient({ ...features.client, editions: [client] }, { log }).run(near);
  return { record, events: served.events, losses: [...losses].sort() };
}

const plain = new Map<string, Promise<Played>>();
function reference(client: Edition, agent: Edition): Promise<Played> {
  const key = String([client, agent]);
  const known = plain.get(key) ?? played("v1", "v1", false, [client, agent]);
  plain.set(key, known);
  return known;
}

for (const client of editions) {
  for (const agent of editions) {
    if (!isDialect(client) && !isDialect(agent)) continue;
    test(`every feature: a client of ${client}, a relay and an agent of ${agent} show the same`, limit, async () => {
      const { record } = await played(client, agent, true);
      const wanted = await reference(client, agent);
      assert.deepEqual(
        shownWithout(record, [client, agent]),
        shownWithout(wanted.record, [client, agent]),
      );
    });
  }
}
