// What a peer may do, and must not cost it its answers or its connection: odd batches, and messages of any size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { barePeer } from "../../../test/support/connection-probe.ts";
import {
  conversation,
  inEveryVersion,
  initialize,
  openSession,
  place,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import {
  agent,
  type Files,
  type RequestError,
  type SessionUpdate,
  type Terminals,
  type Turn,
  textOf,
} from "../../index.ts";
import { memoryStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

const versions = [1, 2] as const;
const prompt = () => undefined;
const deadline = { timeout: 20_000 };

type Answer = { readonly id: unknown; readonly result?: unknown; readonly error?: { readonly code: number } };

/** An agent, and a client whose messages the test writes. */
function served(definition: Partial<Parameters<typeof agent>[0]> = {}) {
  const [near, far] = memoryPair();
  agent({ name: "a", version: "1", prompt, ...definition }).connect(far);
  const peer = barePeer(near);
  return {
    peer,
    /** Sends one message, and gives the next one that is an answer or a batch of answers. */
    async ask(message: unknown): Promise<Answer | Answer[]> {
      const before = peer.received.length;
      peer.send(message);
      for (let at = before; ; at++) {
        await peer.until(at + 1);
        const got = peer.received[at];
        if (Array.isArray(got) || !("method" in (got as object))) return got as Answer | Answer[];
      }
    },
  };
}

const call = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const byId = (answers: Answer | Answer[]) =>
  new Map((answers as Answer[]).map(({ id, error }) => [id, error?.code ?? "result"]));

for (const version of versions) {
  const first = call(1, "initialize", initialize(version));
  const open = version === 1 ? { ...place, mcpServers: [] } : place;

  test(
    `a first message that is a batch with initialize and more is answered whole (version ${version}, B5)`,
    deadline,
    async () => {
      const { ask, peer } = served();
      const answers = await ask([
        first,
        call(2, "session/new", open),
        call(3, "session/list"),
        { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "none" } },
        call(4, "_none"),
        call(5, "initialize", initialize(version)),
      ]);
      assert.deepEqual(
        byId(answers),
        new Map<unknown, unknown>([
          [5, -32600],
          [1, "result"],
          [2, "result"],
          [3, "result"],
          [4, -32601],
        ]),
      );
      const later = (await ask(call(6, "session/list"))) as Answer;
      assert.ok(later.result);
      await peer.transport.close();
    },
  );

  test(
    `a batch whose initialize is wrong is answered whole, and a right one works after it (version ${version})`,
    deadline,
    async () => {
      const { ask, peer } = served();
      const wrong = call(1, "initialize", { protocolVersion: "one" });
      const answers = byId(await ask([wrong, call(2, "session/list")]));
      assert.equal(answers.get(1), -32602);
      assert.equal(answers.get(2), -32600);
      assert.ok(((await ask(first)) as Answer).result);
      await peer.transport.close();
    },
  );

  test(
    `a batch that takes up a session and prompts in it is answered whole (version ${version})`,
    deadline,
    async () => {
      const store = memoryStore();
      const before = served({ session: { store } });
      await before.ask(first);
      const { result } = (await before.ask(call(2, "session/new", open))) as Answer;
      const { sessionId } = result as { sessionId: string };
      await before.ask(call(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] }));
      await before.ask(call(4, "session/close", { sessionId }));
      await before.peer.transport.close();

      const { ask, peer } = served({ session: { store } });
      await ask(first);
      const load =
        version === 1
          ? call(2, "session/load", { sessionId, ...open })
          : call(2, "session/resume", { sessionId, ...open, replayFrom: { type: "start" } });
      const again = { ...load, id: 3 };
      const prompted = call(4, "session/prompt", { sessionId, prompt: [{ type: "text", text: "more" }] });
      await ask(call(9, "session/list"));
      const answers = byId(await ask([load, again, prompted]));
      assert.deepEqual([answers.get(2), answers.get(3)], ["result", "result"]);
      assert.ok(answers.has(4));
      // the session is open now, so that its prompt runs
      assert.deepEqual(
        byId(
          await ask([
            { ...load, id: 5 },
            { ...prompted, id: 6 },
          ]),
        ),
        new Map([
          [5, "result"],
          [6, "result"],
        ]),
      );
      await peer.transport.close();
    },
  );

  const nested = `${"[".repeat(600)}${"]".repeat(600)}`;
  const longName = "m".repeat(70_000);
  const limited: Readonly<Record<string, string>> = {
    "a long method and deep params": `{"jsonrpc":"2.0","id":"x","method":"${longName}","params":${nested}}`,
    "a long method, its id behind it, deep params": `{"jsonrpc":"2.0","method":"${longName}","id":"x","params":${nested}}`,
    "deep params, a long method, its id last": `{"jsonrpc":"2.0","params":${nested},"method":"${longName}","id":"x"}`,
    "a long key, a long method, deep params twice": `{"${longName}":${nested},"method":"${longName}","jsonrpc":"2.0","id":"x","params":${nested}}`,
    "a long method and a large array": `{"jsonrpc":"2.0","id":"x","method":"${longName}","params":[${"1,".repeat(100_001)}1]}`,
    "a large array in params": `{"jsonrpc":"2.0","id":"x","method":"session/new","params":{"cwd":"/w","mcpServers":[${"1,".repeat(100_001)}1]}}`,
  };
  for (const [what, text] of Object.entries(limited)) {
    test(
      `a request beyond several limits gets one answer with its id: ${what} (version ${version}, N024)`,
      deadline,
      async () => {
        const { ask, peer } = served();
        await ask(first);
        peer.sendText(text);
        peer.send(call("after", "session/list"));
        await peer.until(3);
        const ids = peer.received.map((each) => (each as Answer).id);
        assert.deepEqual(ids, [1, "x", "after"]);
        await peer.transport.close();
      },
    );
  }
}

test("a long id in a request that is too deep is not taken for a shorter one (N048)", deadline, async () => {
  const { ask, peer } = served();
  await ask(call(1, "initialize", initialize(1)));
  const escaped = "\\u0041".repeat(20_000);
  peer.sendText(
    `{"jsonrpc":"2.0","id":"${escaped}","method":"m","params":${"[".repeat(600)}${"]".repeat(600)}}`,
  );
  peer.send(call("after", "session/list"));
  await peer.until(3);
  assert.deepEqual(
    peer.received.map((each) => (each as Answer).id),
    [1, null, "after"],
  );
  await peer.transport.close();
});

// ---- one message is never larger than what the other side reads

const mebi = 1024 * 1024;

test(
  "output of a terminal that grows in JSON is cut to what one message can hold, and says so (C31)",
  deadline,
  async () => {
    const output = `${"\0".repeat(12 * mebi)}end`;
    const terminals: Terminals = {
      create: async () => ({
        terminalId: "t",
        output: async () => ({ output, truncated: false }),
        waitForExit: async () => ({ exitCode: 0 }),
        kill: async () => undefined,
        release: async () => undefined,
      }),
    };
    const { agent: connected, peer } = await withScriptedAgent(1, {}, { terminals });
    const { sessionId } = await connected.newSession(place);
    await peer.connection.request("terminal/create", { sessionId, command: "x" });
    const got = (await peer.connection.request("terminal/output", { sessionId, terminalId: "t" })) as {
      output: string;
      truncated: boolean;
    };
    assert.equal(got.truncated, true);
    assert.equal(got.output.length, Math.floor((24 * mebi - 3) / 6) + 3);
    assert.ok(got.output.endsWith("\0end"));
    await peer.connection.request("terminal/release", { sessionId, terminalId: "t" });
    await connected.close();
  },
);

test(
  "a file whose text grows in JSON is refused with what to do, and smaller parts of it can be read (C30)",
  deadline,
  async () => {
    const readText: Files["readText"] = async (_path, { limit } = {}) => "\x01".repeat(limit ?? 10 * mebi);
    const { agent: connected, peer } = await withScriptedAgent(1, {}, { files: { readText } });
    const { sessionId } = await connected.newSession(place);
    const read = (params: object) =>
      peer.connection.request("fs/read_text_file", { sessionId, path: "/w/a", ...params });
    const error = await rejects(read({}), -32063, { reason: "limit_exceeded", file: "/w/a" });
    assert.match(error.message, /read fewer lines of it with line and limit/);
    assert.deepEqual(await read({ limit: 3 }), { content: "\x01\x01\x01" });
    await connected.close();
  },
);

const small = { connection: { limits: { maxSentBytes: 100_000 } } };
/** A fifth of the limit in characters, and above it in JSON. */
const tooLarge = "\0".repeat(20_000);

inEveryVersion(
  "what is too large for one message throws at the call, and the connection goes on",
  async (pair) => {
    const failures: unknown[] = [];
    const attempt = async (work: () => unknown) => {
      try {
        await work();
        failures.push("sent");
      } catch (error) {
        failures.push((error as RequestError).kind);
      }
    };
    const { session, updates } = await openSession(
      pair,
      {
        async prompt(turn) {
          await attempt(() => turn.say(tooLarge));
          await attempt(() => turn.plan([{ content: tooLarge, priority: "low", status: "pending" }]));
          await attempt(() =>
            turn.tool({ title: "Edit", kind: "edit" }, (tool) =>
              tool.diff({ path: "/project/a", oldText: tooLarge, newText: `${tooLarge}\n` }),
            ),
          );
          await turn.say("still here");
        },
        ...small,
      },
      small,
    );
    assert.throws(() => session.prompt(tooLarge), { name: "RequestError", kind: "limit_exceeded" });
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.deepEqual(failures, ["limit_exceeded", "limit_exceeded", "limit_exceeded"]);
    assert.ok(JSON.stringify(updates).includes("still here"));
  },
);

inEveryVersion("an answer that is too large for one message becomes an error", async (pair) => {
  const { agent: connected } = await conversation(
    pair,
    {
      prompt,
      ...small,
      extensions: { requests: { "_acme/large": () => tooLarge, "_acme/small": () => 1 } },
    },
    small,
  );
  await rejects(connected.request("_acme/large", {}), -32063, { reason: "limit_exceeded" });
  assert.equal(await connected.request("_acme/small", {}), 1);
  assert.throws(() => connected.request("_acme/small", tooLarge), { kind: "limit_exceeded" });
  await connected.close();
});

/** The texts of a history, and how large its largest update is. */
function shownAgain() {
  const shown = { text: "", largest: 0 };
  const onUpdate = (update: SessionUpdate): void => {
    shown.largest = Math.max(shown.largest, JSON.stringify(update).length);
    if (update.sessionUpdate === "agent_message") shown.text = textOf(update.content ?? []);
    if (update.sessionUpdate === "agent_message_chunk") shown.text += textOf([update.content]);
  };
  return { shown, onUpdate };
}

inEveryVersion("a long message is replayed whole, in as many messages as it takes", async (pair) => {
  const pieces = ["begin ", ...Array.from({ length: 40 }, () => "\x01\u{1f600}".repeat(2_500)), " end"];
  const { session, agent: connected } = await openSession(
    pair,
    {
      session: { store: memoryStore() },
      async prompt(turn) {
        for (const piece of pieces) await turn.say(piece);
      },
      ...small,
    },
    {},
  );
  await session.prompt("go").result;
  await session.close();
  const { shown, onUpdate } = shownAgain();
  await connected.loadSession(session.sessionId, { ...place, onUpdate });
  assert.ok(shown.text === pieces.join(""), `${shown.text.length} characters came`);
  assert.ok(shown.largest < 100_000, `${shown.largest} in one update`);
  await connected.close();
});

inEveryVersion("a stored message that is damaged does not cost the others", async (pair) => {
  const store = memoryStore();
  const { session, agent: connected } = await openSession(
    pair,
    { session: { store: { ...store, read } }, prompt: (turn) => turn.say("hello") },
    {},
  );
  async function* read(...of: Parameters<typeof store.read>) {
    for await (const page of store.read(...of)) {
      const damaged = { sessionUpdate: "agent_message", messageId: "m", content: {} };
      const text = JSON.stringify(damaged);
      yield page.flatMap((entry) => [{ ...entry, kind: "update", tag: "agent_message", text }, entry]);
    }
  }
  await session.prompt("go").result;
  await session.close();
  const { shown, onUpdate } = shownAgain();
  await connected.loadSession(session.sessionId, { ...place, onUpdate });
  assert.equal(shown.text, "hello");
  await connected.close();
});

test("a prompt that could not be shown again in one message is refused", deadline, async () => {
  const { call: ask } = withScriptedClient({ prompt, ...small });
  await ask("initialize", initialize(2));
  const { sessionId } = (await ask("session/new", place)) as { sessionId: string };
  const text = "x".repeat(100_000);
  await rejects(ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] }), -32602, {
    path: "/prompt",
  });
  await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] });
});

// ---- a handler that hangs, or throws what cannot be read

const hi = { prompt: [{ type: "text", text: "hi" }] };
/** The answer to a request: its error, or "result". */
const outcome = (asking: Promise<unknown>) =>
  asking.then(
    () => "result",
    ({ kind }: RequestError) => kind,
  );

for (const version of versions) {
  for (const concurrentPrompts of ["queue", "inbox"] as const) {
    test(
      `prompts and steering behind a handler that ignores its cancel are answered (version ${version}, ${concurrentPrompts})`,
      deadline,
      async (t) => {
        t.mock.timers.enable({ apis: ["setTimeout"] });
        const began = Promise.withResolvers<Turn>();
        const { call: ask, peer } = withScriptedClient({
          concurrentPrompts,
          connection: { cancelGraceMs: 1_000 },
          prompt(turn) {
            began.resolve(turn);
            return new Promise(() => undefined);
          },
        });
        await ask("initialize", initialize(version));
        const { sessionId } = (await ask("session/new", { ...place, mcpServers: [] })) as {
          sessionId: string;
        };
        const stuck = outcome(ask("session/prompt", { sessionId, ...hi }));
        const { session } = await began.promise;
        void peer.connection.notify("session/cancel", { sessionId });
        const methods = ["session/prompt", ...(concurrentPrompts === "inbox" ? ["_session/steering"] : [])];
        const asked = () => Promise.all(methods.map((method) => outcome(ask(method, { sessionId, ...hi }))));
        const meanwhile = asked();
        await ask("session/list", {});
        const work = session.runTurn(() => assert.fail("it ran"));
        t.mock.timers.tick(1_000);
        assert.equal(await stuck, "result");
        const refused = methods.map(() => "turn_in_progress");
        assert.deepEqual(await meanwhile, refused);
        assert.equal((await work).stopReason, "cancelled");
        assert.deepEqual(await asked(), refused);
        const later = await session.runTurn(() => assert.fail("it ran"));
        assert.equal(later.stopReason, "cancelled");
      },
    );
  }

  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const unreadable: Readonly<Record<string, unknown>> = {
    "an Error whose message throws": Object.defineProperty(new Error("x"), "message", {
      get: () => assert.fail("the message was read"),
    }),
    "an Error whose message is an object": Object.assign(new Error("x"), { message: Object.create(null) }),
    "a revoked proxy": revoked.proxy,
  };
  for (const [what, thrown] of Object.entries(unreadable)) {
    test(
      `a handler that throws ${what} answers with an internal error (version ${version})`,
      deadline,
      async () => {
        const ended = Promise.withResolvers<{ message: string } | undefined>();
        let opens = 0;
        const fail = () => Promise.reject(thrown);
        const { call: ask } = withScriptedClient(
          {
            prompt: (turn) => turn.tool({ title: "T" }, fail),
            session: { open: () => (opens++ === 0 ? fail() : undefined) },
            extensions: { requests: { "_acme/fail": fail } },
          },
          {
            "session/update": (params) => {
              const { update } = params as { update: { stopReason?: string; error?: { message: string } } };
              if (update.stopReason !== undefined) ended.resolve(update.error);
            },
          },
        );
        const isInternal = { name: "RequestError", kind: "internal_error", message: "internal error" };
        await ask("initialize", initialize(version));
        const open = { ...place, mcpServers: [] };
        await assert.rejects(ask("session/new", open), isInternal);
        await assert.rejects(ask("_acme/fail", {}), isInternal);
        const { sessionId } = (await ask("session/new", open)) as { sessionId: string };
        const prompted = ask("session/prompt", { sessionId, ...hi });
        if (version === 1) return assert.rejects(prompted, isInternal);
        await prompted;
        assert.equal((await ended.promise)?.message, "internal error");
      },
    );
  }
}
