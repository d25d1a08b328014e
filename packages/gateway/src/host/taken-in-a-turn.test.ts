// A session is taken in a turn: the client before is told and waits for nothing, the new one gets its own answer alone.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  agent,
  client,
  type Edition,
  httpTransport,
  type Transport,
  type Turn,
  webSocketTransport,
} from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { hostAgent, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";

/** Says the prompt, waits for a word of the test, and says that it is done. */
function waitingAgent() {
  const gates: PromiseWithResolvers<void>[] = [];
  const begun: string[] = [];
  const waiting = new Set<() => void>();
  const made = agent({
    name: "waiting",
    version: "1.0.0",
    async prompt(turn: Turn) {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await turn.say(`${turn.text}…`);
      begun.push(turn.text);
      for (const check of waiting) check();
      await gate.promise;
      void turn.notice("info", `about ${turn.text}`);
      await turn.say("done");
    },
  });
  const turns = (count: number) =>
    new Promise<void>((resolve) => {
      const check = () => begun.length >= count && resolve();
      waiting.add(check);
      check();
    });
  return { made, begun, turns, go: (index: number) => gates[index]?.resolve() };
}

type Way = "agent()" | "hosted";

async function served(t: TestContext, way: Way, overSocket: boolean) {
  const waiting = waitingAgent();
  t.after(() => waiting.made.close());
  const start = async () => {
    const [outside, inside] = memoryPair();
    waiting.made.connect(inside);
    return { transport: outside };
  };
  const connect =
    way === "hosted"
      ? hostAgent({ start }).connect
      : (transport: Transport) => waiting.made.connect(transport);
  const gateway = await startGateway({ connect });
  t.after(() => gateway.close());
  const headers = { Authorization: `Bearer ${gateway.token}` };
  const open = async (edition: Edition) => {
    const transport = overSocket
      ? webSocketTransport(
          (protocols: string[]) => new WebSocket(gateway.url.replace("http", "ws"), protocols, { headers }),
        )
      : httpTransport(gateway.url, { headers });
    const connection = await client({ name: "test", version: "1.0.0", editions: [edition] }).connect(
      transport,
    );
    t.after(() => connection.close());
    return connection;
  };
  return { ...waiting, open };
}

const place = { cwd: "/" };
const taking = { ...place, _meta: { "_parley.dev/takeover": true } };
const taken = { name: "ConnectionError", kind: "session_taken" };

for (const way of ["agent()", "hosted"] as const)
  for (const transport of ["HTTP", "WebSocket"] as const)
    for (const edition of ["v1", "v2"] as const)
      test(`a session that is taken in a turn (H18): ${edition} over ${transport}, ${way}`, {
        timeout: 30_000,
      }, async (t) => {
        const { open, begun, turns, go } = await served(t, way, transport === "WebSocket");
        const old = await open(edition);
        const session = await old.newSession(place);
        const lost = ["first", "second", "third"].map((text) => session.prompt(text));
        await turns(1);
        const next = await open(edition);
        const notices: string[] = [];
        const again = await next.resumeSession(session.sessionId, taking);
        for (const prompt of lost) await assert.rejects(prompt.result, taken);
        const mine = again.prompt("mine");
        if (edition === "v1")
          again.onUpdate((update) => update.sessionUpdate === "notice" && notices.push(update.title));
        const text = mine.text();
        // the server has read the prompt when it has answered what came after it
        await next.request("_test/ping", {}).catch(() => undefined);
        go(0);
        await turns(2);
        go(1);
        assert.equal(await text, "mine…done");
        assert.equal((await mine.result).stopReason, "end_turn");
        // version 1 cannot say what a notice belongs to
        assert.deepEqual(notices, edition === "v1" ? ["about mine"] : []);
        assert.deepEqual(begun, ["first", "mine"], "what waited was never begun");
      });
