// A method that only passes through needs one row: its capability, its effect on the store, and its wire.

import assert from "node:assert/strict";
import { test } from "node:test";
import { passThrough } from "../../edition/pass-through.ts";
import { agent } from "../../index.ts";
import { relay } from "../../relay.ts";
import { memoryPair } from "../../transport.ts";
import { wrongType } from "../../validation/failure.ts";
import type { MethodRow } from "../../wire/method-row.ts";

type Message = Readonly<Record<string, unknown>>;

const wire: MethodRow = {
  method: "session/star",
  receiver: "agent",
  kind: "request",
  unstable: "archive",
  params: (params) => {
    const { stars } = params as Message; // whatever was sent
    return typeof stars === "number" ? undefined : wrongType("/stars", "number", stars);
  },
  paramsType: "StarSessionRequest",
  paramsMayBeEmpty: false,
  result: () => undefined,
  resultType: "StarSessionResponse",
  resultMayBeEmpty: false,
};

/** A client that writes JSON, to an agent of the same or of the other version. */
async function asking(client: 1 | 2, own: 1 | 2) {
  const served = agent({
    name: "starred",
    version: "1.0.0",
    editions: [`v${own}`],
    unstable: ["archive"],
    prompt: () => undefined,
  });
  const [near, far] = memoryPair();
  if (client === own) served.connect(far);
  else {
    const [agentEnd, atAgent] = memoryPair();
    served.connect(atAgent);
    relay(far, agentEnd, {});
  }
  const waiting = new Map<unknown, (answer: Message) => void>();
  near.start({
    message(value) {
      const answer = value as Message; // our own agent's
      waiting.get(answer["id"])?.(answer);
    },
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => undefined,
  });
  const ask = (method: string, params: object): Promise<Message> =>
    new Promise((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      near.send({ jsonrpc: "2.0", id, method, params });
    });
  const info = client === 2 ? { info: { name: "c", version: "1" }, capabilities: {} } : {};
  await ask("initialize", { protocolVersion: client, ...info });
  const { result } = await ask("session/new", { cwd: "/", mcpServers: [] });
  const { sessionId } = result as { readonly sessionId: string }; // as above
  return { ask, sessionId };
}

const codeOf = ({ error }: Message) => (error as { readonly code: number } | undefined)?.code;

for (const [client, own] of [
  [1, 1],
  [2, 2],
  [1, 2],
  [2, 1],
] as const)
  test(`a new method that passes through is one row, for agents, clients and relays (v${client} client, v${own} agent)`, async (t) => {
    passThrough.set("session/star", {
      needs: "archive",
      offers: "star sessions",
      patch: ({ stars }) => ({ title: "*".repeat(Number(stars)) }),
      answers: ["title"],
      wire,
    });
    t.after(() => passThrough.delete("session/star"));
    const { ask, sessionId } = await asking(client, own);
    const starred = await ask("session/star", { sessionId, stars: 3, _meta: { by: "test" } });
    assert.deepEqual(starred["result"], { title: "***" });
    const listed = (await ask("session/list", {}))["result"] as { sessions: readonly Message[] }; // as above
    assert.deepEqual(
      listed.sessions.map(({ title }) => title),
      ["***"],
      "the row says what is stored",
    );
    assert.equal(codeOf(await ask("session/star", { sessionId, stars: "many" })), -32602);
    assert.equal(codeOf(await ask("session/star", { sessionId: "nobody", stars: 1 })), -32002);
    assert.equal(codeOf(await ask("session/planet", { sessionId })), -32601);
  });
