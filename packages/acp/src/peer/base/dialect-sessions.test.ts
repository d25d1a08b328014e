// Sessions as dialects know them: options before there is a session, and sessions that are loaded without their place.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  conversation,
  inDialect,
  inEveryVersion,
  initialized,
  rejects,
  richDialect,
} from "../../../test/support/peer-probe.ts";
import { agent, type Editions } from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { relay } from "../../relay.ts";
import { memoryPair } from "../../transport.ts";

const mode = {
  configId: "mode",
  name: "Mode",
  category: "mode" as const,
  type: "select" as const,
  currentValue: "ask",
  options: [
    { value: "ask", name: "Ask" },
    { value: "code", name: "Code" },
  ],
};
const definition = { prompt: () => undefined, session: { initialOptions: [mode] } };
const wireMode = { id: "mode", ...mode, configId: undefined };

test("a client that speaks a dialect is told the options of sessions before it has one", async () => {
  const { agent } = await conversation(inDialect, definition);
  const { configId: _, ...rest } = wireMode;
  assert.deepEqual(agent._meta, { "_parley.dev/sessionOptions": [rest] });
});

inEveryVersion("without a dialect they are not announced, and sessions begin with them", async (pair) => {
  const { agent } = await conversation(pair, definition);
  assert.equal(agent._meta, undefined);
  const session = await agent.newSession({ cwd: "/project" });
  assert.deepEqual(session.configOptions, [mode]);
});

const stored = { "_parley.dev/storedCwd": true };

test("a session is loaded with its stored place where the request has none", async () => {
  const places: unknown[] = [];
  const session = {
    open: ({ roots, _meta }: { roots: readonly string[]; _meta?: unknown }) =>
      void places.push([roots, _meta]),
  };
  const { agent } = await conversation(inDialect, { prompt: () => undefined, session });
  const { sessionId, close } = await agent.newSession({ cwd: "/project", additionalDirectories: ["/more"] });
  await close();
  await agent.loadSession(sessionId, { cwd: "/", _meta: { ...stored, colour: "red" } });
  assert.deepEqual(places, [
    [["/project", "/more"], undefined],
    [["/project", "/more"], { colour: "red" }],
  ]);
  await rejects(agent.loadSession("unknown", { cwd: "/", _meta: stored }), -32002);
});

/** A client by hand whose transport says that it translates, a relay, and an agent without a dialect. */
async function throughRelay(t: TestContext, connectAgent: (end: ReturnType<typeof memoryPair>[0]) => void) {
  const [left, clientEnd] = memoryPair();
  const [right, agentEnd] = memoryPair();
  Object.assign(left, { dialect: richDialect });
  connectAgent(agentEnd);
  const between = relay(left, right);
  t.after(() => between.close());
  const peer = new Connection(clientEnd, {
    handlers: { request: () => ({}), notification: () => undefined },
  });
  await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  return (method: string, params: object) => peer.request(method, params);
}

const load = (sessionId: unknown) => ({ sessionId, cwd: "/", mcpServers: [], _meta: stored });

for (const editions of [["v1"], ["v2"]] satisfies Editions[]) {
  test(`a relay to ${editions[0]} loads a session in the place where it was opened, or that the agent lists`, async (t) => {
    const served = agent({ name: "a", version: "1", editions, prompt: () => undefined });
    const [before, own] = memoryPair();
    served.connect(own);
    const first = await throughRelay(t, (end) => void served.connect(end));
    const { sessionId } = (await first("session/new", { cwd: "/here", mcpServers: [] })) as {
      sessionId: string;
    };
    await first("session/close", { sessionId });
    await first("session/load", load(sessionId));
    await first("session/close", { sessionId });
    const second = await throughRelay(t, (end) => void served.connect(end));
    await second("session/load", load(sessionId));
    await rejects(second("session/load", load("unknown")), -32002);
    await before.close();
  });
}

test("a relay refuses to load a session whose place nobody knows, and does not guess one", async (t) => {
  const got: string[] = [];
  const call = await throughRelay(t, (end) => {
    new Connection(end, {
      handlers: {
        request(method) {
          got.push(method);
          if (method === "initialize") return initialized(1);
          return { sessions: [{ sessionId: "other", cwd: "/other" }] };
        },
        notification: () => undefined,
      },
    });
  });
  await assert.rejects(
    call("session/load", load("s1")),
    /session\/load: the working directory of this session is not known: it was not opened here, and the agent does not list it/,
  );
  assert.deepEqual(got, ["initialize", "session/list"]);
});
