// The login and the model providers of an agent: unstable methods that both versions have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asked, connected, inEveryWay } from "../../../test/support/every-way.ts";
import {
  initialize,
  place,
  quiet,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentRequest, agent, RequestError } from "../../index.ts";
import type { AuthAccount, AuthStatus, Provider, ProviderSetting } from "../../model.ts";
import { memoryPair } from "../../transport.ts";
import { agentPeer, clientPeer } from "../../v1.gen.ts";

const prompt = () => undefined;
const method = { type: "agent" as const, methodId: "key", name: "Key" };
const account = { label: "Team plan", active: true, email: "a@example.com" };

function loggedOut() {
  let isLoggedIn = false;
  return {
    methods: [method],
    isLoggedIn: () => isLoggedIn,
    login() {
      isLoggedIn = true;
    },
    logout() {
      isLoggedIn = false;
    },
  };
}

inEveryWay("A114 the login is reported when asked for, and when it has changed", async (way) => {
  const unstable = ["auth_status"] as const;
  let accounts: readonly AuthAccount[] = [];
  const auth = loggedOut();
  const { agent: served, connection } = await connected(
    way,
    {
      unstable,
      prompt,
      auth: {
        ...auth,
        status: () => ({ state: auth.isLoggedIn() ? "authenticated" : "unauthenticated", accounts }),
      },
    },
    { unstable },
  );
  const reports: AuthStatus[] = [];
  const stop = connection.onAuthStatus((status) => reports.push(status));
  assert.equal(connection.capabilities.authStatus, true);
  assert.deepEqual(await connection.authStatus(), { state: "unauthenticated", accounts: [] });
  await rejects(connection.newSession(place), -32000);
  await connection.login("key");
  await quiet();
  assert.deepEqual(reports, [{ state: "authenticated", accounts: [] }]);
  await served.reportAuthStatus();
  await quiet();
  assert.equal(reports.length, 1, "nothing has changed");
  accounts = [account];
  await served.reportAuthStatus();
  await quiet();
  assert.deepEqual(reports.at(-1), { state: "authenticated", accounts: [account] });
  const late: AuthStatus[] = [];
  connection.onAuthStatus((status) => late.push(status));
  assert.deepEqual(late, reports.slice(-1), "a late listener gets the last report");
  stop();
  await connection.logout();
  await quiet();
  assert.deepEqual([reports.length, late.length], [2, 2]);
});

inEveryWay("A114 without a handler the login is what the methods and isLoggedIn say", async (way) => {
  const unstable = ["auth_status"] as const;
  const ask = async (auth?: object) =>
    (
      await (
        await connected(way, { unstable, prompt, ...(auth && { auth }) }, { unstable })
      ).connection.authStatus()
    ).state;
  assert.equal(await ask(), "not_required");
  assert.equal(await ask(loggedOut()), "unauthenticated");
  const { isLoggedIn: _, ...unsure } = loggedOut();
  assert.equal(await ask(unsure), "unknown");
  const refuse = () => {
    throw RequestError.authRequired();
  };
  assert.equal(await ask({ status: refuse }), "unauthenticated", "never an error that asks for a login");
});

test("C66 C67 a login of a strange agent is unknown, and is not logged", async () => {
  for (const version of [1, 2] as const) {
    const auth = { auth: { status: {} } };
    const {
      agent: connection,
      peer,
      log,
    } = await withScriptedAgent(
      version,
      {
        initialize: () =>
          version === 2
            ? { protocolVersion: 2, info: { name: "x", version: "1" }, capabilities: auth }
            : { protocolVersion: 1, agentCapabilities: auth },
        "auth/status": () => ({ state: "_half", accounts: [account, { email: "nobody@example.com" }] }),
      },
      { unstable: ["auth_status"] },
    );
    assert.deepEqual(await connection.authStatus(), { state: "unknown", accounts: [account] });
    const reports: AuthStatus[] = [];
    connection.onAuthStatus(() => {
      throw new Error("a listener's own");
    });
    connection.onAuthStatus((status) => reports.push(status));
    peer.notify("auth/status_update", { state: "authenticated", accounts: null });
    await quiet();
    assert.equal(reports[0]?.state, "authenticated");
    assert.ok(!log.join().includes("example.com"), log.join());
  }
});

function configurable() {
  const settings: ProviderSetting[] = [];
  const providers: Provider[] = [
    { providerId: "main", supported: ["anthropic", "_own"], required: true },
    {
      providerId: "spare",
      supported: ["openai"],
      required: false,
      current: { apiType: "openai", baseUrl: "https://api.example.com/v1" },
    },
  ];
  const disabled: string[] = [];
  return {
    settings,
    disabled,
    providers,
    handlers: {
      list: () => providers,
      set: (setting: ProviderSetting) => void settings.push(setting),
      disable: (providerId: string) => void disabled.push(providerId),
    },
  };
}

inEveryWay("A120 A121 C68 a client lists, sets and disables the providers of an agent", async (way) => {
  const unstable = ["providers"] as const;
  const { settings, disabled, providers, handlers } = configurable();
  const { connection, wire } = await connected(way, { unstable, prompt, providers: handlers }, { unstable });
  assert.equal(connection.capabilities.providers, true);
  const setting: ProviderSetting = {
    providerId: "main",
    apiType: "_own",
    baseUrl: "https://gateway.example.com",
    headers: { authorization: "Bearer x" },
    _meta: { "example.com/why": "test" },
  };
  await connection.setProvider(setting);
  assert.deepEqual(settings, [setting]);
  await rejects(connection.disableProvider("main"), -32602, { path: "/providerId" });
  assert.deepEqual(await connection.listProviders(), { providers });
  const sent = asked(wire).length;
  await assert.rejects(connection.disableProvider("main"), { name: "TypeError", message: /requires main/ });
  assert.equal(asked(wire).length, sent, "a required provider is not even asked about");
  await connection.disableProvider("spare");
  await connection.disableProvider("nobody");
  assert.deepEqual(disabled, ["spare"]);
  await rejects(connection.setProvider({ ...setting, providerId: "nobody" }), -32602, {
    path: "/providerId",
  });
  await rejects(connection.setProvider({ ...setting, apiType: "openai" }), -32602, { path: "/apiType" });
  // version 2 refuses it before it is sent
  await assert.rejects(connection.setProvider({ ...setting, baseUrl: "no address" }), /baseUrl/);
  assert.equal(settings.length, 1);
});

inEveryWay(
  "X5 custom data that list sets for its answer is not in the answers that set and disable give",
  async (way) => {
    const unstable = ["providers"] as const;
    const { handlers, providers: known } = configurable();
    const list: typeof handlers.list = (request?: AgentRequest) => {
      request?.setResultMeta({ "example.com/of": "list" });
      return known;
    };
    const { connection } = await connected(
      way,
      { unstable, prompt, providers: { ...handlers, list } },
      { unstable },
    );
    const setting = { providerId: "spare", apiType: "openai", baseUrl: "https://example.com" } as const;
    assert.deepEqual(await connection.setProvider(setting), {});
    assert.deepEqual(await connection.disableProvider("spare"), {});
    const { _meta: meta, providers } = await connection.listProviders();
    assert.deepEqual([meta, providers], [{ "example.com/of": "list" }, known]);
  },
);

inEveryWay("without the features neither is offered, and nothing is sent", async (way) => {
  const { connection, wire } = await connected(way, { prompt });
  assert.deepEqual([connection.capabilities.authStatus, connection.capabilities.providers], [false, false]);
  for (const call of [
    () => connection.authStatus(),
    () => connection.listProviders(),
    () => connection.setProvider({ providerId: "x", apiType: "openai", baseUrl: "https://x.example" }),
    () => connection.disableProvider("x"),
  ])
    await assert.rejects(call, { name: "TypeError", message: /unstable: \["[a-z_]+"\]/ });
  assert.deepEqual(asked(wire), ["initialize"]);
});

for (const version of [1, 2])
  test(`A111 an agent without providers has no such methods, whatever it enables (v${version})`, async () => {
    const { call } = withScriptedClient({ prompt, unstable: "*" });
    const { capabilities, agentCapabilities } = (await call("initialize", initialize(version))) as {
      [name: string]: object;
    };
    assert.ok(!("providers" in (capabilities ?? agentCapabilities ?? {})));
    await rejects(call("providers/list", {}), -32601);
    await rejects(call("providers/disable", { providerId: "x" }), -32601);
  });

test("a feature without effect, or a handler without its feature, is a mistake that is said", () => {
  const about = { name: "a", version: "1", prompt } as const;
  const { handlers } = configurable();
  const wrong: [object, RegExp][] = [
    [{ proxies: [] }, /proxies is unstable: it needs unstable: \["proxies"\]/],
    [{ unstable: ["proxies"], proxies: [{ name: "p" }] }, /proxies must be a list of what proxy\(\)/],
    [{ unstable: ["providers"] }, /unstable: \["providers"\] needs providers: \{ list, set, disable \}/],
    [{ providers: handlers }, /providers is unstable: it needs unstable: \["providers"\]/],
    [{ unstable: ["providers"], providers: { ...handlers, set: 1 } }, /providers\.set must be a function/],
    [{ session: { onArchive: prompt } }, /session\.onArchive is unstable: it needs unstable: \["archive"\]/],
    [{ session: { onSetTitle: prompt } }, /session\.onSetTitle .* unstable: \["session_title"\]/],
    [{ auth: { status: prompt } }, /auth\.status .* unstable: \["auth_status"\]/],
  ];
  for (const [part, message] of wrong)
    assert.throws(() => agent({ ...about, ...part }), { name: "TypeError", message });
  agent({ ...about, unstable: "*" });
  // the raw wire has them
  const [near, far] = memoryPair();
  assert.ok(agentPeer(near, { unstable: ["proxies", "mcp_over_acp"] }));
  assert.ok(clientPeer(far, { unstable: ["proxies"] }));
});
