// A connection whose session was taken over is not kept by the session.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { attachedClient } from "../../../test/support/attached-client.ts";
import { place, quiet } from "../../../test/support/peer-probe.ts";
import { type Agent, agent } from "../../index.ts";
import { memoryStore } from "../../store.ts";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void; // as: the flag makes it

async function newSession(made: Agent) {
  const { connection, served } = await attachedClient(made);
  await connection.newSession(place);
  return { ref: new WeakRef<object>(served), close: () => connection.close() };
}

/** A client takes the session over from the one before, whose connection then ends. */
async function takeOver(made: Agent, sessionId: string, before: { close(): Promise<void> }) {
  const next = await attachedClient(made, { edition: "v1", requestPermission: () => "allow_once" });
  const { session } = await next.load(sessionId, { takeover: true });
  await before.close();
  await session.prompt("more").result;
  return { ref: new WeakRef<object>(next.served), close: () => next.connection.close() };
}

test("a session that went through many hands keeps none but the last", { timeout: 60_000 }, async () => {
  const made = agent({
    name: "a",
    version: "1",
    session: { store: memoryStore() },
    async prompt(turn) {
      await turn.tool({ title: "T", permission: true }, () => undefined);
    },
  });
  // nothing else of this test holds the connections of the past
  let last: { readonly ref: WeakRef<object>; close(): Promise<void> } = await newSession(made);
  const [{ sessionId } = assert.fail()] = (await made.definition.session?.store?.list())?.sessions ?? [];
  const refs = [last.ref];
  for (let hands = 0; hands < 5; hands++) {
    last = await takeOver(made, sessionId, last);
    refs.push(last.ref);
  }
  await quiet();
  for (let n = 0; n < 3; n++) {
    collectGarbage();
    await quiet();
  }
  const isKept = refs.map((ref) => ref.deref() !== undefined);
  assert.deepEqual(isKept, [false, false, false, false, false, true]);
  await last.close();
  await made.close();
});
