// A signal ends the wait for an answer of the agent, and tells the agent so.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chunk,
  initialized,
  place,
  quiet,
  said,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import type { ClientConnection, SessionUpdate } from "../../index.ts";
import type { IncomingRequest } from "../../jsonrpc.ts";

const isAborted = { name: "ConnectionError", kind: "aborted" };

/** An agent that answers a method when it is told to. */
async function waitingAgent(version: 1 | 2, method: string) {
  const requests: IncomingRequest[] = [];
  const answers: ((result: object) => void)[] = [];
  const begun = Promise.withResolvers<void>();
  const said = initialized(version) as { agentCapabilities?: object };
  const { peer, agent } = await withScriptedAgent(version, {
    initialize: () => ({
      ...said,
      ...(version === 1 ? { agentCapabilities: { ...said.agentCapabilities, auth: { logout: {} } } } : {}),
      authMethods: [
        version === 1 ? { id: "key", name: "Key" } : { type: "agent", methodId: "key", name: "Key" },
      ],
    }),
    "session/close": () => ({}),
    [method]: (_params, request) => {
      requests.push(request);
      begun.resolve();
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  return { peer, agent, requests, answers, begun: begun.promise };
}

const calls: readonly [
  string,
  string,
  (agent: ClientConnection, options: { readonly signal?: AbortSignal }) => Promise<unknown>,
][] = [
  ["session/new", "session/new", (agent, options) => agent.newSession({ ...place, ...options })],
  ["session/load", "session/resume", (agent, options) => agent.loadSession("s1", { ...place, ...options })],
  [
    "session/resume",
    "session/resume",
    (agent, options) => agent.resumeSession("s1", { ...place, ...options }),
  ],
  ["session/list", "session/list", (agent, options) => agent.listSessions(options)],
  ["session/delete", "session/delete", (agent, options) => agent.deleteSession("s1", options)],
  ["authenticate", "auth/login", (agent, options) => agent.login("key", options)],
  ["logout", "auth/logout", (agent, options) => agent.logout(options)],
];

for (const [v1, v2, call] of calls) {
  test(`a signal cancels ${v1} at the agent, and rejects at once`, async () => {
    for (const version of [1, 2] as const) {
      const { agent, requests, begun } = await waitingAgent(version, version === 1 ? v1 : v2);
      const controller = new AbortController();
      const reason = new Error("no longer wanted");
      const outcome = assert.rejects(call(agent, { signal: controller.signal }), {
        ...isAborted,
        cause: reason,
      });
      await begun;
      controller.abort(reason);
      await outcome;
      await quiet();
      assert.equal(requests[0]?.isCancelled, true);
    }
  });
}

test("a request whose signal has aborted is not sent", async () => {
  for (const [method, , call] of calls) {
    const { agent, peer } = await waitingAgent(1, method);
    await assert.rejects(call(agent, { signal: AbortSignal.abort() }), isAborted);
    await quiet();
    assert.deepEqual(peer.methods(), ["initialize"]);
  }
});

test("a session that the agent opens after the abort is closed", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer, answers, begun } = await waitingAgent(version, "session/new");
    const controller = new AbortController();
    const outcome = assert.rejects(agent.newSession({ ...place, signal: controller.signal }), isAborted);
    await begun;
    controller.abort();
    await outcome;
    answers[0]?.({ sessionId: "late" });
    await quiet();
    assert.deepEqual(peer.got.at(-1), { method: "session/close", params: { sessionId: "late" } });
  }
});

test("a session that is loaded again after an abort stays open when the first answer comes late", async () => {
  const { agent, peer, answers, begun } = await waitingAgent(1, "session/load");
  const controller = new AbortController();
  const outcome = assert.rejects(agent.loadSession("s1", { ...place, signal: controller.signal }), isAborted);
  await begun;
  controller.abort();
  await outcome;
  const updates: SessionUpdate[] = [];
  const again = agent.loadSession("s1", { ...place, onUpdate: (update) => updates.push(update) });
  await quiet();
  for (const answer of answers) answer({});
  const session = await again;
  peer.update("s1", chunk("heard"));
  await quiet();
  assert.equal(said(updates), "heard");
  assert.ok(!peer.methods().includes("session/close"));
  await session.close();
});

test("an aborted load leaves a session open that was open before", async () => {
  const { agent, peer, begun } = await waitingAgent(1, "session/load");
  const session = await agent.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const controller = new AbortController();
  const outcome = assert.rejects(agent.loadSession("s1", { ...place, signal: controller.signal }), isAborted);
  await begun;
  controller.abort();
  await outcome;
  peer.update("s1", chunk("still here"));
  await quiet();
  assert.equal(said(updates), "still here");
});

test("a signal that aborts after the session has opened does nothing", async () => {
  const { agent, peer } = await withScriptedAgent(1, {
    "session/prompt": () => ({ stopReason: "end_turn" }),
  });
  const controller = new AbortController();
  const session = await agent.newSession({ ...place, signal: controller.signal });
  controller.abort();
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
  assert.deepEqual(peer.methods(), ["initialize", "session/new", "session/prompt"]);
});
