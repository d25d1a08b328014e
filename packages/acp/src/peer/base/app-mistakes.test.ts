// Mistakes of an app that must not hang a turn, end the process or get around a no.

import assert from "node:assert/strict";
import { test } from "node:test";
import { conversation, inEveryVersion, openSession } from "../../../test/support/peer-probe.ts";
import { agent, client } from "../../index.ts";
import { memoryStore, type SessionStore } from "../../store.ts";

inEveryVersion("a misspelt permission does not run the call, and says what was meant", async (pair) => {
  const start = { title: "rm", permision: true };
  let hasRun = false;
  const { session } = await openSession(pair, {
    async prompt(turn) {
      assert.throws(
        () =>
          turn.tool(start, () => {
            hasRun = true;
          }),
        { name: "TypeError", message: /turn\.tool: there is no option permision; did you mean permission\?/ },
      );
      // wrong arguments throw at the call, so that a call which nobody awaits is not silent
      assert.throws(() => turn.tool("Read" as never, () => undefined), TypeError);
      assert.throws(() => turn.tool({ title: "Read" }, undefined as never), TypeError);
    },
  });
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
  assert.equal(hasRun, false);
});

inEveryVersion(
  "a question that is awaited late survives a client that answers with an error",
  async (pair) => {
    const { session } = await openSession(
      pair,
      {
        async prompt(turn) {
          const asking = turn.requestPermission("Deploy?");
          // the answer comes while nobody awaits it
          await new Promise((resolve) => setImmediate(resolve));
          await new Promise((resolve) => setImmediate(resolve));
          await assert.rejects(asking, { name: "RequestError" });
        },
      },
      {
        requestPermission() {
          throw new Error("the window is gone");
        },
      },
    );
    assert.equal((await session.prompt("x")).stopReason, "end_turn");
  },
);

inEveryVersion("a log that throws does not hang a turn whose handler throws", async (pair) => {
  const { session } = await openSession(pair, {
    log() {
      throw new Error("the disk is full");
    },
    prompt() {
      throw new Error("a bug");
    },
  });
  assert.equal((await session.prompt("x")).stopReason, "error");
});

inEveryVersion("after the turn its client sends nothing any more", async (pair) => {
  const { session } = await openSession(pair, {
    prompt(turn) {
      late = () => turn.client.request("_acme/late");
    },
  });
  let late: () => Promise<unknown> = () => Promise.resolve();
  await session.prompt("x");
  await assert.rejects(late(), /the turn has ended/);
});

test("a policy is never shown a path with dots, and neither are the files", async () => {
  const seen: string[] = [];
  const errors: unknown[] = [];
  const sneaky = agent({
    name: "sneaky",
    version: "1",
    async prompt({ client: { files } }) {
      for (const path of ["/project/../etc/passwd", "/project/./a"])
        await files?.readText(path).catch((error: unknown) => errors.push(error));
    },
  });
  const connection = await client({
    name: "app",
    version: "1",
    editions: ["v1"],
    files: {
      async readText(path) {
        seen.push(path);
        return "";
      },
    },
    policy: {
      decide(request) {
        if (request.type === "read") seen.push(request.path);
        return "allow";
      },
    },
  }).connect(sneaky);
  await (await connection.newSession({ cwd: "/project" })).prompt("x");
  assert.deepEqual(seen, []);
  assert.deepEqual(
    errors.map((error) => (error as { kind?: string }).kind),
    ["invalid_params", "invalid_params"],
  );
  await connection.close();
});

test("a cancel while the real path of a file is looked up refuses the write", async () => {
  const written: string[] = [];
  const looked = Promise.withResolvers<void>();
  const found = Promise.withResolvers<string>();
  const writer = agent({
    name: "writer",
    version: "1",
    async prompt({ client: { files } }) {
      await files?.writeText("/project/a", "x").catch(() => undefined);
    },
  });
  const connection = await client({
    name: "app",
    version: "1",
    editions: ["v1"],
    files: {
      async writeText(path) {
        written.push(path);
      },
      realPath() {
        looked.resolve();
        return found.promise;
      },
    },
    policy: { decide: () => "allow" },
  }).connect(writer);
  const session = await connection.newSession({ cwd: "/project" });
  const prompt = session.prompt("x");
  await looked.promise;
  session.cancel();
  found.resolve("/project/a");
  assert.equal((await prompt).stopReason, "cancelled");
  await connection.close();
  assert.deepEqual(written, []);
});

test("a store that is a path is refused when the agent is made", () => {
  const definition = { name: "a", version: "1", prompt: () => undefined };
  assert.throws(() => agent({ ...definition, session: { store: "/tmp/x.db" as never } }), {
    name: "TypeError",
    message: /session\.store must be a store such as sqliteStore\(.*\), got "\/tmp\/x\.db"/,
  });
});

inEveryVersion("a fork that is not enabled names the feature that both sides need", async (pair) => {
  const { agent: connection, session } = await openSession(pair, { prompt: () => undefined });
  await assert.rejects(connection.forkSession(session.sessionId, { cwd: session.cwd }), {
    name: "TypeError",
    message: 'this agent does not fork sessions; it is unstable: both sides need unstable: ["fork"]',
  });
});

inEveryVersion("options that are undefined are options that were left out", async (pair) => {
  const none = { title: undefined, files: undefined, policy: undefined, elicit: undefined };
  const { agent: connection, session } = await openSession(
    pair,
    {
      session: { store: undefined, open: undefined, close: undefined, maxUnstored: undefined },
      auth: undefined,
      extensions: {
        requests: {
          // a signal that is undefined must not take the place of the handler's own
          "_acme/ask": (_params, { request }) => request("_acme/back", {}, { signal: undefined }),
        },
      },
      async prompt(turn) {
        await turn.tool({ title: "Read", kind: undefined, name: undefined, permission: undefined }, () => 1);
        turn.announce({ title: "Later", kind: undefined });
      },
    },
    {
      ...none,
      connection: { noise: undefined, limits: undefined, handshakeTimeoutMs: undefined },
      extensions: {
        requests: {
          "_acme/back": (_params, { signal }) =>
            new Promise((_resolve, reject) => {
              asking.resolve();
              signal.addEventListener("abort", () => {
                withdrawn.resolve();
                reject(signal.reason);
              });
            }),
        },
      },
    },
  );
  const [asking, withdrawn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const prompt = session.prompt("x", { signal: undefined, _meta: undefined });
  assert.equal((await prompt).stopReason, "end_turn");
  const page = await connection.listSessions({ cwd: undefined, cursor: undefined, signal: undefined });
  assert.equal(page.sessions.length, 1);
  const abort = new AbortController();
  const asked = connection.request("_acme/ask", {}, { signal: abort.signal });
  await asking.promise;
  abort.abort();
  await assert.rejects(asked);
  await withdrawn.promise;
});

inEveryVersion("callbacks that reject are logged, and nothing else fails", async (pair) => {
  const fails = (async () => {
    throw new Error("a bug");
  }) as () => never;
  const shown = Promise.withResolvers<string>();
  const cancelled = Promise.withResolvers<void>();
  const { session, log } = await openSession(
    pair,
    {
      async prompt(turn) {
        await turn.elicit({ mode: "url", message: "Log in", elicitationId: "e", url: "https://example.com" });
        turn.session.completeElicitation("e");
        if (pair.version === 1) return;
        const terminal = turn.terminal({
          async onCancel() {
            cancelled.resolve();
            throw new Error("a bug");
          },
        });
        shown.resolve(terminal.terminalId);
        await cancelled.promise;
      },
    },
    { elicit: () => ({ action: "accept" }), elicitationCompleted: fails },
  );
  const prompt = session.prompt("x");
  if (pair.version === 2) await session.cancelTerminal(await shown.promise);
  assert.equal((await prompt).stopReason, "end_turn");
  assert.ok(log.includes("client error: elicitationCompleted failed"), log.join("\n"));
  if (pair.version === 2)
    assert.ok(log.includes("agent error: onCancel of a terminal rejected"), log.join("\n"));
});

inEveryVersion("methods of sessions work without their object", async (pair) => {
  const {
    session,
    updates,
    agent: connection,
  } = await openSession(pair, {
    async prompt({ session: { setTitle, setAvailableCommands, update, configOption } }) {
      setTitle("T");
      setAvailableCommands([{ name: "go", description: "Goes" }]);
      await update({ sessionUpdate: "agent_message", messageId: "m", content: [] });
      assert.equal(configOption("none"), undefined);
    },
  });
  const { prompt, onEntry, close } = session;
  const kinds: string[] = [];
  onEntry(({ kind }) => kinds.push(kind));
  assert.equal((await prompt("x")).stopReason, "end_turn");
  assert.ok(updates.some((each) => each.sessionUpdate === "session_info_update" && each.title === "T"));
  assert.ok(kinds.includes("result"));
  await close();
  await connection.close();
});

inEveryVersion("what an agent may not send is refused with what to write instead", async (pair) => {
  const { session } = await openSession(pair, {
    prompt({ session: its, update }) {
      assert.throws(() => its.setAvailableCommands([{ name: "/x", description: "X" }]), {
        name: "TypeError",
        message: 'a command\'s name has no slash: write "x", got "/x"',
      });
      assert.throws(() => update({ sessionUpdate: "tool_call", toolCallId: "t", title: "T" } as never), {
        name: "TypeError",
        message: /^update "tool_call": a call begins with "tool_call_update" .*turn\.tool\(\) sends it/,
      });
    },
  });
  const { stopReason, error } = await session.prompt("x");
  assert.equal(stopReason, "end_turn", error?.message);
});

test("a definition with a wrong mode says so", () => {
  const definition = { name: "a", version: "1", prompt: () => undefined };
  assert.throws(() => agent({ ...definition, concurrentPrompts: "queued" as never }), {
    name: "TypeError",
    message: 'agent: concurrentPrompts must be "queue", "reject" or "inbox", got "queued"',
  });
});

inEveryVersion("a signal that is none is refused before anything is sent", async (pair) => {
  const { session, wire, agent: connection } = await openSession(pair, { prompt: () => undefined });
  const before = wire.length;
  const wanted = {
    name: "TypeError",
    message: /^prompt: signal must be an AbortSignal, such as controller\.signal; got 5$/,
  };
  assert.throws(() => session.prompt("x", { signal: 5 as never }), wanted);
  await assert.rejects(connection.listSessions({ signal: new AbortController() as never }), TypeError);
  assert.equal(wire.length, before);
  assert.equal((await session.prompt("x")).stopReason, "end_turn", "no prompt is left in the queue");
});

inEveryVersion(
  "what comes too late is not silent: a notification, a listener, a terminal's output",
  async (pair) => {
    let late = (): unknown => undefined;
    const {
      session,
      log,
      agent: connection,
    } = await openSession(pair, {
      prompt(turn) {
        const terminal = turn.terminal();
        late = () => terminal.write("late");
      },
    });
    await session.prompt("x");
    late();
    late();
    const written = log.filter((line) => line.includes("a terminal whose turn or tool call had ended"));
    assert.equal(written.length, 1, log.join("\n"));
    await session.close();
    session.onUpdate(() => undefined);
    assert.ok(log.some((line) => line.includes("a listener was registered after the session had ended")));
    await connection.close();
    await connection.notify("_acme/late");
    assert.ok(log.some((line) => line.includes("a notification was not sent: the connection has ended")));
  },
);

inEveryVersion("stored junk is reported when its session is loaded", async (pair) => {
  const memory = memoryStore();
  const junk: never[] = [];
  const store: SessionStore = {
    ...memory,
    async *read(...given) {
      yield* memory.read(...given);
      yield junk;
    },
  };
  const talk = await conversation(pair, { session: { store }, prompt: () => undefined });
  const session = await talk.agent.newSession({ cwd: "/project" });
  await session.prompt("x");
  await session.close();
  const load = () => talk.agent.loadSession(session.sessionId, { cwd: "/project" });
  junk.push({ format: 1, seq: 1, time: 0, kind: "mood", text: "{}" } as never);
  await (await load()).close();
  assert.ok(
    talk.log.some((line) => line.includes("entries of an unknown kind")),
    talk.log.join("\n"),
  );
  junk.push({} as never);
  await assert.rejects(load(), { name: "RequestError", kind: "unavailable", message: /is damaged/ });
  await talk.agent.close();
});

inEveryVersion("a client's extension handler that passes no signal still asks with its own", async (pair) => {
  const [asking, withdrawn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { session } = await openSession(
    pair,
    {
      extensions: {
        requests: {
          "_acme/back": (_params, { signal }) =>
            new Promise((_resolve, reject) => {
              asking.resolve();
              signal.addEventListener("abort", () => {
                withdrawn.resolve();
                reject(signal.reason);
              });
            }),
        },
      },
      async prompt(turn) {
        const abort = new AbortController();
        const asked = turn.client.request("_acme/ask", {}, { signal: abort.signal });
        await asking.promise;
        abort.abort();
        await assert.rejects(asked);
        await withdrawn.promise;
      },
    },
    {
      extensions: {
        requests: { "_acme/ask": (_params, { request }) => request("_acme/back", {}, { signal: undefined }) },
      },
    },
  );
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
});
