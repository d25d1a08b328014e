// Logins of every kind, through a managed agent.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type { AuthMethod } from "@parley/acp/model";
import { managed, patience, say, scripted } from "../../test/support/managed-probe.ts";
import type { Asker, LoginCommand, LoginMethod } from "../index.ts";

const cwd = tmpdir();
const web: AuthMethod = { type: "agent", methodId: "web", name: "Browser", description: "opens one" };
const open = { otherwise: say("in") };
const locked = { ...open, authMethods: [web], loginRequired: true };
const refused = { method: "session/new", error: { code: -32000, message: "Authentication required" } };

/** What the agent says about logins on the wire of version 1, whatever its shape. */
const offering = (...authMethods: readonly object[]) => ({
  editions: ["v1"] as const,
  wire: { replies: [{ method: "initialize", patch: { authMethods } }, refused] },
});

function choosing(id: string | undefined, more: Asker = {}) {
  const shown: LoginMethod[][] = [];
  const asker: Asker = {
    chooseLogin: async (methods) => {
      shown.push([...methods]);
      return id;
    },
    ...more,
  };
  return { asker, shown };
}

test(
  "an agent that wants a login gets one, once for all sessions that are opened, and the calls are made again",
  patience,
  async (t) => {
    const { entry, starts } = scripted(t, { play: locked });
    const { asker, shown } = choosing("web");
    const { agent } = await managed(t, entry, { asker });
    const sessions = await Promise.all([agent.newSession({ cwd }), agent.newSession({ cwd })]);
    assert.deepEqual(shown, [[{ id: "web", name: "Browser", description: "opens one", kind: "agent" }]]);
    for (const session of sessions) assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.equal(starts().length, 1);
  },
);

test("after a logout the agent wants a login again, also for a prompt (C13)", patience, async (t) => {
  const { entry } = scripted(t, { play: locked });
  const { asker, shown } = choosing("web");
  const { agent } = await managed(t, entry, { asker });
  await agent.newSession({ cwd });
  await agent.logout();
  await agent.newSession({ cwd });
  assert.equal(shown.length, 2);
});

test("credentials for an agent that speaks no dialect are refused and not sent", patience, async (t) => {
  const { entry } = scripted(t, { play: locked });
  const { agent } = await managed(t, entry, {});
  const credentials = { apiKey: "birch-lake-7" };
  await assert.rejects(agent.login("web", { credentials }), {
    kind: "login_needed",
    message: /which has no place for credentials, and they were not sent/,
  });
  await agent.login("web");
});

test(
  "an agent that reads its credentials only when it starts is started anew after the login",
  patience,
  async (t) => {
    const wire = { replies: [refused] };
    const { entry, starts } = scripted(t, { play: { ...locked, wire } }, { play: open });
    const { asker } = choosing("web");
    const { agent, events } = await managed(t, entry, { asker });
    const session = await agent.newSession({ cwd });
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.equal(starts().length, 2);
    assert.ok(events.some((event) => event.kind === "restarting"));
  },
);

test("with nobody to ask, the ways to log in are told at once", patience, async (t) => {
  const { entry } = scripted(t, { play: locked });
  const { agent } = await managed(t, { ...entry, origin: "config" });
  await assert.rejects(agent.newSession({ cwd }), {
    name: "LaunchError",
    kind: "login_needed",
    message: "scripted wants a login: not logged in",
    hint: "log in with: parley agents login scripted\nits methods: web (Browser)",
  });
});

test("a login that the user does not want, that fails, or that never ends is told", patience, async (t) => {
  const given = await managed(t, scripted(t, { play: locked }).entry, choosing(undefined));
  await assert.rejects(given.agent.newSession({ cwd }), {
    kind: "login_needed",
    message: /no login method was chosen/,
  });
  const method = "authenticate";
  const failing = {
    ...locked,
    editions: ["v1"] as const,
    wire: { replies: [{ method, error: { code: -32603, message: "wrong account" } }] },
  };
  const wrong = await managed(t, scripted(t, { play: failing }).entry, choosing("web"));
  await assert.rejects(wrong.agent.newSession({ cwd }), { kind: "login_needed", message: /wrong account/ });
  const hanging = {
    ...locked,
    editions: ["v1"] as const,
    wire: { replies: [{ method, answer: "never" as const }] },
  };
  const { entry, starts } = scripted(t, { play: hanging }, { play: open });
  const stuck = await managed(t, entry, { ...choosing("web"), loginTimeoutMs: 50 });
  await assert.rejects(stuck.agent.newSession({ cwd }), {
    kind: "login_needed",
    message: /did not end within 50 ms/,
  });
  // and the agent that hung is not used again
  assert.notEqual((await stuck.agent.newSession({ cwd })).sessionId, "");
  assert.equal(starts().length, 2);
});

test(
  "a login in a terminal runs the agent's own program, which is started anew afterwards (C11, C12)",
  patience,
  async (t) => {
    const method = { type: "terminal", id: "tty", name: "Terminal", args: ["--login"], env: { LOGIN: "1" } };
    const { entry, starts } = scripted(t, { play: offering(method) }, { play: open });
    const commands: LoginCommand[] = [];
    const { asker, shown } = choosing("tty", {
      terminalLogin: async (command) => {
        commands.push(command);
        return 0;
      },
    });
    const { agent } = await managed(t, entry, { asker, env: {} });
    // refused at the same time: one login is enough for all
    const [first, second] = await Promise.all([agent.newSession({ cwd }), agent.newSession({ cwd })]);
    assert.notEqual(first.sessionId, second.sessionId);
    assert.equal((await first.prompt("hi").result).stopReason, "end_turn");
    assert.equal(shown[0]?.[0]?.kind, "terminal");
    assert.partialDeepStrictEqual(commands, [
      { command: entry.command, args: [...entry.args, "--login"], env: { LOGIN: "1" } },
    ]);
    assert.equal(commands[0]?.env["PATH"], process.env["PATH"]);
    assert.equal(starts().length, 2);
  },
);

test("a login that does not help is not repeated", patience, async (t) => {
  const { entry, starts } = scripted(t, { play: { ...locked, wire: { replies: [refused] } } });
  const { asker, shown } = choosing("web");
  const { agent } = await managed(t, entry, { asker });
  await assert.rejects(agent.newSession({ cwd }), { name: "RequestError", code: -32000 });
  assert.equal(shown.length, 1);
  // some agents read their credentials only when they start
  assert.equal(starts().length, 2);
});

test(
  "an agent that does not start again after a login rejects with the reason (C12)",
  patience,
  async (t) => {
    const method = { type: "terminal", id: "tty", name: "Terminal" };
    const { entry } = scripted(t, { play: offering(method) }, { exit: 4 });
    const { asker } = choosing("tty", { terminalLogin: async () => 0 });
    const { agent } = await managed(t, entry, { asker });
    await assert.rejects(agent.newSession({ cwd }), { name: "LaunchError", kind: "exited", exitCode: 4 });
  },
);

test("a login that failed is asked for again by the next request", patience, async (t) => {
  const method = { type: "terminal", id: "tty", name: "Terminal" };
  const { entry, starts } = scripted(t, { play: offering(method) }, { play: open });
  const codes = [1, 0];
  const { asker, shown } = choosing("tty", { terminalLogin: async () => codes.shift() ?? 1 });
  const { agent } = await managed(t, entry, { asker });
  await assert.rejects(agent.newSession({ cwd }), { kind: "login_needed" });
  assert.equal(starts().length, 1);
  assert.notEqual((await agent.newSession({ cwd })).sessionId, "");
  assert.equal(shown.length, 2);
});

test("a login in a terminal that fails is told with its exit code", patience, async (t) => {
  const method = { type: "terminal", id: "tty", name: "Terminal" };
  const { entry } = scripted(t, { play: offering(method) });
  const { asker } = choosing("tty", { terminalLogin: async () => 3 });
  const { agent } = await managed(t, entry, { asker });
  await assert.rejects(agent.newSession({ cwd }), { kind: "login_needed", message: /exited with code 3/ });
});

test("ways to log in that other agents name in their own shapes are understood", patience, async (t) => {
  const methods = [
    {
      id: "meta",
      name: "Meta",
      _meta: { "terminal-auth": { command: "their-cli", args: ["auth"], env: { A: "1" } } },
    },
    { id: "typed", name: "Typed", _meta: { type: "terminal", args: ["login"] } },
    {
      id: "keys",
      name: "Keys",
      type: "env_var",
      vars: [
        { name: "THEIR_KEY", label: "Key" },
        { name: "BASE", optional: true, secret: false },
      ],
    },
    { id: "plain", name: "Plain" },
  ];
  const { entry, starts } = scripted(t, { play: offering(...methods) }, { play: open });
  const asked: string[] = [];
  const { asker, shown } = choosing("keys", {
    terminalLogin: async () => 0,
    credential: async ({ name, isSecret }) => {
      asked.push(`${name} ${isSecret}`);
      return name === "THEIR_KEY" ? "canary-key" : undefined;
    },
  });
  const { agent } = await managed(t, entry, { asker });
  assert.notEqual((await agent.newSession({ cwd })).sessionId, "");
  assert.deepEqual(
    shown[0]?.map(({ id, kind, command }) => [id, kind, command?.command, command?.args.at(-1)]),
    [
      ["meta", "terminal", "their-cli", "auth"],
      ["typed", "terminal", entry.command, "login"],
      ["keys", "variables", undefined, undefined],
      ["plain", "agent", undefined, undefined],
    ],
  );
  assert.deepEqual(asked, ["THEIR_KEY true", "BASE false"]);
  assert.equal(starts()[1]?.env["THEIR_KEY"], "canary-key");
  assert.equal(starts()[0]?.env["THEIR_KEY"], undefined);
});

test(
  "a client that runs no terminals and asks for no keys does not offer those ways",
  patience,
  async (t) => {
    const methods = [
      { type: "terminal", id: "tty", name: "Terminal" },
      { id: "keys", name: "Keys", type: "env_var", vars: ["KEY"] },
    ];
    const { entry } = scripted(t, { play: offering(...methods) });
    const { asker } = choosing("tty");
    const { agent } = await managed(t, entry, { asker });
    await assert.rejects(agent.newSession({ cwd }), {
      kind: "login_needed",
      message: /none of its login methods can be used here/,
    });
  },
);

test("one can log in before anything else, by the name of the way", patience, async (t) => {
  const { entry } = scripted(t, { play: locked });
  const { agent } = await managed(t, entry);
  await assert.rejects(agent.login("magic"), {
    kind: "login_needed",
    message: /no usable login method magic/,
  });
  await agent.login("web");
  assert.notEqual((await agent.newSession({ cwd })).sessionId, "");
});

test("prompts of two sessions that want a login at the same time share one", patience, async (t) => {
  const wanted = { method: "session/prompt", error: { code: -32000, message: "Authentication required" } };
  const wire = {
    replies: [
      { ...wanted, nth: 1 },
      { ...wanted, nth: 2 },
    ],
  };
  const { entry } = scripted(t, { play: { ...open, editions: ["v1"], authMethods: [web], wire } });
  const chosen = Promise.withResolvers<string>();
  let asked = 0;
  const asker: Asker = {
    chooseLogin: () => {
      asked++;
      return chosen.promise;
    },
  };
  const { agent } = await managed(t, entry, { asker });
  const sessions = await Promise.all([agent.newSession({ cwd }), agent.newSession({ cwd })]);
  const outcomes = Promise.all(sessions.map((session) => session.prompt("hi").result));
  while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
  chosen.resolve("web");
  assert.deepEqual(
    (await outcomes).map(({ stopReason }) => stopReason),
    ["end_turn", "end_turn"],
  );
  assert.equal(asked, 1);
});
