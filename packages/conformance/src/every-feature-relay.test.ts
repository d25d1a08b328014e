// One session with everything, through no relay and through relays of every kind: what is shown is the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProtocolVersion } from "@parley/acp/internal";
import { relay } from "@parley/acp/relay";
import { memoryPair } from "@parley/acp/transport";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import { comparable } from "./testing/client-record.ts";

const { unstable = [] } = everyFeature.agent;

async function direct(version: ProtocolVersion) {
  const [near, far] = memoryPair();
  scriptedAgent({ ...everyFeature.agent, editions: [`v${version}`] }).connect(far);
  return scriptedClient({ ...everyFeature.client, editions: [`v${version}`] }).run(near);
}

async function relayed(client: ProtocolVersion, agent: ProtocolVersion, losses = new Set<string>()) {
  const [near, clientSide] = memoryPair();
  const [agentSide, far] = memoryPair();
  scriptedAgent({ ...everyFeature.agent, editions: [`v${agent}`] }).connect(far);
  relay(clientSide, agentSide, {
    unstable,
    log: (_level, _message, details) => {
      for (const lost of (details as { lost?: readonly string[] } | undefined)?.lost ?? []) losses.add(lost);
    },
  });
  return scriptedClient({ ...everyFeature.client, editions: [`v${client}`] }).run(near);
}

for (const version of [1, 2] as const) {
  test(`every feature through a relay of one version is the same in every detail (v${version})`, {
    timeout: 60_000,
  }, async () => {
    assert.deepEqual(await relayed(version, version), await direct(version));
  });
}

const weather = "the update weather_update"; // no version has it
for (const [client, agent, documented] of [
  [
    1,
    2,
    [
      "all but the changed lines of /project/a.txt",
      "the status cancelled of a tool call",
      weather,
      "work in the background",
    ],
  ],
  [2, 1, [weather]],
] as const) {
  test(`every feature through a relay shows the same, but for what docs/bridge.md lists (v${client} client, v${agent} agent)`, {
    timeout: 60_000,
  }, async () => {
    const losses = new Set<string>();
    assert.deepEqual(comparable(await relayed(client, agent, losses)), comparable(await direct(client)));
    assert.deepEqual([...losses].sort(), documented);
  });
}
