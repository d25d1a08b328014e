import assert from "node:assert/strict";
import { bytePipe } from "../../../test/support/byte-pipe.ts";
import { inEveryVersion, openSession } from "../../../test/support/peer-probe.ts";
import { agent, client, type Entry, type Files, type SessionUpdate } from "../../index.ts";
import { memoryStore } from "../../store.ts";
import { recordOf } from "../../testing/contracts/store-samples.ts";
import { byteTransport, memoryPair } from "../../transport.ts";
import { applyEntry, createView } from "../../view.ts";

inEveryVersion(
  "a listener that comes with a load sees the whole history, however long (A24, G6)",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    agent({
      name: "a",
      version: "1",
      async prompt(turn) {
        for (let i = 0; i < 3_000; i++) {
          const entry = { content: `step ${i}`, priority: "low", status: "pending" } as const;
          await turn.plan([entry]);
        }
      },
    }).connect(agentEnd);
    const connected = await client({ name: "c", version: "1", editions: versions }).connect(clientEnd);
    const first = await connected.newSession({ cwd: "/w" });
    await first.prompt("plan").result;
    await first.close();
    let plans = 0;
    await connected.loadSession(first.sessionId, {
      cwd: "/w",
      onUpdate({ sessionUpdate }) {
        if (sessionUpdate === "plan_update") plans++;
      },
    });
    assert.equal(plans, 3_000);
    await connected.close();
  },
);

inEveryVersion(
  "what an agent changes after it has said it stays in the history as it was said",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    agent({
      name: "a",
      version: "1",
      prompt(turn) {
        const entries = [{ content: "read", priority: "low", status: "pending" as string } as const];
        void turn.plan(entries as never);
        // one list, changed and said again: nothing is stored before this function returns
        (entries[0] as { status: string }).status = "completed";
        void turn.plan(entries as never);
      },
    }).connect(agentEnd);
    const connected = await client({ name: "c", version: "1", editions: versions }).connect(clientEnd);
    const live: unknown[] = [];
    const replayed: unknown[] = [];
    const noteIn = (list: unknown[]) => (update: SessionUpdate) => {
      if (update.sessionUpdate === "plan_update") list.push(update.plan);
    };
    const first = await connected.newSession({ cwd: "/w" });
    first.onUpdate(noteIn(live));
    await first.prompt("plan").result;
    await first.close();
    await connected.loadSession(first.sessionId, { cwd: "/w", onUpdate: noteIn(replayed) });
    assert.equal(live.length, 2);
    assert.notDeepEqual(live[0], live[1]);
    assert.deepEqual(replayed, live);
    await connected.close();
  },
);

inEveryVersion(
  "files that were made for one session know its roots and are closed with it",
  async ({ editions: versions, version }) => {
    const [agentEnd, clientEnd] = memoryPair();
    agent({
      name: "a",
      version: "1",
      prompt: async (turn) => void (await turn.client.files?.readText("/w/x")),
    }).connect(agentEnd);
    const events: unknown[] = [];
    const made: Files = {
      canRead: true,
      canWrite: true,
      readText: async () => "text",
      writeText: async () => undefined,
      close: async () => void events.push("closed"),
    };
    const connected = await client({
      name: "c",
      version: "1",
      editions: versions,
      files(session) {
        events.push(session.roots);
        return made;
      },
    }).connect(clientEnd);
    const session = await connected.newSession({ cwd: "/w", additionalDirectories: ["/extra"] });
    await session.prompt("read").result;
    await session.close();
    await connected.close();
    // version 2 has no files of the client's
    assert.deepEqual(events, version === 1 ? [["/w", "/extra"], "closed"] : []);
  },
);

inEveryVersion(
  "a client that still has a session shows each text once when it loads the session again (A31)",
  async ({ editions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    agent({
      name: "a",
      version: "1",
      async prompt(turn) {
        await turn.say("one ");
        await turn.tool({ title: "T", toolCallId: "t" }, async (tool) => {
          await tool.add("first");
          await tool.add("second");
        });
        await turn.say("two");
      },
    }).connect(agentEnd);
    const connected = await client({ name: "c", version: "1", editions }).connect(clientEnd);
    const view = createView();
    const onEntry = (entry: Entry) => applyEntry(view, entry);
    const session = await connected.newSession({ cwd: "/w", onEntry });
    await session.prompt("hello").result;
    const shown = () =>
      view.timeline.map((item) => [item.kind, "content" in item ? JSON.stringify(item.content) : ""]);
    const before = shown();
    await connected.loadSession(session.sessionId, { cwd: "/w", onEntry });
    assert.deepEqual(
      shown().filter(([kind]) => kind !== "user_message"),
      before.filter(([kind]) => kind !== "user_message"),
    );
    await connected.close();
  },
);

inEveryVersion("a replay sends each message once, as a whole (A31)", async ({ editions, version }) => {
  const {
    agent: connected,
    session,
    wire,
  } = await openSession(
    { editions, version },
    {
      async prompt(turn) {
        await turn.say("one ");
        // stored in an entry of its own
        for await (const _ of turn.session.history());
        await turn.say("two");
      },
    },
  );
  await session.prompt("hello").result;
  await session.close();
  wire.length = 0;
  await connected.loadSession(session.sessionId, { cwd: "/project" });
  const said = wire.flatMap(({ message }) => {
    const { update } = (message.params ?? {}) as { update?: { sessionUpdate: string; content?: unknown } };
    return update?.sessionUpdate.startsWith("agent_message") ? [update] : [];
  });
  assert.equal(said.length, 1);
  assert.equal(said[0]?.sessionUpdate, version === 1 ? "agent_message_chunk" : "agent_message");
  assert.match(JSON.stringify(said[0]?.content), /one two/);
  await connected.close();
});

inEveryVersion(
  "an entry that another program has written over several lines is one line on the wire (T2)",
  async ({ editions }) => {
    const store = memoryStore();
    const seen: SessionUpdate[] = [];
    const usage = { sessionUpdate: "usage_update", used: 1, size: 2 };
    const claim = await store.create(recordOf("s"));
    await store.append(claim, 0, [
      {
        format: 1,
        seq: 1,
        time: 1,
        kind: "update",
        tag: "usage_update",
        text: JSON.stringify(usage, undefined, 2),
      },
    ]);
    await store.release(claim);
    const [near, far] = bytePipe();
    agent({ name: "a", version: "1", session: { store }, prompt: () => undefined }).connect(
      byteTransport(near, { framing: "ndjson" }),
    );
    const transport = byteTransport(far, { framing: "ndjson" });
    const connected = await client({ name: "c", version: "1", editions }).connect(transport);
    await connected.loadSession("s", { cwd: "/project", onUpdate: (update) => void seen.push(update) });
    assert.deepEqual(
      seen.filter(({ sessionUpdate }) => sessionUpdate === "usage_update"),
      [usage],
    );
    await connected.close();
  },
);
