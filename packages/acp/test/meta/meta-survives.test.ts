// Custom data in every place where a schema allows it: in the API on both sides, and through a relay.

import assert from "node:assert/strict";
import { test } from "node:test";
import { methods as v1Methods } from "../../src/wire/v1/methods.gen.ts";
import { methods as v2Methods } from "../../src/wire/v2/methods.gen.ts";
import { definitionsOf, type Place } from "./canaries.ts";
import {
  type Exception,
  fromVersion1,
  fromVersion2,
  notSpoken,
  toVersion1,
  toVersion2,
} from "./exceptions.ts";
import { type RelayedPlaces, relayedPlaces } from "./relayed.ts";
import { spokenMessages, spokenUpdates } from "./spoken.ts";

const deadline = { timeout: 30_000 };

/** What did not arrive is what cannot, and each exception is needed. */
function assertArrived(
  sent: ReadonlySet<Place>,
  got: ReadonlySet<Place>,
  exceptions: readonly Exception[],
): void {
  assert.ok(sent.size > 0);
  const missing = [...sent].filter((place) => !got.has(place));
  assert.deepEqual(
    missing.filter((place) => !exceptions.some(({ places }) => places.test(place))),
    [],
    "custom data was lost, and is not on the list of what cannot survive",
  );
  for (const { places, reason } of exceptions)
    assert.ok(
      missing.some((place) => places.test(place)),
      `nothing is lost any more because "${reason}" (${places}): remove the exception`,
    );
}

function assertReported({ lost }: RelayedPlaces, exceptions: readonly Exception[]): void {
  for (const { lost: what } of exceptions)
    if (what !== undefined) assert.ok(lost.includes(what), `the relay does not report: ${what}`);
}

test(
  "custom data survives a relay from a client of version 1 to an agent of version 2 and back (X2, X7)",
  deadline,
  async () => {
    const relayed = await relayedPlaces(1, 2);
    assert.deepEqual(relayed.errors, []);
    assertArrived(relayed.sent.client, relayed.got.agent, fromVersion1);
    assertArrived(relayed.sent.agent, relayed.got.client, toVersion1);
    assertReported(relayed, [...fromVersion1, ...toVersion1]);
  },
);

test(
  "fields that the protocol does not have survive a relay from version 1 to version 2 and back, in the _meta of their object",
  deadline,
  async () => {
    const relayed = await relayedPlaces(1, 2, "unknown fields");
    assert.deepEqual(relayed.errors, []);
    assertArrived(relayed.sent.client, relayed.got.agent, fromVersion1);
    assertArrived(relayed.sent.agent, relayed.got.client, toVersion1);
    assertReported(relayed, [...fromVersion1, ...toVersion1]);
  },
);

test(
  "custom data survives a relay from a client of version 2 to an agent of version 1 and back (X2, X7)",
  deadline,
  async () => {
    const relayed = await relayedPlaces(2, 1);
    assert.deepEqual(relayed.errors, []);
    assertArrived(relayed.sent.client, relayed.got.agent, fromVersion2);
    assertArrived(relayed.sent.agent, relayed.got.client, toVersion2);
    assertReported(relayed, [...fromVersion2, ...toVersion2]);
  },
);

test(
  "fields that the protocol does not have survive a relay from version 2 to version 1 and back, in the _meta of their object",
  deadline,
  async () => {
    const relayed = await relayedPlaces(2, 1, "unknown fields");
    assert.deepEqual(relayed.errors, []);
    assertArrived(relayed.sent.client, relayed.got.agent, fromVersion2);
    assertArrived(relayed.sent.agent, relayed.got.client, toVersion2);
    assertReported(relayed, [...fromVersion2, ...toVersion2]);
  },
);

/** Every message of a version that may have custom data. */
function messagesOf(version: 1 | 2): readonly string[] {
  const definitions = definitionsOf(version);
  const hasMeta = (type: string | undefined) => definitions[type ?? ""]?.properties?.["_meta"] !== undefined;
  return (version === 1 ? v1Methods : v2Methods).flatMap(({ method, paramsType, resultType }) => [
    ...(hasMeta(paramsType) ? [method] : []),
    ...(hasMeta(resultType) ? [`${method} result`] : []),
  ]);
}

for (const version of [1, 2] as const) {
  test(
    `an app sets and reads the custom data of every message of version ${version} (X2, X5, X7)`,
    deadline,
    async () => {
      const { sent, got } = await spokenMessages(`v${version}`);
      assert.deepEqual(
        [...sent].filter((place) => !got.has(place)),
        [],
      );
      const unspoken = messagesOf(version).filter((message) => !sent.has(message));
      const isKnown = (message: string) =>
        message in notSpoken || message.replace(/ result$/, "") in notSpoken;
      assert.deepEqual(
        unspoken.filter((message) => !isKnown(message)),
        [],
        "a message has custom data that this test does not set",
      );
    },
  );

  test(
    `the custom data of every update of an agent arrives at a client of version ${version} (X2, X7)`,
    deadline,
    async () => {
      const { sent, got, errors } = await spokenUpdates(`v${version}`);
      assert.deepEqual(errors, []);
      const isOfUpdates = ({ places, onlyForClientsWithoutTerminals = false }: Exception) =>
        !onlyForClientsWithoutTerminals && [...sent].some((place) => places.test(place));
      assertArrived(sent, got, version === 1 ? toVersion1.filter(isOfUpdates) : []);
    },
  );
}
