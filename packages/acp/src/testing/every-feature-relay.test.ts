// One session with everything, through no relay and through relays of every kind: what is shown is the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair, type ProtocolVersion, relay } from "@parley/acp";
import { comparable, everyFeature, scriptedAgent, scriptedClient } from "@parley/acp/testing";

const { unstable = [] } = everyFeature.agent;

async function direct(version: ProtocolVersion) {
  const [near, far] = memoryPair();
  scriptedAgent({ ...everyFeature.agent, versions: [version] }).connect(far);
  return scriptedClient({ ...everyFeature.client, versions: [version] }).run(near);
}

async function relayed(client: ProtocolVersion, agent: ProtocolVersion) {
  const [near, clientSide] = memoryPair();
  const [agentSide, far] = memoryPair();
  scriptedAgent({ ...everyFeature.agent, versions: [agent] }).connect(far);
  relay(clientSide, agentSide, { unstable });
  return scriptedClient({ ...everyFeature.client, versions: [client] }).run(near);
}

for (const version of [1, 2] as const) {
  test(`every feature through a relay of one version is the same in every detail (v${version})`, {
    timeout: 60_000,
  }, async () => {
    assert.deepEqual(await relayed(version, version), await direct(version));
  });
}

for (const [client, agent] of [
  [1, 2],
  [2, 1],
] as const) {
  test(`every feature through a relay shows the same (v${client} client, v${agent} agent)`, {
    timeout: 60_000,
  }, async () => {
    assert.deepEqual(comparable(await relayed(client, agent)), comparable(await direct(client)));
  });
}
