// An agent that speaks scoped does not say which session its calls for files and terminals are for.

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { scoped } from "@parley/dialects";
import { managed, patience, runs, say, scripted } from "../../test/support/managed-probe.ts";
import { openHistory } from "../history.ts";
import { connectAgent } from "../index.ts";

const cwd = tmpdir();
// an agent of scoped is not told the directory of a session that is loaded
const stored = "/";
const sessions = ["one", "two"].map((sessionId) => ({ sessionId, cwd: stored }));
const scopedOnly = { editions: [scoped()] } as const satisfies Partial<AgentScenario>;

/** A scripted agent that speaks scoped, and is known to. */
function scopedAgent(t: TestContext, play: Partial<AgentScenario>) {
  const { entry, starts } = scripted(t, { play: { ...scopedOnly, sessions, ...play } });
  const pids = () => starts().map(({ pid }) => pid);
  return { entry: { ...entry, edition: "scoped" as const }, starts, pids };
}

function emptyFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-processes-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test(
  "sessions that work at once with an agent of scoped read the files of their own workspaces",
  patience,
  async (t) => {
    const { entry, pids } = scopedAgent(t, {
      otherwise: [{ read: "{{cwd}}/name.txt", as: "text" }, { say: "{{text}}" }],
    });
    const both = Promise.withResolvers<void>();
    let reads = 0;
    const { agent } = await managed(t, entry, {
      // both turns run when the first file is read
      files: (session) => ({
        async readText() {
          reads += 1;
          if (reads === 2) both.resolve();
          await both.promise;
          return `the file of ${session.cwd}`;
        },
      }),
    });
    assert.equal(agent.edition, "scoped");
    const folders = [emptyFolder(t), emptyFolder(t)];
    const said: string[][] = [[], []];
    const opened = [];
    for (const [at, folder] of folders.entries()) {
      opened.push(
        await agent.newSession({
          cwd: folder,
          onUpdate: (update) => {
            if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
              said[at]?.push(String(update.content.text));
          },
        }),
      );
    }
    const ends = await Promise.all(opened.map((session) => session.prompt("read").result));
    assert.deepEqual(
      ends.map(({ stopReason }) => stopReason),
      ["end_turn", "end_turn"],
    );
    assert.deepEqual(
      said.map((texts) => texts.join("")),
      folders.map((folder) => `the file of ${folder}`),
    );
    assert.equal(pids().length, 2);
    assert.equal(agent.sessions.length, 2);
  },
);

test("a process of one session ends with it, and all end with the agent", patience, async (t) => {
  const { entry, pids } = scopedAgent(t, { otherwise: say("done") });
  const { agent } = await managed(t, entry);
  const first = await agent.newSession({ cwd });
  const second = await agent.newSession({ cwd });
  const third = await agent.newSession({ cwd });
  assert.deepEqual(pids().map(runs), [true, true, true]);
  await second.close();
  assert.deepEqual(pids().map(runs), [true, false, true]);
  assert.equal((await third.prompt("go on").result).stopReason, "end_turn");
  assert.equal((await first.prompt("go on").result).stopReason, "end_turn");
  await agent.close();
  assert.deepEqual(pids().map(runs), [false, false, false]);
});

test(
  "sessions one after the other share a process, and so do sessions at once of version 1",
  patience,
  async (t) => {
    const { entry, pids } = scopedAgent(t, { otherwise: say("done") });
    const { agent } = await managed(t, entry);
    for (let round = 0; round < 3; round += 1) {
      const session = await agent.newSession({ cwd });
      assert.equal((await session.prompt("work").result).stopReason, "end_turn");
      await session.close();
    }
    assert.equal(pids().length, 1);
    const plain = scripted(t, { play: { editions: ["v1"] } });
    const other = await managed(t, plain.entry);
    await other.agent.newSession({ cwd });
    await other.agent.newSession({ cwd });
    assert.equal(plain.starts().length, 1);
  },
);

test(
  "a crash in the process of one session is recovered there, and the others go on",
  patience,
  async (t) => {
    const { entry, pids } = scopedAgent(t, { otherwise: say("alive") });
    const { agent, kinds, crashed } = await managed(t, entry);
    const one = await agent.loadSession("one", { cwd });
    const two = await agent.loadSession("two", { cwd });
    const [first, second] = pids();
    const crash = crashed();
    process.kill(second ?? assert.fail(), "SIGKILL");
    await crash;
    assert.equal((await two.prompt("still there?").result).stopReason, "end_turn");
    assert.equal((await one.prompt("and you?").result).stopReason, "end_turn");
    assert.equal(agent.pid, first);
    assert.equal(pids().length, 3);
    assert.ok(kinds().includes("continued"));
  },
);

test("a session that is open in one process is not opened in another", patience, async (t) => {
  const { entry, pids } = scopedAgent(t, { otherwise: say("alive") });
  const { agent } = await managed(t, entry);
  const one = await agent.loadSession("one", { cwd });
  await assert.rejects(agent.loadSession("one", { cwd }), {
    kind: "protocol",
    message: /has a session "one" in another process already; close it before/,
  });
  assert.equal((await one.prompt("work").result).stopReason, "end_turn");
  assert.equal(pids().length, 1);
});

test("permissions and the history of sessions at once belong to their own sessions", patience, async (t) => {
  const { entry } = scopedAgent(t, {
    otherwise: [
      {
        tool: { title: "rm", kind: "execute" },
        steps: [{ ask: true, on: { allowed: say("yes"), refused: say("no") } }],
      },
    ],
  });
  const history = openHistory({ path: join(emptyFolder(t), "history.db") });
  t.after(() => history.close());
  const asked: (string | undefined)[] = [];
  const agent = await connectAgent(entry, {
    name: "test",
    version: "1.0.0",
    history,
    requestPermission(request, { session }) {
      asked.push(session?.sessionId);
      const wanted = session?.sessionId === "one" ? "allow_once" : "reject_once";
      return request.options.find(({ kind }) => kind === wanted)?.optionId ?? "cancelled";
    },
  });
  t.after(() => agent.close());
  const one = await agent.loadSession("one", { cwd });
  const two = await agent.loadSession("two", { cwd });
  await Promise.all([one.prompt("remove it").result, two.prompt("remove it").result]);
  assert.deepEqual(asked.sort(), ["one", "two"]);
  await agent.close();
  const kept = await history.list();
  assert.deepEqual(kept.map(({ agentSessionId }) => agentSessionId).sort(), ["one", "two"]);
  for (const { id, agentSessionId } of kept) {
    const texts = [];
    for await (const entryOf of history.entries(id))
      if (entryOf.kind === "update" && entryOf.update.sessionUpdate === "agent_message_chunk")
        texts.push(JSON.stringify(entryOf.update.content));
    assert.match(texts.join(), agentSessionId === "one" ? /"yes"/ : /"no"/);
  }
});

test(
  "a login of an agent of scoped counts for the processes of further sessions too",
  patience,
  async (t) => {
    const { entry, pids } = scopedAgent(t, {
      loginRequired: true,
      authMethods: [{ type: "agent", methodId: "api_key", name: "Key" }],
      otherwise: say("logged in"),
    });
    const { agent } = await managed(t, entry);
    await agent.login("api_key");
    const opened = [await agent.newSession({ cwd }), await agent.newSession({ cwd })];
    for (const session of opened) assert.equal((await session.prompt("work").result).stopReason, "end_turn");
    assert.equal(pids().length, 2);
  },
);
