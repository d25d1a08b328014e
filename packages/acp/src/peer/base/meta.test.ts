import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  openSession,
  place,
  quiet,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { agent, client, type ElicitationRequest } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

inEveryVersion(
  "custom data crosses both ways with a session, a prompt and its outcome (X2, X7)",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    const seen: unknown[] = [];
    agent({
      name: "a",
      version: "1",
      session: { open: (_session, { _meta }) => void seen.push(_meta) },
      prompt(turn) {
        seen.push(turn._meta);
        return { stopReason: "end_turn", _meta: { "example.com/cost": 3 } };
      },
    }).connect(agentEnd);
    const connected = await client({ name: "c", version: "1", editions: versions }).connect(clientEnd);
    const session = await connected.newSession({ cwd: "/w", _meta: { "example.com/tab": 1 } });
    const { result: outcome } = session.prompt("hello", { _meta: { "example.com/id": "x" } });
    assert.deepEqual((await outcome)._meta, { "example.com/cost": 3 });
    assert.deepEqual(seen, [{ "example.com/tab": 1 }, { "example.com/id": "x" }]);
    await connected.close();
  },
);

inEveryVersion(
  "an agent says when the flow behind a URL elicitation is over (A98, C44)",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    const ask: ElicitationRequest = {
      mode: "url",
      message: "Log in",
      elicitationId: "e1",
      url: "https://example.com/x",
    };
    agent({
      name: "a",
      version: "1",
      async prompt(turn) {
        const { action } = await turn.elicit(ask);
        turn.session.completeElicitation(ask.elicitationId);
        await turn.say(action);
      },
    }).connect(agentEnd);
    const completed: string[] = [];
    const connected = await client({
      name: "c",
      version: "1",
      editions: versions,
      elicit: () => ({ action: "accept" }),
      elicitationCompleted: (elicitationId) => void completed.push(elicitationId),
    }).connect(clientEnd);
    const session = await connected.newSession({ cwd: "/w" });
    await session.prompt("go").result;
    assert.deepEqual(completed, ["e1"]);
    await connected.close();
  },
);

for (const version of [1, 2] as const) {
  test(`what an older version wrote into an update is read and sent on under its new name (v${version})`, async () => {
    const { agent: connection, peer } = await withScriptedAgent(version, {});
    const seen: unknown[] = [];
    await connection.newSession({
      ...place,
      onUpdate: (update) => void seen.push((update as { _meta?: unknown })._meta),
    });
    const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } };
    void peer.connection.notify("session/update", {
      sessionId: "s1",
      update: { ...chunk, _meta: { "parley.dev/notification": { old: 1 }, own: 2 } },
      _meta: { now: 3 },
    });
    await quiet();
    assert.deepEqual(seen, [{ "_parley.dev/notification": { old: 1, now: 3 }, own: 2 }]);
  });
}

inEveryVersion(
  "an update in the spelling of an older version is sent with the data of its notification",
  async (pair) => {
    const { session, wire } = await openSession(pair, {
      prompt: (turn) =>
        turn.update({
          sessionUpdate: "agent_message_chunk",
          messageId: "m",
          content: { type: "text", text: "x" },
          _meta: { "parley.dev/notification": { old: 1 }, own: 2 },
        }),
    });
    await session.prompt("go");
    const sent = wire.map(
      ({ message: { params } }) => params as { update?: { _meta?: unknown }; _meta?: unknown } | undefined,
    );
    const told = sent.filter((params) => params?.update?._meta !== undefined);
    assert.deepEqual(
      told.map((params) => [params?._meta, params?.update?._meta]),
      [[{ old: 1 }, { own: 2 }]],
    );
  },
);
