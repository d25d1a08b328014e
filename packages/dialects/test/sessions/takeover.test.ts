// A session outlives the connection of its client, whatever edition the next client speaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, type SessionUpdate, textOf } from "@parley/acp";
import { editionNamed } from "@parley/dialects";
import { attachedClient } from "../../../acp/test/support/attached-client.ts";
import { place, quiet, said } from "../../../acp/test/support/peer-probe.ts";

const editions = ["v2", "v1", editionNamed("scoped"), editionNamed("pharo")] as const;

function userTexts(updates: readonly SessionUpdate[]): string[] {
  return updates
    .flatMap((update) => {
      if (update.sessionUpdate === "user_message") return [textOf(update.content ?? [])];
      return update.sessionUpdate === "user_message_chunk" ? [textOf(update.content)] : [];
    })
    .filter((text) => text !== "");
}

for (const [before, after] of [
  ["v2", "scoped"],
  ["v1", "pharo"],
  ["scoped", "v2"],
] as const)
  test(`H18 a client on ${after} takes a session over from one on ${before} that is away, and sees its turn go on`, async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const made = agent({
      name: "a",
      version: "1",
      editions,
      async prompt(turn) {
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await turn.say(`${turn.text}…`);
        await gate.promise;
        await turn.say("done");
      },
    });
    const old = await attachedClient(made, { edition: editionNamed(before) });
    const session = await old.connection.newSession(place);
    session.prompt("hello").result.catch(() => undefined);
    await quiet();
    old.detach();
    const next = await attachedClient(made, { edition: editionNamed(after) });
    const { session: again, updates } = await next.load(session.sessionId);
    assert.deepEqual(userTexts(updates), ["hello"]);
    assert.equal(said(updates), "hello…");
    gates[0]?.resolve();
    await quiet();
    assert.equal(said(updates), "hello…done");
    const more = again.prompt("more");
    await quiet();
    gates[1]?.resolve();
    assert.equal((await more.result).stopReason, "end_turn");
    await made.close();
  });
