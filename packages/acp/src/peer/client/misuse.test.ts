// Mistakes that were silent once: each throws, or is logged once.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chunk,
  inEveryVersion,
  openSession,
  place,
  quiet,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { type ClientDefinition, client, type SessionUpdate } from "../../index.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

/** What the agent is answered when the handler returns this, twice. */
async function answered(version: 1 | 2, given: unknown): Promise<{ outcome: unknown; warnings: string[] }> {
  const { agent, peer, log } = await withScriptedAgent(
    version,
    {},
    { requestPermission: (async () => given) as NonNullable<ClientDefinition["requestPermission"]> },
  );
  await agent.newSession(place);
  const about = version === 1 ? { toolCall: { toolCallId: "t" } } : { title: "May I?" };
  const ask = () =>
    peer.connection.request("session/request_permission", { sessionId: "s1", ...about, options });
  const first = await ask();
  assert.deepEqual(await ask(), first);
  const { outcome } = first as { outcome: unknown };
  return { outcome, warnings: log.filter((line) => line.startsWith("warn: ")) };
}

const denied = { outcome: "cancelled" };

test("a permission handler that returns no answer denies, and the log says once what it returned", async () => {
  for (const version of [1, 2] as const) {
    for (const [given, shown] of [
      [true, "true"],
      [false, "false"],
      [null, "null"],
      [0, "0"],
      [{}, "an object"],
      [{ optionId: "yes" }, "an object"],
      [{ outcome: "selected" }, "an object"],
      [{ outcome: { outcome: "perhaps" } }, "an object"],
      [["yes"], "a list"],
    ] as const) {
      const { outcome, warnings } = await answered(version, given);
      assert.deepEqual(outcome, denied, shown);
      assert.deepEqual(warnings, [
        `warn: requestPermission returned ${shown}, which is not an answer, so the request was denied; return the optionId ` +
          "of one of request.options, or undefined for no",
      ]);
    }
  }
});

test("a permission handler that chooses an option that is not offered denies, and the log says once which", async () => {
  for (const version of [1, 2] as const) {
    for (const given of ["yess", { outcome: "selected", optionId: "yess" }]) {
      const { outcome, warnings } = await answered(version, given);
      assert.deepEqual(outcome, denied);
      assert.deepEqual(warnings, [
        'warn: requestPermission chose the option "yess", which is not one of "yes", "no", so the request was denied; ' +
          "return the optionId of one of request.options, or undefined for no",
      ]);
    }
  }
});

test("an option id, an outcome, and the answer of the official SDK are answers, and nothing is logged", async () => {
  for (const version of [1, 2] as const) {
    const selected = { outcome: "selected", optionId: "yes" };
    for (const given of ["yes", selected, { outcome: selected }])
      assert.deepEqual(await answered(version, given), { outcome: selected, warnings: [] });
    for (const given of [undefined, denied, { outcome: denied }])
      assert.deepEqual(await answered(version, given), { outcome: denied, warnings: [] });
  }
});

inEveryVersion("nothing is sent for a session after its close", async (pair) => {
  const { session, wire } = await openSession(pair, {
    session: {
      open(opened) {
        opened.setConfigOptions([
          {
            configId: "mode",
            name: "Mode",
            category: "mode",
            type: "select",
            currentValue: "a",
            options: [{ value: "a", name: "A" }],
          },
        ]);
      },
      setConfigOption: () => undefined,
    },
    prompt: () => undefined,
  });
  const closing = session.close();
  const isClosed = {
    name: "ConnectionError",
    kind: "closed",
    message: /: the session has been closed; load or resume it, or open a new one$/,
  };
  const late = async () => {
    assert.throws(() => session.prompt("x"), isClosed);
    await assert.rejects(session.setConfigOption("mode", "a"), isClosed);
    await assert.rejects(session.setMode("a"), isClosed);
    await assert.rejects(session.cancelToolCall("t"), isClosed);
    await assert.rejects(session.cancelTerminal("t"), isClosed);
  };
  await late();
  await closing;
  const sent = wire.length;
  await late();
  session.cancel();
  await session.close();
  await quiet();
  assert.equal(wire.length, sent);
});

test("a session that the agent did not close can be used, and closed again", async () => {
  let refusals = 1;
  const { agent } = await withScriptedAgent(1, {
    "session/close": () => {
      if (refusals-- > 0) throw new Error("not now");
      return {};
    },
    "session/prompt": () => ({ stopReason: "end_turn" }),
  });
  const session = await agent.newSession(place);
  await assert.rejects(session.close(), { code: -32603 });
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
  await session.close();
  assert.throws(() => session.prompt("x"), { kind: "closed" });
});

test("a listener that is registered twice throws, and is called once", async () => {
  const { agent, peer } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  const seen: SessionUpdate[] = [];
  const listener = (update: SessionUpdate) => seen.push(update);
  const stop = session.onUpdate(listener);
  const twice = {
    name: "TypeError",
    message: /^onUpdate: this listener is already registered; remove it first/,
  };
  assert.throws(() => session.onUpdate(listener), twice);
  peer.update("s1", chunk("x"));
  await quiet();
  assert.equal(seen.length, 1);
  stop();
  session.onUpdate(listener)();
  const onEntry = () => undefined;
  session.onEntry(onEntry);
  assert.throws(() => session.onEntry(onEntry), /^TypeError: onEntry: this listener is already registered/);
  assert.throws(
    () => session.onUpdate(undefined as never),
    /^TypeError: onUpdate: expected a function, got nothing$/,
  );
});

test("a session that is loaded again with its listener is heard once", async () => {
  const { agent, peer } = await withScriptedAgent(1, { "session/load": () => ({}) });
  const seen: SessionUpdate[] = [];
  const again = { ...place, onUpdate: (update: SessionUpdate) => seen.push(update) };
  const session = await agent.loadSession("s1", again);
  assert.equal(await agent.loadSession("s1", again), session);
  peer.update("s1", chunk("x"));
  await quiet();
  assert.equal(seen.length, 1);
});

test("a first listener that comes too late for some updates is logged once", async () => {
  const { agent, peer, log } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  session.onUpdate(() => undefined);
  peer.update("s1", chunk("before"));
  await quiet();
  assert.deepEqual(log, []);
  // a further listener of updates wants the next ones
  session.onUpdate(() => undefined);
  assert.deepEqual(log, []);
  session.onEntry(() => undefined);
  session.onEntry(() => undefined);
  assert.equal(log.length, 1);
  assert.match(
    log[0] ?? "",
    /^warn: a listener was registered late and has missed updates; pass it to newSession/,
  );
});

test("a listener that returns a promise is logged once, and every failure of one", async () => {
  const { agent, peer, log } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  // @ts-expect-error an async listener
  session.onUpdate(async () => {
    throw new Error("too late");
  });
  // @ts-expect-error an async listener
  session.onEntry(async () => undefined);
  for (const text of ["1", "2"]) peer.update("s1", chunk(text));
  await quiet();
  const promises = log.filter((line) => line.startsWith("warn: a listener returned a promise"));
  assert.equal(promises.length, 1);
  assert.equal(log.filter((line) => line === "error: a listener threw").length, 2);
});

test("a relative directory is refused, and nothing is sent", async () => {
  const { agent, peer } = await withScriptedAgent(2, {});
  const more = { ...place, additionalDirectories: ["/fine", "lib"] };
  for (const [call, message] of [
    [() => agent.newSession({ cwd: "." }), /^newSession: cwd must be an absolute path such as .*got "\."$/],
    [() => agent.newSession({ cwd: "" }), /^newSession: cwd must be an absolute path such as .*got ""$/],
    [() => agent.newSession({ cwd: "C:project" }), /^newSession: cwd .*got "C:project"$/],
    [() => agent.newSession({} as never), /^newSession: cwd .*got nothing$/],
    [() => agent.newSession(more), /^newSession: additionalDirectories must be .*got "lib"$/],
    [() => agent.loadSession("s1", { cwd: "~/project" }), /^loadSession: cwd .*got "~\/project"$/],
    [() => agent.resumeSession("s1", { cwd: "project" }), /^resumeSession: cwd .*got "project"$/],
    [() => agent.listSessions({ cwd: "project" }), /^listSessions: cwd .*got "project"$/],
  ] as const)
    await assert.rejects(call, { name: "TypeError", message });
  assert.deepEqual(peer.methods(), ["initialize"]);
});

test("absolute paths of every system are taken, since the agent may run on another one", async () => {
  for (const cwd of ["/project", "C:\\project", "c:/project", "\\\\host\\share"]) {
    const { agent } = await withScriptedAgent(1, {});
    assert.equal((await agent.newSession({ cwd })).cwd, cwd);
  }
});

test("a policy without decide is refused by client()", () => {
  const info = { name: "c", version: "1" };
  const wanted = "client: policy must be an object with a decide function, got ";
  for (const [policy, got] of [
    [() => "allow", "a function"],
    [{ decides: () => "allow" }, "an object without it"],
    ["allow", '"allow"'],
  ] as const)
    assert.throws(() => client({ ...info, policy: policy as never }), {
      name: "TypeError",
      message: wanted + got,
    });
});
