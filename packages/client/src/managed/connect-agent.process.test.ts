// connectAgent through its public entry points: names, policy, history, and a connection that survives restarts.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ClientSession, PermissionRequest } from "@parley/acp";
import { type Life, patience, say, scripted } from "../../test/support/managed-probe.ts";
import { openHistory } from "../history.ts";
import { type ConnectAgentOptions, connectAgent, type ManagedAgentEvent } from "../index.ts";
import { type PermissionDecision, type PermissionQuestion, permissionPolicy } from "../policy.ts";

/** Of the sessions that the agents have from the start. */
const anyFolder = tmpdir();
const v1 = { editions: ["v1"] } as const;

function emptyFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-work-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A connected agent, its workspace, and its events. */
async function connected(t: TestContext, lives: readonly Life[], options: Partial<ConnectAgentOptions>) {
  const { entry, starts } = scripted(t, ...lives);
  const cwd = emptyFolder(t);
  const events: ManagedAgentEvent[] = [];
  const crash = Promise.withResolvers<void>();
  const agent = await connectAgent([entry.command, ...entry.args], {
    name: "test",
    version: "1.0.0",
    backoffMs: 1,
    ...options,
    onEvent(event) {
      events.push(event);
      if (event.kind === "crashed") crash.resolve();
    },
  });
  t.after(() => agent.close());
  const kill = async () => {
    process.kill(agent.pid ?? assert.fail("it runs"), "SIGKILL");
    await crash.promise;
  };
  return { agent, cwd, events, starts, kill };
}

test(
  "an agent is connected to by its name, with the setup of its spec, and disposed of",
  patience,
  async (t) => {
    const { entry, folder } = scripted(t, { play: { otherwise: say("here") } });
    const events: ManagedAgentEvent[] = [];
    const { command, args } = entry;
    const agent = await connectAgent("mine", {
      name: "test",
      version: "1.0.0",
      agents: { mine: { command, args, setup: { mode: "plan" } } },
      onEvent: (event) => events.push(event),
    });
    t.after(() => agent.close());
    assert.partialDeepStrictEqual(agent.spec, { name: "mine", command });
    const session = await agent.newSession({ cwd: folder });
    assert.deepEqual(agent.sessions, [session]);
    assert.match(
      events.flatMap((event) => (event.kind === "warning" ? [event.message] : [])).join(),
      /^mode cannot be set: this agent has no such option/,
    );
    assert.deepEqual(await session.prompt("hi"), { stopReason: "end_turn" });
    await agent[Symbol.asyncDispose]();
    assert.equal((await agent.closed).kind, "closed");
    assert.equal(agent.pid, undefined);
    assert.throws(() => session.prompt("late"), { kind: "closed" });
    await assert.rejects(agent.newSession({ cwd: folder }), { kind: "closed" });
  },
);

test(
  "the connection survives a crash: the same sessions, the facts of the new process",
  patience,
  async (t) => {
    const sessions = [{ sessionId: "old", cwd: anyFolder }];
    const { agent, starts, kill } = await connected(
      t,
      [
        { play: { name: "first", sessions, otherwise: say("first") } },
        { play: { name: "second", sessions, otherwise: say("second") } },
      ],
      {},
    );
    const session = await agent.loadSession("old", { cwd: anyFolder });
    assert.equal(agent.info?.name, "first");
    let isClosed = false;
    void agent.closed.then(() => {
      isClosed = true;
    });
    await kill();
    assert.equal(agent.info?.name, "first", "until there is another one");
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.equal(agent.info?.name, "second");
    assert.equal(agent.capabilities.load, true);
    assert.deepEqual(agent.sessions, [session]);
    assert.equal(starts().length, 2);
    assert.equal(isClosed, false);
    assert.ok((await agent.listSessions()).sessions.some(({ sessionId }) => sessionId === "old"));
    await agent.deleteSession("old");
    assert.deepEqual(agent.sessions, []);
    assert.throws(() => session.prompt("late"), { kind: "closed" });
  },
);

test("the mistakes that a session refuses are refused here, too", patience, async (t) => {
  const { agent, cwd } = await connected(t, [{ play: { otherwise: say("one") } }], {});
  await assert.rejects(agent.newSession({ cwd: "work" }), { name: "TypeError", message: /cwd/ });
  await assert.rejects(agent.newSession(undefined as never), { name: "TypeError", message: /`cwd`/ });
  const session = await agent.newSession({ cwd });
  assert.throws(() => session.prompt([]), {
    name: "TypeError",
    message: /at least one content block, got none/,
  });
  const image = { type: "image" as const, data: "", mimeType: "image/png" };
  assert.throws(() => session.prompt([image]), { name: "TypeError", message: /image/ });
  const listener = () => undefined;
  session.onUpdate(listener);
  assert.throws(() => session.onUpdate(listener), /listener/);
  const iterated = session.prompt("hi");
  let updates = 0;
  for await (const _ of iterated) updates++;
  assert.ok(updates > 0);
  assert.throws(() => iterated[Symbol.asyncIterator](), TypeError);
  assert.equal((await iterated).stopReason, "end_turn");
  const awaited = session.prompt("hi");
  await awaited;
  assert.throws(() => awaited[Symbol.asyncIterator](), TypeError);
});

test("any policy decides, about the app's own session, and is told of a cancel", patience, async (t) => {
  const decided: [string, ClientSession | undefined][] = [];
  const cancels: ClientSession[] = [];
  const written: string[] = [];
  const { agent, cwd } = await connected(
    t,
    [
      {
        play: {
          ...v1,
          turns: [{ when: "wait", steps: [{ say: "waiting" }, { wait: "cancelled" }] }],
          otherwise: [{ write: "{{cwd}}/yes.txt", content: "x" }],
        },
      },
    ],
    {
      policy: {
        decide(request, { session }) {
          decided.push([request.type, session]);
          return "allow";
        },
        cancel: (session) => void cancels.push(session),
      },
      files: {
        canRead: false,
        canWrite: true,
        readText: () => assert.fail("it is not offered"),
        async writeText(path) {
          written.push(path);
        },
      },
    },
  );
  const session = await agent.newSession({ cwd });
  await session.prompt("go");
  assert.deepEqual(written, [join(cwd, "yes.txt")]);
  const prompt = session.prompt("wait");
  for await (const { sessionUpdate } of prompt) if (sessionUpdate === "agent_message_chunk") prompt.cancel();
  assert.deepEqual(decided, [["write", session]]);
  assert.deepEqual(cancels, [session]);
});

test("prompts and requests are aborted by their signals", patience, async (t) => {
  const { agent, cwd } = await connected(
    t,
    [{ play: { turns: [{ when: "wait", steps: [{ wait: "cancelled" }] }], otherwise: say("done") } }],
    {},
  );
  const session = await agent.newSession({ cwd });
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const prompt = session.prompt("wait", options);
  await prompt.accepted;
  stop.abort();
  assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
  assert.deepEqual(await session.prompt("wait", options).result, { stopReason: "cancelled" });
  assert.deepEqual(await session.prompt("go").result, { stopReason: "end_turn" });
  const { signal } = stop;
  await assert.rejects(agent.newSession({ cwd, signal }), { name: "ConnectionError", kind: "aborted" });
  await assert.rejects(agent.listSessions({ signal }), { name: "ConnectionError", kind: "aborted" });
  assert.equal(agent.sessions.length, 1);
});

const edits = [{ write: "{{cwd}}/a.txt", content: "new" }, { say: "written" }] as const;

test(
  "a permission policy guards files, asks with what would change, and lets nothing happen after a cancel",
  patience,
  async (t) => {
    const late = { write: "{{cwd}}/late.txt", content: "late" } as const;
    // a write of an agent that does not mind the cancel
    const params = { sessionId: "{{session}}", path: late.write, content: late.content };
    const rude = { raw: { jsonrpc: "2.0", id: "rude", method: "fs/write_text_file", params } };
    const asked: PermissionQuestion[] = [];
    const policy = permissionPolicy({
      rules: ["deny read secret", "allow write late.txt"],
      ask(question) {
        asked.push(question);
        return asked.length === 1 ? "allow:once" : undefined;
      },
    });
    const { agent, cwd } = await connected(
      t,
      [
        {
          play: {
            ...v1,
            turns: [
              { when: "edit", steps: edits },
              { when: "look", steps: [{ read: "{{cwd}}/secret" }] },
              { when: "late", steps: [{ say: "wait" }, { wait: "cancelled" }, rude] },
              { when: "again", steps: [late] },
            ],
          },
        },
      ],
      { policy },
    );
    const decisions: PermissionDecision[] = [];
    const cancelled = Promise.withResolvers<void>();
    policy.onDecision((decision) => {
      decisions.push(decision);
      if (decision.effect === "cancelled") cancelled.resolve();
    });
    writeFileSync(join(cwd, "a.txt"), "old");
    writeFileSync(join(cwd, "secret"), "x");
    const session = await agent.newSession({ cwd });
    assert.equal((await session.prompt("edit").result).stopReason, "end_turn");
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "new");
    assert.partialDeepStrictEqual(asked[0], { diff: { oldText: "old", newText: "new" } });
    await session.prompt("look").result;
    assert.partialDeepStrictEqual(decisions.at(-1), {
      effect: "deny",
      by: "rule",
      summary: `read ${cwd}/secret`,
    });
    assert.equal(asked.length, 1, "what a rule forbids is not asked");
    const prompt = session.prompt("late");
    for await (const { sessionUpdate } of prompt)
      if (sessionUpdate === "agent_message_chunk") prompt.cancel();
    assert.equal((await prompt.result).stopReason, "cancelled");
    await cancelled.promise;
    await session.prompt("again").result;
    assert.deepEqual(
      decisions.slice(-2).map(({ effect, summary }) => [effect, summary]),
      ["cancelled", "allow"].map((effect) => [effect, `write ${cwd}/late.txt`]),
    );
  },
);

test(
  "a policy with nobody to ask asks the app, about its own session, and keeps its answer",
  patience,
  async (t) => {
    const asked: [PermissionRequest, ClientSession | undefined][] = [];
    const choices = [
      { optionId: "yes", name: "Yes", kind: "allow_once" as const },
      { optionId: "no", name: "No", kind: "reject_once" as const },
    ];
    const logged: string[] = [];
    const { agent, cwd } = await connected(
      t,
      [
        {
          play: {
            ...v1,
            turns: [
              { when: "edit", steps: edits },
              { when: "ask", steps: [{ ask: "Deploy?", choices, on: { yes: say("yes"), no: say("no") } }] },
            ],
          },
        },
      ],
      {
        policy: permissionPolicy(),
        log: (_level, message) => logged.push(message),
        requestPermission(request, { session }) {
          asked.push([request, session]);
          if (request.title === "Deploy?") return asked.length === 2 ? "yes" : ("maybe" as string);
          return request.options.find(({ kind }) => kind === "allow_always")?.optionId;
        },
      },
    );
    let said = "";
    const session = await agent.newSession({
      cwd,
      onUpdate(update) {
        if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
          said += `${update.content.text} `;
      },
    });
    await session.prompt("edit").result;
    await session.prompt("ask").result;
    await session.prompt("ask").result;
    await session.prompt("edit").result;
    assert.deepEqual(
      asked.map(([{ title }, about]) => [title.replace(cwd, ""), about === session]),
      [
        ["write /a.txt", true],
        ["Deploy?", true],
        ["Deploy?", true],
      ],
      "the write was allowed for the session",
    );
    assert.match(said, /^written yes .*written $/);
    assert.match(
      logged.join("\n"),
      /requestPermission chose the option "maybe", which is not one of "yes", "no"/,
    );
  },
);

test("an answer for the session counts after a restart of its agent", patience, async (t) => {
  const cwd = emptyFolder(t);
  let asked = 0;
  const ask = () => {
    asked += 1;
    return "allow:session";
  };
  const life = { play: { ...v1, sessions: [{ sessionId: "old", cwd }], otherwise: edits } };
  const { agent, kill } = await connected(t, [life, life], { policy: permissionPolicy({ ask }) });
  const session = await agent.resumeSession("old", { cwd });
  await session.prompt("go").result;
  await kill();
  rmSync(join(cwd, "a.txt"));
  await session.prompt("go").result;
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "new");
  assert.equal(asked, 1);
});

test("without a policy the app's own files are served, for its own session", patience, async (t) => {
  const written: [string, unknown][] = [];
  const { agent, kill } = await connected(
    t,
    [1, 2].map(() => ({
      play: { ...v1, sessions: [{ sessionId: "old", cwd: anyFolder }], otherwise: edits },
    })),
    {
      files: (session) => ({
        canRead: false,
        canWrite: true,
        readText: () => assert.fail("it is not offered"),
        async writeText(path) {
          written.push([path, session.data]);
        },
      }),
    },
  );
  const session = await agent.resumeSession("old", { cwd: anyFolder });
  session.data = "mine";
  await session.prompt("go").result;
  await kill();
  await session.prompt("go").result;
  assert.deepEqual(
    written,
    [1, 2].map(() => [join(anyFolder, "a.txt"), "mine"]),
  );
});

test(
  "the history has every session, one across a restart, and goes on with one that it knows",
  patience,
  async (t) => {
    const sessions = [{ sessionId: "old", cwd: anyFolder }];
    const life = { play: { name: "scripted", sessions, otherwise: say("said: {{prompt}}") } };
    const { entry, folder } = scripted(t, life);
    const target = [entry.command, ...entry.args];
    const history = openHistory({ path: join(folder, "history.db") });
    t.after(() => history.close());
    const options = { name: "test", version: "1.0.0", backoffMs: 1, history };
    const first = await connectAgent(target, options);
    t.after(() => first.close());
    const [one, two] = [
      await first.newSession({ cwd: folder }),
      await first.loadSession("old", { cwd: anyFolder }),
    ];
    await one.prompt("alpha").result;
    await two.prompt("beta").result;
    process.kill(first.pid ?? assert.fail("it runs"), "SIGKILL");
    await two.prompt("gamma").result;
    await one.close();
    await first.close();

    const second = await connectAgent(target, options);
    t.after(() => second.close());
    const again = await second.resumeSession("old", { cwd: anyFolder });
    await again.prompt("delta").result;
    await second.close();

    const kept = await history.list();
    assert.deepEqual(kept.map(({ title }) => title).sort(), ["alpha", "beta"]);
    assert.deepEqual(kept[0]?.agent, { name: "scripted", command: target });
    const prompts: string[] = [];
    for await (const each of history.entries(kept.find(({ title }) => title === "beta")?.id ?? ""))
      if (each.kind === "prompt") prompts.push(JSON.stringify(each.prompt));
    assert.deepEqual(
      prompts.map((text) => /alpha|beta|gamma|delta/.exec(text)?.[0]),
      ["beta", "gamma", "delta"],
    );
  },
);

test("a folder that does not exist is told before a tool of the agent fails there", patience, async (t) => {
  const { agent, cwd, events } = await connected(t, [{ play: { otherwise: say("here") } }], v1);
  const warnings = () =>
    events.flatMap((event) =>
      event.kind === "warning" && event.message.includes(cwd) ? [event.message] : [],
    );
  await agent.newSession({ cwd });
  assert.deepEqual(warnings(), []);
  const missing = join(cwd, "missing");
  await agent.newSession({ cwd: missing });
  const [warning = "", ...more] = warnings();
  assert.deepEqual(more, []);
  assert.ok(warning.startsWith(`there is no folder ${missing}, so the tools of`), warning);
});
