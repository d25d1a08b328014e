import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  type Pair,
  place,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { RequestError } from "../../index.ts";

const prompt = () => undefined;
const agentMethod = { type: "agent" as const, methodId: "key", name: "Key" };
const terminalMethod = {
  type: "terminal" as const,
  methodId: "tty",
  name: "Terminal",
  args: ["login"],
  env: [{ name: "A", value: "1" }],
};

function guarded() {
  const logins: string[] = [];
  let inside = false;
  return {
    logins,
    definition: {
      prompt,
      session: {
        open: () => {
          if (!inside) throw RequestError.authRequired([agentMethod]);
        },
      },
      auth: {
        methods: [agentMethod, terminalMethod],
        login: (methodId: string) => {
          logins.push(methodId);
          inside = methodId === "key";
        },
        logout: () => {
          inside = false;
        },
      },
    },
    allow: () => {
      inside = true;
    },
  };
}

inEveryVersion("N101 A112 a session before the login is -32000, and works after it", async (pair) => {
  const { definition, logins } = guarded();
  const { agent, wire } = await conversation(pair, definition);
  await rejects(agent.newSession(place), -32000, { reason: "auth_required" });
  assert.deepEqual((await agent.listSessions()).sessions, [], "nothing was left behind");
  assert.deepEqual(
    agent.authMethods.map(({ methodId }) => methodId),
    ["key"],
    "A13 a client that runs no terminals is offered none",
  );
  await agent.login("key");
  assert.ok((await agent.newSession(place)).sessionId);
  assert.deepEqual(logins, ["key"]);
  const asked = wire
    .filter(({ from, message }) => from === "client" && message.method !== undefined)
    .map(({ message }) => message.method);
  const login = pair.version === 1 ? "authenticate" : "auth/login";
  assert.deepEqual(asked, ["initialize", "session/new", "session/list", login, "session/new"]);
});

inEveryVersion("A112 a prompt that needs a login is -32000 with its reason and the methods", async (pair) => {
  const thrown = [
    new RequestError("auth_required", "the key has expired"),
    RequestError.authRequired([terminalMethod]),
    new RequestError("auth_required", "no", { data: { reason: "no_key" } }),
  ];
  const { definition } = guarded();
  const { agent } = await conversation(pair, {
    ...definition,
    session: {},
    prompt() {
      throw thrown.shift();
    },
  });
  const session = await agent.newSession(place);
  const shown =
    pair.version === 1 ? [{ id: "key", name: "Key" }] : [{ type: "agent", methodId: "key", name: "Key" }];
  const expired = (await session.prompt("x").result).error;
  assert.deepEqual([expired?.code, expired?.message], [-32000, "the key has expired"]);
  assert.deepEqual(expired?.data, { reason: "auth_required", authMethods: shown });
  const needed = (await session.prompt("x").result).error;
  assert.deepEqual(needed?.data, { reason: "auth_required", authMethods: shown }, "A13 only what it can run");
  assert.deepEqual((await session.prompt("x").result).error?.data, { reason: "no_key" });
});

inEveryVersion("N102 C11 a method that is unknown, or runs in a terminal, is -32602", async (pair: Pair) => {
  const { definition } = guarded();
  const { call } = withScriptedClient(definition);
  await call("initialize", initialize(pair.version));
  const method = pair.version === 1 ? "authenticate" : "auth/login";
  await rejects(call(method, { methodId: "nothing" }), -32602, { path: "/methodId" });
  await rejects(call(method, { methodId: "tty" }), -32602);
  const { agent } = await conversation(pair, definition);
  await assert.rejects(agent.login("nothing"), TypeError);
});

inEveryVersion("C11 a terminal method is never sent to the agent", async (pair) => {
  const { definition, logins } = guarded();
  const { agent } = await conversation(pair, definition, { auth: { terminal: true } });
  assert.deepEqual(agent.authMethods, [agentMethod, terminalMethod]);
  await assert.rejects(agent.login("tty"), { name: "TypeError", message: /tty is a terminal login/ });
  assert.deepEqual(logins, []);
});

inEveryVersion("C13 N103 after a logout the next session wants a login again", async (pair) => {
  const { definition, logins } = guarded();
  const { agent } = await conversation(pair, definition);
  await agent.login("key");
  await agent.newSession(place);
  await agent.logout();
  await rejects(agent.newSession(place), -32000);
  await agent.login("key");
  await agent.newSession(place);
  assert.deepEqual(logins, ["key", "key"]);
});

test("C10 a logout or a login that the agent does not offer is not sent", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {});
    await assert.rejects(agent.logout(), TypeError);
    await assert.rejects(agent.login("key"), { name: "TypeError", message: /it has: none/ });
    assert.deepEqual(peer.methods(), ["initialize"]);
  }
});

test("C11 a terminal method that was offered all the same is neither sent nor run by a client that runs none", async () => {
  const { agent, peer } = await withScriptedAgent(1, {
    initialize: () => ({
      protocolVersion: 1,
      agentCapabilities: {},
      authMethods: [{ id: "tty", name: "Terminal", type: "terminal", args: ["login"], env: {} }],
    }),
  });
  assert.deepEqual(
    agent.authMethods.map(({ type }) => type),
    ["terminal"],
  );
  await assert.rejects(agent.login("tty"), { name: "TypeError", message: /tty is a terminal login/ });
  assert.deepEqual(peer.methods(), ["initialize"]);
});
