// Archiving, titles and the status of sessions: unstable methods that both versions have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asked, connected, inEveryWay, type Way } from "../../../test/support/every-way.ts";
import {
  aborted,
  initialize,
  place,
  quiet,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { forkBeforeKey } from "../../extensions.ts";
import { type AgentRequest, RequestError, type SessionUpdate, type UnstableFeature } from "../../index.ts";
import { applyEntry, createView } from "../../view.ts";

const prompt = () => undefined;
const unstable: readonly UnstableFeature[] = ["archive", "session_title", "session_status"];
const ids = (page: { readonly sessions: readonly { readonly sessionId: string }[] }) =>
  page.sessions.map(({ sessionId }) => sessionId);

inEveryWay("A115 an archived session is closed, leaves the list, and comes back", async (way) => {
  const started = Promise.withResolvers<void>();
  const { connection, wire } = await connected(
    way,
    {
      unstable,
      prompt: (turn) => {
        started.resolve();
        return aborted(turn.signal);
      },
    },
    { unstable },
  );
  assert.equal(connection.capabilities.archive, true);
  const [kept, gone] = [await connection.newSession(place), await connection.newSession(place)];
  const work = gone.prompt("work");
  await started.promise;
  await connection.archiveSession(gone.sessionId);
  assert.equal((await work).stopReason, "cancelled", "its work was cancelled first");
  assert.throws(() => gone.prompt("more"), { kind: "closed" });
  await connection.archiveSession(gone.sessionId);
  assert.deepEqual(ids(await connection.listSessions()), [kept.sessionId]);
  assert.deepEqual(ids(await connection.listSessions({ archived: "only" })), [gone.sessionId]);
  const all = await connection.listSessions({ archived: "include", cwd: "/project" });
  assert.deepEqual(
    new Map(all.sessions.map(({ sessionId, archived }) => [sessionId, archived])),
    new Map([
      [kept.sessionId, false],
      [gone.sessionId, true],
    ]),
    "each listed session says whether it is archived",
  );
  await connection.unarchiveSession(gone.sessionId);
  await connection.unarchiveSession(gone.sessionId);
  assert.equal((await connection.listSessions()).sessions.length, 2);
  await connection.loadSession(gone.sessionId, place);
  for (const missing of [connection.archiveSession("nobody"), connection.unarchiveSession("nobody")])
    await rejects(missing, -32002, { sessionId: "nobody" });
  assert.ok(asked(wire).includes("session/archive"));
});

inEveryWay(
  "A116 C66 the status of a session says whether it is in memory, and changes nothing",
  async (way) => {
    const { connection } = await connected(way, { unstable, prompt }, { unstable });
    const session = await connection.newSession(place);
    const { status, state } = await connection.sessionStatus(session.sessionId);
    // version 1 has no states
    const hasState = way.client === "v2" && way.agent === "v2";
    assert.deepEqual([status, state?.state], ["open", hasState ? "idle" : undefined]);
    await session.close();
    assert.deepEqual(await connection.sessionStatus(session.sessionId), { status: "saved" });
    assert.deepEqual(await connection.sessionStatus(session.sessionId), { status: "saved" });
    await rejects(connection.sessionStatus("nobody"), -32002, { sessionId: "nobody" });
  },
);

inEveryWay("A117 a title of the user is stored, shown, and not replaced by a generated one", async (way) => {
  const { connection } = await connected(
    way,
    { unstable, prompt: (turn) => void turn.session.setTitle("Generated") },
    { unstable },
  );
  const session = await connection.newSession(place);
  const titles: unknown[] = [];
  session.onUpdate((update) => {
    if (update.sessionUpdate === "session_info_update") titles.push(update.title);
  });
  await session.prompt("x");
  assert.equal((await session.setTitle("  Mine \n")).title, "Mine", "as it was stored");
  await session.prompt("y");
  await quiet();
  assert.deepEqual(titles, ["Generated", "Mine"]);
  const titleOf = async () => (await connection.listSessions()).sessions[0]?.title;
  assert.equal(await titleOf(), "Mine");
  await session.close();
  assert.equal((await connection.setSessionTitle(session.sessionId, "Closed")).title, "Closed");
  assert.equal(await titleOf(), "Closed");
  const replayed: SessionUpdate[] = [];
  const again = await connection.loadSession(session.sessionId, {
    ...place,
    onUpdate: (update) => replayed.push(update),
  });
  const last = replayed.findLast((update) => update.sessionUpdate === "session_info_update");
  assert.equal(last?.title, "Closed", "the history has an older one");
  await again.prompt("z");
  assert.equal(await titleOf(), "Closed");
  await rejects(connection.setSessionTitle(session.sessionId, " "), -32602, { path: "/title" });
  await rejects(connection.setSessionTitle("nobody", "x"), -32002, { sessionId: "nobody" });
});

inEveryWay("an agent decides about titles and the archive", async (way) => {
  const refuse = (sessionId: string) => {
    throw new RequestError("permission_denied", `${sessionId} stays`);
  };
  const { connection } = await connected(
    way,
    {
      unstable,
      prompt,
      session: {
        onArchive: refuse,
        onUnarchive: refuse,
        onSetTitle: (_, title) => title.toUpperCase(),
      },
    },
    { unstable },
  );
  const session = await connection.newSession(place);
  assert.equal((await session.setTitle("loud")).title, "LOUD");
  await rejects(connection.archiveSession(session.sessionId), -32060);
  await rejects(connection.unarchiveSession(session.sessionId), -32060);
  assert.equal((await connection.listSessions()).sessions.length, 1);
  // it was closed, and can be opened again
  await connection.loadSession(session.sessionId, place);
});

inEveryWay(
  "X5 the answers about titles, the status and the archive have their own custom data",
  async (way) => {
    const says = (of: string) => (_: string, request: AgentRequest) => {
      request.setResultMeta({ "example.com/of": [of, request._meta?.["example.com/from"]] });
    };
    const { connection } = await connected(
      way,
      {
        unstable,
        prompt,
        session: {
          onArchive: says("archive"),
          onUnarchive: says("unarchive"),
          onStatus: says("status"),
          onSetTitle: (id, _title, request) => says("title")(id, request),
          // it is closed, but that is not what the client asked for
          close: (_session, request) => request?.setResultMeta({ "example.com/of": "close" }),
        },
      },
      { unstable },
    );
    const session = await connection.newSession(place);
    const { sessionId } = session;
    const options = { _meta: { "example.com/from": "c" } };
    const of = (what: string) => ({ _meta: { "example.com/of": [what, "c"] } });
    assert.deepEqual(await session.setTitle("T", options), { title: "T", ...of("title") });
    assert.deepEqual(await connection.setSessionTitle(sessionId, "U", options), {
      title: "U",
      ...of("title"),
    });
    const { state: _, ...status } = await connection.sessionStatus(sessionId, options);
    assert.deepEqual(status, { status: "open", ...of("status") });
    assert.deepEqual(await connection.archiveSession(sessionId, options), of("archive"));
    assert.deepEqual(await connection.unarchiveSession(sessionId, options), of("unarchive"));
  },
);

inEveryWay("a fork of an archived session is not archived", async (way) => {
  const features = ["archive", "fork"] as const;
  const { connection } = await connected(way, { unstable: features, prompt }, { unstable: features });
  const { sessionId } = await connection.newSession(place);
  await connection.archiveSession(sessionId);
  const fork = await connection.forkSession(sessionId, place);
  assert.deepEqual(ids(await connection.listSessions()), [fork.sessionId]);
});

const v2: Way = { client: "v2", agent: "v2" };

test("a fork before a message of the user has what came before it", async () => {
  const unstable = ["fork"] as const;
  const { connection } = await connected(v2, { unstable, prompt: (turn) => turn.say("yes") }, { unstable });
  const session = await connection.newSession(place);
  const asked = ["one", "two", "three"].map((text) => session.prompt(text));
  const [first = "", second = ""] = await Promise.all(asked.map(({ accepted }) => accepted));
  await asked.at(-1);
  const promptsOf = async (before: string) => {
    const fork = await connection.forkSession(session.sessionId, { ...place, before });
    await fork.close();
    const view = createView();
    await connection.loadSession(fork.sessionId, { ...place, onEntry: (entry) => applyEntry(view, entry) });
    return view.timeline.map((item) => (item.kind === "user_message" ? item.text : item.kind));
  };
  assert.deepEqual(await promptsOf(second), ["one", "agent_message"]);
  assert.deepEqual(await promptsOf(first), []);
  const wrong = connection.forkSession(session.sessionId, { ...place, before: "nobody" });
  assert.match((await rejects(wrong, -32602)).message, /no message of the user with the id "nobody"/);
});

test("a fork before a message is not asked of an agent that cannot do it", async () => {
  const unstable = ["fork"] as const;
  const handshakeMeta = { parts: { "session.fork": { [forkBeforeKey]: false } } };
  const { connection, wire } = await connected(v2, { unstable, handshakeMeta, prompt }, { unstable });
  const { sessionId } = await connection.newSession(place);
  await assert.rejects(
    connection.forkSession(sessionId, { ...place, before: "m1" }),
    /does not fork a session before/,
  );
  assert.ok(!asked(wire).includes("session/fork"));
});

inEveryWay("without the features nothing is offered, and nothing is sent", async (way) => {
  const { connection, wire } = await connected(way, { prompt });
  const { archive, sessionStatus, setTitle } = connection.capabilities;
  assert.deepEqual([archive, sessionStatus, setTitle], [false, false, false]);
  const session = await connection.newSession(place);
  const { sessionId } = session;
  for (const call of [
    () => connection.archiveSession(sessionId),
    () => connection.unarchiveSession(sessionId),
    () => connection.sessionStatus(sessionId),
    () => connection.setSessionTitle(sessionId, "x"),
    () => session.setTitle("x"),
    () => connection.listSessions({ archived: "only" }),
  ])
    await assert.rejects(call, { name: "TypeError", message: /does not .*unstable: \["[a-z_]+"\]/ });
  assert.deepEqual(asked(wire), ["initialize", "session/new"]);
});

for (const version of [1, 2]) {
  test(`A111 A115 an agent refuses what it has not enabled, and an unknown filter (v${version})`, async () => {
    const plain = withScriptedClient({ prompt });
    await plain.call("initialize", initialize(version));
    for (const method of ["session/archive", "session/unarchive", "session/status", "session/set_title"])
      await rejects(plain.call(method, { sessionId: "s", title: "t" }), -32601);
    const { call } = withScriptedClient({ prompt, unstable });
    await call("initialize", initialize(version));
    await rejects(call("session/list", { archived: "some" }), -32602, { path: "/archived" });
    assert.deepEqual(await call("session/list", { archived: null }), { sessions: [] });
  });
}

inEveryWay("A115 a session that is open elsewhere is not archived, but has its title set", async (way) => {
  const { connection, again } = await connected(way, { unstable, prompt }, { unstable });
  const session = await connection.newSession(place);
  const other = await again();
  await rejects(other.archiveSession(session.sessionId), -32066);
  assert.equal((await other.sessionStatus(session.sessionId)).status, "open");
  assert.equal((await other.setSessionTitle(session.sessionId, "From there")).title, "From there");
  await session.prompt("still here");
});

test("C66 a status or a title of a strange agent is taken as the schema says", async () => {
  for (const version of [1, 2] as const) {
    const can = { session: { status: {}, title: {} } };
    const { agent } = await withScriptedAgent(
      version,
      {
        initialize: () =>
          version === 2
            ? { protocolVersion: 2, info: { name: "x", version: "1" }, capabilities: can }
            : { protocolVersion: 1, agentCapabilities: { sessionCapabilities: can.session } },
        "session/status": () => ({ status: "_frozen", state: "nonsense", _meta: { a: 1 } }),
      },
      { unstable },
    );
    const { state: _, ...status } = await agent.sessionStatus("s");
    assert.deepEqual(status, { status: "saved", _meta: { a: 1 } });
  }
});
