import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  failsWith,
  inEveryVersion,
  initialize,
  openSession,
  place,
  quiet,
  rejects,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { agent, RequestError } from "../../index.ts";

const key = { type: "agent" as const, methodId: "key", name: "Key" };
const tty = { type: "terminal" as const, methodId: "tty", name: "Terminal" };

function guarded() {
  const state = { inside: true };
  return {
    state,
    definition: {
      unstable: "*" as const,
      prompt: () => undefined,
      session: {
        open: (session: { setConfigOptions(options: never): void }) =>
          session.setConfigOptions([
            {
              configId: "mode",
              name: "Mode",
              category: "mode",
              type: "select",
              currentValue: "a",
              options: [{ value: "a", name: "A" }],
            },
          ] as never),
      },
      auth: {
        methods: [key, tty],
        login: () => {
          state.inside = true;
        },
        logout: () => {
          state.inside = false;
        },
        isLoggedIn: () => state.inside,
      },
    },
  };
}

inEveryVersion(
  "A112 N101 N103 one hook demands a login for every session method; it helps, and logging out undoes it",
  async ({ version }) => {
    const { definition } = guarded();
    const { call } = withScriptedClient(definition);
    await call("initialize", initialize(version));
    const where = { cwd: "/project", mcpServers: [] };
    const { sessionId } = (await call("session/new", where)) as { sessionId: string };
    await call(version === 1 ? "logout" : "auth/logout", {});
    const shown = version === 1 ? [{ id: "key", name: "Key" }] : [key];
    const requests: Record<string, object> = {
      "session/new": where,
      "session/list": {},
      "session/resume": { sessionId, ...where },
      "session/fork": { sessionId, ...where },
      "session/prompt": { sessionId, prompt: [text("x")] },
      "session/set_config_option": { sessionId, configId: "mode", type: "id", value: "a" },
      "session/delete": { sessionId },
      "session/close": { sessionId },
      ...(version === 1
        ? {
            "session/load": { sessionId, ...where },
            "session/set_mode": { sessionId, modeId: "a" },
            "session/set_model": { sessionId, modelId: "a" },
          }
        : {}),
    };
    for (const [method, params] of Object.entries(requests)) {
      // the methods that this client was shown, and no other (A13)
      await rejects(call(method, params), -32000, { reason: "auth_required", authMethods: shown });
    }
    await call(version === 1 ? "authenticate" : "auth/login", { methodId: "key" });
    await call("session/prompt", requests["session/prompt"]);
    assert.equal(((await call("session/list", {})) as { sessions: unknown[] }).sessions.length, 1);
  },
);

inEveryVersion(
  "N103 a login that expires refuses the next prompt and leaves the running turn alone",
  async (pair) => {
    const { definition, state } = guarded();
    const gate = Promise.withResolvers<void>();
    const { session, agent: connected } = await openSession(pair, {
      ...definition,
      concurrentPrompts: "queue",
      prompt: () => gate.promise,
    });
    const running = session.prompt("1");
    await running.accepted;
    await quiet();
    state.inside = false;
    await rejects(connected.listSessions(), -32000);
    gate.resolve();
    assert.equal((await running.result).stopReason, "end_turn");
    await failsWith(session.prompt("2").result, -32000, { reason: "auth_required" });
  },
);

inEveryVersion("a turn that finds out that the login expired says so", async (pair) => {
  const { session } = await openSession(pair, {
    prompt() {
      throw RequestError.authRequired();
    },
  });
  await failsWith(session.prompt("x").result, -32000, { reason: "auth_required" });
});

inEveryVersion("A112 what `open` throws names the methods too", async (pair) => {
  const { definition } = guarded();
  const { agent: connected } = await conversation(pair, {
    ...definition,
    session: {
      open: () => {
        throw RequestError.authRequired();
      },
    },
  });
  const error = await rejects(connected.newSession(place), -32000, { reason: "auth_required" });
  assert.ok(JSON.stringify(error.data).includes("key"));
});

test("A12 an agent that lists methods without login or logout is refused when it is made", () => {
  const base = { name: "a", version: "1", prompt: () => undefined };
  const methods = [key];
  assert.throws(() => agent({ ...base, auth: { methods, logout: () => undefined } }), /login/);
  assert.throws(() => agent({ ...base, auth: { methods, login: () => undefined } }), /logout/);
  agent({ ...base, auth: { methods, login: () => undefined }, editions: ["v1"] });
  agent({ ...base, auth: { methods, login: () => undefined, logout: () => undefined } });
});

test("A12 version 2 has auth/login and auth/logout wherever a method is listed", async () => {
  const { definition } = guarded();
  const { call } = withScriptedClient(definition);
  const { authMethods } = (await call("initialize", initialize(2))) as { authMethods: unknown[] };
  assert.deepEqual(authMethods, [key]);
  assert.deepEqual(await call("auth/login", { methodId: "key" }), {});
  assert.deepEqual(await call("auth/logout", {}), {});
});

test("A13 a terminal method is shown to clients that can run one, and to no other", async () => {
  for (const version of [1, 2] as const) {
    for (const can of [true, false]) {
      const { call } = withScriptedClient(guarded().definition);
      const auth = version === 1 ? { terminal: can } : can ? { terminal: {} } : {};
      const capability = version === 1 ? { clientCapabilities: { auth } } : { capabilities: { auth } };
      const result = await call("initialize", { ...initialize(version), ...capability });
      const ids = (result as { authMethods: { id?: string; methodId?: string }[] }).authMethods.map(
        ({ id, methodId }) => id ?? methodId,
      );
      assert.deepEqual(ids, can ? ["key", "tty"] : ["key"], `version ${version}`);
    }
  }
});

test("A15 two methods of one id, and an environment with a name twice, are refused when the agent is made", () => {
  const login = { login: () => undefined, logout: () => undefined };
  const base = { name: "a", version: "1", prompt: () => undefined };
  const twice = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  assert.throws(() => agent({ ...base, auth: { ...login, methods: [{ ...tty, env: twice }] } }), /"A" twice/);
  assert.throws(() => agent({ ...base, auth: { ...login, methods: [key, key] } }), /the id "key"/);
});

test("A112 methods that are too long for an error are left out", async () => {
  const { definition, state } = guarded();
  const methods = [{ ...key, name: "x".repeat(2_000) }];
  const { call } = withScriptedClient({ ...definition, auth: { ...definition.auth, methods } });
  await call("initialize", initialize(1));
  state.inside = false;
  const error = await rejects(call("session/list", {}), -32000);
  assert.deepEqual(error.data, { reason: "auth_required" });
});
