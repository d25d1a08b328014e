// Managed sessions with scripted agents that crash, lose sessions and refuse.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { type ClientSession, type Entry, type Prompt, type SessionUpdate, textOf } from "@parley/acp";
import { managed, patience, say, scripted } from "../../test/support/managed-probe.ts";
import type { RecordedSession } from "../internal.ts";

const cwd = tmpdir();
const unable = {
  replies: [
    { method: "initialize", patch: { agentCapabilities: { loadSession: null, sessionCapabilities: null } } },
  ],
};
const onlyLoad = {
  replies: [
    { method: "initialize", patch: { agentCapabilities: { sessionCapabilities: { resume: null } } } },
  ],
};

function texts(updates: readonly SessionUpdate[]): string {
  return updates
    .map((update) => {
      if (update.sessionUpdate === "agent_message_chunk") return textOf(update.content);
      return update.sessionUpdate === "agent_message" ? textOf(update.content ?? []) : "";
    })
    .join("");
}

test(
  "a prompt is answered, and its updates and entries are told and recorded from the beginning",
  patience,
  async (t) => {
    const { entry } = scripted(t, { play: { turns: [{ steps: say("hello") }] } });
    const recorded: (RecordedSession | Entry)[] = [];
    const { agent, kinds } = await managed(t, entry, {
      recorder: { begin: (session) => recorded.push(session), entry: (_id, each) => recorded.push(each) },
    });
    const updates: SessionUpdate[] = [];
    const session = await agent.newSession({ cwd, onUpdate: (update) => updates.push(update) });
    assert.deepEqual(await session.prompt("hi").result, { stopReason: "end_turn" });
    assert.equal(texts(updates), "hello");
    assert.partialDeepStrictEqual(recorded[0], {
      agent: "scripted",
      cwd,
      how: "new",
      sessionId: session.sessionId,
    });
    const entries = recorded.slice(1) as Entry[];
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, index) => index + 1),
    );
    assert.ok(entries.some(({ kind }) => kind === "prompt"));
    assert.ok(entries.some(({ kind }) => kind === "result"));
    assert.deepEqual(kinds(), ["starting", "ready"]);
  },
);

test("prompts wait for one another, and each can be withdrawn by itself", patience, async (t) => {
  const { entry } = scripted(t, {
    play: { turns: [{ when: "one", steps: [{ wait: "cancelled" }] }], otherwise: say("said: {{prompt}}") },
  });
  const { agent } = await managed(t, entry);
  const session = await agent.newSession({ cwd });
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const [one, two, three] = ["one", "two", "three"].map((text) => session.prompt(text));
  assert.equal(session.waiting.length >= 2, true);
  two!.cancel();
  assert.deepEqual(await two!.result, { stopReason: "cancelled" });
  one!.cancel();
  assert.equal((await one!.result).stopReason, "cancelled");
  assert.equal((await three!.result).stopReason, "end_turn");
  assert.equal(texts(updates), "said: three");
});

for (const [how, kind] of [
  ["resumed", { editions: ["v2"] }],
  ["loaded", { editions: ["v1"], wire: onlyLoad }],
] as const) {
  test(
    `an agent that dies before it has said anything is started again, the session is ${how}, the prompt sent again`,
    patience,
    async (t) => {
      const history = [{ sessionId: "old", cwd, entries: [] }];
      const { entry, starts } = scripted(
        t,
        {
          stderr: "out of memory\n",
          play: { ...kind, sessions: history, otherwise: [{ crash: { exitCode: 7 } }] },
        },
        { play: { ...kind, sessions: history, otherwise: say("here again") } },
      );
      const { agent, events } = await managed(t, entry);
      const session = await agent.loadSession("old", { cwd });
      const updates: SessionUpdate[] = [];
      session.onUpdate((update) => updates.push(update));
      assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
      assert.equal(texts(updates), "here again");
      assert.equal(starts().length, 2);
      assert.equal(session.sessionId, "old");
      const crashed = events.find((event) => event.kind === "crashed");
      assert.match(crashed?.message ?? "", /exited with code 7/);
      assert.match(crashed?.stderr ?? "", /out of memory/);
      assert.partialDeepStrictEqual(
        events.find((event) => event.kind === "continued"),
        { how, sessionId: "old" },
      );
    },
  );
}

test(
  "an agent that can neither load nor resume gets a new session after its death, and the user is told",
  patience,
  async (t) => {
    const { entry } = scripted(
      t,
      { play: { editions: ["v1"], wire: unable, otherwise: [{ crash: {} }] } },
      { play: { editions: ["v1"], wire: unable, otherwise: say("new here") } },
    );
    const began: RecordedSession[] = [];
    const { agent, events } = await managed(t, entry, {
      recorder: { begin: (each) => began.push(each), entry: () => undefined },
    });
    const session = await agent.newSession({ cwd });
    const before = session.sessionId;
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.notEqual(session.sessionId, before);
    assert.partialDeepStrictEqual(
      events.find((event) => event.kind === "continued"),
      { how: "new" },
    );
    assert.equal(began[1]?.replaces, before);
  },
);

test(
  "a prompt that was worked on when the agent died is not sent again, unless the user says so",
  patience,
  async (t) => {
    const dies = [{ tool: { title: "rm", kind: "execute" as const } }, { crash: { exitCode: 1 } }];
    const sessions = [{ sessionId: "old", cwd }];
    const { entry, starts } = scripted(
      t,
      { play: { sessions, otherwise: dies } },
      { play: { sessions, turns: [{ when: "again", steps: say("fine") }], otherwise: dies } },
      { play: { sessions, otherwise: say("done at last") } },
    );
    const asked: string[] = [];
    const { agent } = await managed(t, entry, {
      asker: {
        retry: async (problem) => {
          asked.push(problem.kind);
          return asked.length > 1;
        },
      },
    });
    const session = await agent.loadSession("old", { cwd });
    await assert.rejects(session.prompt("hi").result, { name: "ConnectionError", kind: "exited" });
    assert.equal(starts().length, 1);
    // the session goes on with the next prompt
    assert.equal((await session.prompt("again").result).stopReason, "end_turn");
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.deepEqual(asked, ["crash", "crash"]);
    assert.equal(starts().length, 3);
  },
);

test("an agent that dies again and again is given up with what it wrote", patience, async (t) => {
  const { entry, starts } = scripted(t, {
    stderr: "no disk left\n",
    play: { sessions: [{ sessionId: "old", cwd }], otherwise: [{ crash: { exitCode: 3 } }] },
  });
  const { agent } = await managed(t, entry, { maxRestarts: 2, asker: { retry: async () => true } });
  const session = await agent.loadSession("old", { cwd });
  await assert.rejects(session.prompt("hi").result, {
    name: "LaunchError",
    kind: "crash_loop",
    message: "scripted crashed 3 times in five minutes",
    stderr: /no disk left/,
    hint: "what it wrote to stderr says why",
  });
  assert.equal(starts().length, 3);
});

test("an agent that dies again and again in silence is not said to have told why", patience, async (t) => {
  const { entry } = scripted(t, {
    play: { sessions: [{ sessionId: "old", cwd }], otherwise: [{ crash: { exitCode: 3 } }] },
  });
  const { agent } = await managed(t, entry, { maxRestarts: 0 });
  const session = await agent.loadSession("old", { cwd });
  await assert.rejects(session.prompt("hi").result);
  await assert.rejects(session.prompt("hi").result, {
    kind: "crash_loop",
    hint: "it wrote nothing to stderr",
  });
});

test(
  "a history that is replayed after a restart is not told again, also when the agent replays late",
  patience,
  async (t) => {
    const entries = [
      { kind: "prompt" as const, messageId: "m1", prompt: [{ type: "text" as const, text: "old question" }] },
      {
        kind: "update" as const,
        update: {
          sessionUpdate: "agent_message_chunk" as const,
          messageId: "m2",
          content: { type: "text" as const, text: "old answer" },
        },
      },
    ];
    const sessions = [{ sessionId: "old", cwd, entries }];
    const late = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "late replay" } };
    const message = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "old", update: late } };
    const { entry } = scripted(
      t,
      { play: { editions: ["v1"], sessions, wire: onlyLoad, otherwise: [{ crash: {} }] } },
      {
        play: {
          editions: ["v1"],
          sessions,
          wire: { replies: [...onlyLoad.replies, { method: "session/load", after: [message] }] },
          otherwise: say("new answer"),
        },
      },
    );
    const recorded: Entry[] = [];
    const { agent } = await managed(t, entry, {
      recorder: { begin: () => undefined, entry: (_id, each) => recorded.push(each) },
    });
    const updates: SessionUpdate[] = [];
    const session = await agent.loadSession("old", { cwd, onUpdate: (update) => updates.push(update) });
    assert.equal(texts(updates), "old answer");
    assert.equal(texts(recorded.flatMap((each) => (each.kind === "update" ? [each.update] : []))), "");
    updates.length = 0;
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.equal(texts(updates), "new answer");
  },
);

test(
  "an agent that ignores a cancel is ended, and the session goes on in another process (F4)",
  patience,
  async (t) => {
    const sessions = [{ sessionId: "old", cwd }];
    const { entry, starts } = scripted(
      t,
      { play: { sessions, otherwise: [{ say: "working" }, { hang: "turn" }] } },
      { play: { sessions, otherwise: say("here again") } },
    );
    const { agent, events } = await managed(t, entry, { cancelTimeoutMs: 50 });
    const session = await agent.loadSession("old", { cwd });
    const began = Promise.withResolvers<void>();
    session.onUpdate(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && began.resolve());
    const stuck = session.prompt("one");
    const next = session.prompt("two");
    await began.promise;
    stuck.cancel();
    assert.deepEqual(await stuck.result, { stopReason: "cancelled" });
    assert.equal((await next.result).stopReason, "end_turn");
    assert.equal(starts().length, 2);
    assert.ok(events.some((event) => event.kind === "warning" && /did not end its work/.test(event.message)));
  },
);

test(
  "a cancel before the first word, a second one and one when nothing runs leave a session that works (interop bug 4)",
  patience,
  async (t) => {
    const turns = [{ when: "long", steps: [{ wait: "cancelled" as const }] }];
    const { entry, starts } = scripted(t, { play: { turns, otherwise: say("fine") } });
    const { agent, kinds } = await managed(t, entry);
    const session = await agent.newSession({ cwd });
    session.cancel();
    const first = session.prompt("long");
    first.cancel();
    first.cancel();
    const second = session.prompt("long");
    const third = session.prompt("short");
    second.cancel();
    session.onUpdate(({ sessionUpdate }) => sessionUpdate === "user_message" && second.cancel());
    assert.equal((await first.result).stopReason, "cancelled");
    assert.equal((await second.result).stopReason, "cancelled");
    assert.equal((await third.result).stopReason, "end_turn");
    session.cancel();
    assert.equal((await session.prompt("short").result).stopReason, "end_turn");
    assert.equal(starts().length, 1);
    assert.ok(!kinds().includes("warning"));
  },
);

test(
  "a cancel answers every question that is open, and those that come afterwards (interop bug 5)",
  patience,
  async (t) => {
    const ask = (id: string) => ({
      method: "session/request_permission",
      params: {
        sessionId: "{{session}}",
        toolCall: { toolCallId: id, title: id },
        options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
      },
    });
    const raw = (id: string) => ({ raw: { jsonrpc: "2.0", id, ...ask(id) } });
    const steps = [raw("one"), raw("two"), { wait: "cancelled" }, raw("late")];
    const play = { editions: ["v1"], otherwise: steps };
    const { entry } = scripted(t, { play: play as never });
    const answers: string[] = [];
    const open: AbortSignal[] = [];
    const { agent } = await managed(t, entry, {
      connection: {
        tap: (direction, text) =>
          direction === "out" && /"id":"(?:one|two|late)"/.test(text) && answers.push(text),
      },
      requestPermission: (_, { signal }) => {
        open.push(signal);
        if (open.length === 2) prompt.cancel();
        return new Promise(() => undefined);
      },
    });
    const session = await agent.newSession({ cwd });
    const prompt = session.prompt("go");
    assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
    assert.equal(open.length, 2);
    assert.ok(open.every(({ aborted }) => aborted));
    assert.deepEqual(
      answers.map((text) => JSON.parse(text).result),
      [1, 2, 3].map(() => ({ outcome: { outcome: "cancelled" } })),
    );
  },
);

test(
  "several sessions of one agent work at the same time, and all are taken up again after its death (Q10)",
  patience,
  async (t) => {
    const sessions = ["a", "b"].map((sessionId) => ({ sessionId, cwd }));
    const { entry, starts } = scripted(
      t,
      {
        play: {
          sessions,
          turns: [{ when: "die", steps: [{ crash: {} }] }],
          otherwise: say("first: {{session}}"),
        },
      },
      { play: { sessions, otherwise: say("second: {{session}}") } },
    );
    const { agent } = await managed(t, entry);
    const said: string[] = [];
    const open = (id: string) =>
      agent.loadSession(id, { cwd, onUpdate: (update) => said.push(texts([update])) });
    const [a, b] = await Promise.all([open("a"), open("b")]);
    await Promise.all([a!.prompt("hi").result, b!.prompt("hi").result]);
    assert.deepEqual(said.filter(Boolean).sort(), ["first: a", "first: b"]);
    said.length = 0;
    await a!.prompt("die").result;
    await b!.prompt("hi").result;
    assert.deepEqual(said.filter(Boolean), ["second: a", "second: b"]);
    assert.equal(starts().length, 2);
    assert.equal(agent.sessions.length, 2);
    await a!.close();
    assert.equal(agent.sessions.length, 1);
    assert.throws(() => a!.prompt("hi"), { kind: "closed" });
  },
);

test("an agent that says nothing for long is told of, once for each silence (F4)", patience, async (t) => {
  const { entry } = scripted(t, { play: { otherwise: [{ say: "working" }, { wait: "cancelled" }] } });
  const quiet = Promise.withResolvers<void>();
  const { agent } = await managed(t, entry, {
    quietMs: 20,
    onEvent: (event) => event.kind === "quiet" && event.ms === 20 && quiet.resolve(),
  });
  const session = await agent.newSession({ cwd });
  const prompt = session.prompt("hi");
  await quiet.promise;
  prompt.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
});

test("a managed session and its prompts are used like any other session", patience, async (t) => {
  const sessions = [{ sessionId: "old", cwd, entries: [] }];
  const { entry } = scripted(
    t,
    { play: { sessions, otherwise: [{ crash: {} }] } },
    { play: { sessions, otherwise: say("again") } },
  );
  const { agent } = await managed(t, entry);
  const session: ClientSession = await agent.loadSession("old", { cwd });
  session.data = { mine: true };
  assert.deepEqual([session.roots, session.data], [[cwd], { mine: true }]);
  const prompt: Prompt = session.prompt("hi");
  const updates: SessionUpdate[] = [];
  for await (const update of prompt) updates.push(update);
  assert.equal(texts(updates), "again", "the updates of every attempt");
  assert.equal(typeof (await prompt.accepted), "string");
  assert.equal((await prompt.result).stopReason, "end_turn");
  // what came before the first listener is kept for it
  const seen: SessionUpdate[] = [];
  session.onUpdate((update) => seen.push(update));
  assert.equal(texts(seen), "again");
  await assert.rejects(session.cancelToolCall("none"), TypeError);
  await assert.rejects(session.cancelTerminal("none"), TypeError);
  await session.close();
  const closed = { name: "ConnectionError", kind: "closed", message: /has been closed/ };
  assert.throws(() => session.prompt("late"), closed);
  await assert.rejects(session.setConfigOption("model", "large"), closed);
  await assert.rejects(session.setMode("plan"), closed);
  await assert.rejects(session.cancelToolCall("none"), closed);
  await assert.rejects(session.cancelTerminal("none"), closed);
});

test("a cancel by a listener that sees the message being sent reaches the agent", patience, async (t) => {
  const { entry } = scripted(t, { play: { editions: ["v1"], turns: [{ steps: [{ wait: "cancelled" }] }] } });
  const { agent } = await managed(t, entry);
  let prompt: Prompt | undefined;
  const onUpdate = ({ sessionUpdate }: SessionUpdate) => {
    if (sessionUpdate === "user_message") prompt?.cancel();
  };
  const session = await agent.newSession({ cwd, onUpdate });
  prompt = session.prompt("wait");
  assert.equal((await prompt.result).stopReason, "cancelled");
});

for (const edition of ["v1", "v2"] as const)
  test(
    `a managed agent has the unstable methods and steering, also after a crash (${edition})`,
    patience,
    async (t) => {
      const features = ["archive", "session_title", "session_status", "auth_status"] as const;
      const play = {
        unstable: features,
        concurrentPrompts: "inbox" as const,
        authMethods: [{ type: "agent" as const, methodId: "key", name: "Key" }],
        sessions: [{ sessionId: "old", cwd, entries: [] }],
        turns: [
          {
            when: "work",
            steps: [...say("working. "), { take: true as const, as: "told" }, ...say("{{told}}")],
          },
        ],
      };
      const { entry } = scripted(t, { play: { ...play, turns: [{ steps: [{ crash: {} }] }] } }, { play });
      const { agent } = await managed(t, entry, { unstable: features, editions: [edition] });
      const states: string[] = [];
      agent.onAuthStatus(({ state }) => states.push(state));
      const session = await agent.loadSession("old", { cwd });
      const updates: SessionUpdate[] = [];
      const begun = Promise.withResolvers<void>();
      session.onUpdate((update) => {
        updates.push(update);
        if (update.sessionUpdate === "agent_message_chunk") begun.resolve();
      });
      const prompt = session.prompt("work");
      await begun.promise;
      const steered = session.steer("told so");
      assert.equal((await prompt).stopReason, "end_turn");
      assert.equal((await steered).joined, true);
      assert.equal(texts(updates), "working. told so");
      assert.equal((await agent.authStatus()).state, "unknown");
      await agent.login("key");
      assert.equal((await session.setTitle("Mine")).title, "Mine");
      assert.deepEqual(states, [], "the login has not changed");
      assert.equal((await agent.sessionStatus("old")).status, "open");
      await agent.archiveSession("old");
      assert.throws(() => session.prompt("more"), { kind: "closed" });
      assert.deepEqual((await agent.listSessions()).sessions, []);
      const [listed] = (await agent.listSessions({ archived: "only" })).sessions;
      assert.deepEqual([listed?.title, listed?.archived], ["Mine", true]);
      await agent.unarchiveSession("old");
      assert.equal((await agent.setSessionTitle("old", "Again")).title, "Again");
      await assert.rejects(agent.listProviders(), {
        name: "TypeError",
        message: /unstable: \["providers"\]/,
      });
      await assert.rejects(agent.disableProvider("x"), TypeError);
      await assert.rejects(
        agent.setProvider({ providerId: "x", apiType: "openai", baseUrl: "https://x.example" }),
        TypeError,
      );
    },
  );

test("a message for an agent that takes none while it works is refused at once", patience, async (t) => {
  const { entry } = scripted(t, { play: { turns: [{ steps: [{ wait: "cancelled" }] }] } });
  const { agent } = await managed(t, entry, { editions: ["v1"] });
  const session = await agent.newSession({ cwd });
  const prompt = session.prompt("work");
  assert.throws(() => session.steer("x"), { name: "TypeError", message: /takes no messages while it works/ });
  prompt.cancel();
  assert.equal((await prompt).stopReason, "cancelled");
});
