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
import { agent, authRequired, ConnectionError, client, memoryPair } from "../../index.ts";

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
      authMethods: [agentMethod, terminalMethod],
      open: () => {
        if (!inside) throw authRequired([agentMethod]);
      },
      login: (methodId: string) => {
        logins.push(methodId);
        inside = methodId === "key";
      },
      logout: () => {
        inside = false;
      },
    },
    allow: () => {
      inside = true;
    },
  };
}

inEveryVersion(
  "N101 A112 a session before the login is -32000, and the client logs in and tries once more",
  async (pair) => {
    const { definition, logins } = guarded();
    const offered: unknown[] = [];
    const { agent, wire } = await conversation(pair, definition, {
      authenticate: (methods) => {
        offered.push(...methods.map(({ methodId }) => methodId));
        return "key";
      },
    });
    const session = await agent.open(place);
    assert.ok(session.sessionId);
    assert.deepEqual(logins, ["key"]);
    assert.deepEqual(offered, ["key"], "A13 a client that runs no terminals is offered none");
    const asked = wire
      .filter(({ from, message }) => from === "client" && message.method !== undefined)
      .map(({ message }) => message.method);
    const login = pair.version === 1 ? "authenticate" : "auth/login";
    assert.deepEqual(asked, ["initialize", "session/new", login, "session/new"]);
  },
);

inEveryVersion("without a way to log in, or a user who gives up, the error is the agent's", async (pair) => {
  const { definition } = guarded();
  const { agent } = await conversation(pair, definition);
  await rejects(agent.open(place), -32000, { reason: "auth_required" });
  assert.deepEqual((await agent.list()).sessions, [], "nothing was left behind");
  const other = await conversation(pair, guarded().definition, { authenticate: () => undefined });
  await rejects(other.agent.open(place), -32000);
});

inEveryVersion("a login that does not help is tried once and no more", async (pair) => {
  const { definition, logins } = guarded();
  const refused = {
    ...definition,
    open: () => {
      throw authRequired();
    },
  };
  const { agent } = await conversation(pair, refused, { authenticate: () => "key" });
  await rejects(agent.open(place), -32000);
  assert.deepEqual(logins, ["key"]);
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

inEveryVersion("C11 C12 a terminal login is run by the client, and never sent to the agent", async (pair) => {
  const { definition, allow, logins } = guarded();
  const ran: unknown[] = [];
  const { agent } = await conversation(pair, definition, {
    authenticate: (methods) => methods.map(({ methodId }) => String(methodId)).find((id) => id === "tty"),
    terminalLogin: async (method) => {
      ran.push(method);
      allow();
    },
  });
  await agent.open(place);
  assert.deepEqual(ran, [terminalMethod]);
  assert.deepEqual(logins, []);
});

inEveryVersion("C13 N103 after a logout the next session wants a login again", async (pair) => {
  const { definition, logins } = guarded();
  const { agent } = await conversation(pair, definition, { authenticate: () => "key" });
  await agent.open(place);
  await agent.logout();
  await agent.open(place);
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
  await assert.rejects(agent.login("tty"), { name: "TypeError", message: /no terminal logins/ });
  assert.deepEqual(peer.methods(), ["initialize"]);
});

/** An agent that looks who is logged in when it starts, and is started as often as anybody likes. */
function restartable(pair: Pair) {
  const state = { inside: false, starts: 0, logins: 0 };
  const start = () => {
    const { inside } = state;
    state.starts++;
    const [left, right] = memoryPair();
    agent({
      name: "restartable",
      version: String(state.starts),
      versions: pair.versions,
      prompt,
      authMethods: [terminalMethod],
      login: prompt,
      logout: prompt,
      isLoggedIn: () => inside,
    }).connect(left);
    return right;
  };
  const definition = {
    name: "c",
    version: "1",
    versions: pair.versions,
    authenticate: () => "tty",
    terminalLogin: async () => {
      state.logins++;
      state.inside = true;
    },
  };
  return { state, start, definition };
}

inEveryVersion(
  "C12 after a login in a terminal the agent is started anew, and what failed is done there",
  async (pair) => {
    const { state, start, definition } = restartable(pair);
    const connected = await client({ ...definition, restart: start }).connect(start());
    let closed = false;
    void connected.closed.then(() => {
      closed = true;
    });
    // refused at the same time: one login will do for all
    const [first, second] = await Promise.all([
      connected.open(place),
      connected.open(place),
      connected.list(),
    ]);
    assert.notEqual(first?.sessionId, second?.sessionId);
    assert.deepEqual(state, { inside: true, starts: 2, logins: 1 });
    assert.equal(connected.info?.version, "2");
    assert.equal((await first?.prompt("x").outcome)?.stopReason, "end_turn");
    assert.equal(closed, false, "it is one agent to whoever uses it");
    await connected.close();
    assert.equal((await connected.closed).kind, "closed");
  },
);

inEveryVersion("C12 an agent that does not start again is gone, with the reason", async (pair) => {
  const { start, definition } = restartable(pair);
  const restart = () => {
    const [left, right] = memoryPair();
    void left.close();
    return right;
  };
  const connected = await client({ ...definition, restart }).connect(start());
  await assert.rejects(connected.open(place), { name: "ConnectionError" });
  await connected.closed;
  await assert.rejects(connected.open(place), { name: "ConnectionError" });
});

inEveryVersion("a login that fails is not followed by another try, and is asked for again", async (pair) => {
  const { state, start, definition } = restartable(pair);
  let fails = true;
  const connected = await client({
    ...definition,
    restart: start,
    terminalLogin: async () => {
      if (fails) throw new ConnectionError("exited", "the login did not succeed", { exitCode: 1 });
      state.inside = true;
    },
  }).connect(start());
  await assert.rejects(connected.open(place), /did not succeed/);
  assert.equal(state.starts, 1);
  fails = false;
  assert.ok((await connected.open(place)).sessionId);
});
