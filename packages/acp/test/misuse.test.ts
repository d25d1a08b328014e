// Mistakes that were silent or vague once. Each is told with what was expected and what to do.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AgentDefinition,
  agent,
  client,
  httpTransport,
  type SessionUpdate,
  type ToolCallHandle,
  type Turn,
  webSocketTransport,
} from "../src/index.ts";
import { localFiles, localTerminals, sqliteStore } from "../src/node.ts";
import { relay } from "../src/relay.ts";
import { memoryPair, type Transport } from "../src/transport.ts";

const who = { name: "x", version: "1" };
const cwd = "/project";
const prompt = () => undefined;

async function opened() {
  const served = agent({ ...who, prompt });
  const connection = await client(who).connect(served);
  return { served, connection, session: await connection.newSession({ cwd }) };
}

/** JavaScript passes anything. */
const wrong = (options: object) => options as never;
const more = (options: object) => options;

const mistakes: readonly [name: string, run: () => unknown, message: RegExp][] = [
  [
    "agent",
    () => agent({ ...who, prompt, ...more({ colour: 1 }) }),
    /^agent: there is no option colour; the options are name, version/,
  ],
  [
    "agent.tools",
    () => agent({ ...who, prompt, ...more({ tools: [] }) }),
    /^agent: tools is not needed: .* turn\.tool\(\)/,
  ],
  [
    "session",
    () => agent({ ...who, prompt, session: wrong({ opened() {} }) }),
    /^agent: session: there is no option opened; did you mean open\?/,
  ],
  [
    "connection",
    () => agent({ ...who, prompt, connection: wrong({ timeout: 5 }) }),
    /^agent: connection: there is no option timeout; the options are clientTimeoutMs/,
  ],
  [
    "limits",
    () =>
      agent({ ...who, prompt, connection: { limits: wrong({ maxInflight: 5 }) } }).connect(memoryPair()[0]),
    /^limits: there is no option maxInflight; did you mean maxInFlight\?/,
  ],
  [
    "extensions",
    () => agent({ ...who, prompt, extensions: wrong({ "_acme/x": prompt }) }),
    /^agent: extensions: _acme\/x belongs in requests or notifications/,
  ],
  ...["delete", "archive", "unarchive", "list", "status", "setTitle"]
    .map((old) => {
      const now = `on${old.charAt(0).toUpperCase()}${old.slice(1)}`;
      const run = () => agent({ ...who, prompt, session: wrong({ [old]: prompt }) });
      return [`session.${old}`, run, new RegExp(`^agent: session: ${old} is called ${now}$`)] as const;
    })
    .map(([name, run, message]): [string, () => unknown, RegExp] => [name, run, message]),
  [
    "agent.connect",
    () => agent({ ...who, prompt }).connect(memoryPair()[0], wrong({ owner: "x" })),
    /^agent\.connect: there is no option owner; the options are log, signal, principal/,
  ],
  [
    "client",
    () => client({ ...who, ...more({ onPermission() {} }) }),
    /^client: onPermission is called requestPermission$/,
  ],
  [
    "connect",
    () => client(who).connect(agent({ ...who, prompt }), wrong({ timeoutMs: 5 })),
    /^connect: there is no option timeoutMs; the options are signal/,
  ],
  [
    "newSession",
    async () => (await opened()).connection.newSession({ cwd, ...more({ cdw: 1 }) }),
    /^newSession: there is no option cdw; did you mean cwd\?/,
  ],
  [
    "takeover",
    async () => (await opened()).connection.newSession({ cwd, ...more({ takeover: true }) }),
    /^newSession: there is no option takeover/,
  ],
  [
    "loadSession",
    async () => (await opened()).connection.loadSession(wrong({ cwd }), undefined as never),
    /^loadSession: expected the id of a session first, got an object; write loadSession\(sessionId, \{ cwd \}\)/,
  ],
  [
    "mcpServers",
    async () => (await opened()).connection.newSession({ cwd, mcpServers: wrong({}) }),
    /^newSession: mcpServers must be a list such as .*, got an object/,
  ],
  [
    "prompt",
    async () => (await opened()).session.prompt("x", wrong({ singal: 1 })),
    /^prompt: there is no option singal; did you mean signal\?/,
  ],
  [
    "empty prompt",
    async () => (await opened()).session.prompt(""),
    /^prompt: expected text or content blocks, got an empty text$/,
  ],
  [
    "setMode",
    async () => (await opened()).session.setMode("x", wrong({ timeout: 1 })),
    /^setMode: there is no option timeout; the options are signal, key, _meta/,
  ],
  [
    "deleteSession",
    async () => (await opened()).connection.deleteSession("x", wrong({ force: true })),
    /^session\/delete: there is no option force/,
  ],
  [
    "relay",
    () => relay(...memoryPair(), wrong({ tap() {} })),
    /^relay: there is no option tap; the options are as/,
  ],
  [
    "localFiles",
    () => localFiles({ roots: [], ...more({ readonly: true }) }),
    /^localFiles: there is no option readonly; the options are roots/,
  ],
  [
    "terminals.create",
    () => localTerminals({ cwd }).create({ command: "x", ...more({ environment: {} }) }),
    /^terminals\.create: there is no option environment; .*env/,
  ],
  [
    "sqliteStore",
    () => sqliteStore({ path: "/x.db", ...more({ readonly: true }) }),
    /^sqliteStore: there is no option readonly/,
  ],
  [
    "httpTransport",
    () => httpTransport("https://x.example", wrong({ header: {} })),
    /^httpTransport: there is no option header; did you mean headers\?/,
  ],
  [
    "webSocketTransport",
    () => webSocketTransport(() => undefined as never, wrong({ timeout: 1 })),
    /^webSocketTransport: there is no option timeout/,
  ],
];

for (const [name, run, message] of mistakes)
  test(`a mistake is told with what to write instead: ${name}`, async () => {
    await assert.rejects(async () => run(), { name: "TypeError", message });
  });

test("catch and finally of a prompt work as those of a promise, and a loop may follow", async () => {
  const served = agent({ ...who, prompt: async (turn) => turn.say("hello") });
  const session = await (await client(who).connect(served)).newSession({ cwd });
  let isOver = false;
  const sent = session.prompt("x");
  const caught = sent
    .catch(() => "failed")
    .finally(() => {
      isOver = true;
    });
  let text = "";
  for await (const update of sent) if (update.sessionUpdate === "agent_message_chunk") text += "got";
  assert.deepEqual(await caught, await sent.finally());
  assert.deepEqual([isOver, text], [true, "got"]);
});

test("a session tells why it ended: closed here, taken by another client, or with its connection", async () => {
  const served = agent({ ...who, prompt });
  const [one, other] = [await client(who).connect(served), await client(who).connect(served)];
  const session = await one.newSession({ cwd });
  const { sessionId } = session;
  await assert.rejects(other.loadSession(sessionId, { cwd }), { name: "RequestError" });
  const taken = await other.loadSession(sessionId, { cwd, takeover: true });
  const end = await session.closed;
  assert.ok(end.reason === "taken");
  assert.equal(end.error.kind, "session_taken");
  await taken.close();
  assert.deepEqual(await taken.closed, { reason: "closed" });
  const last = await other.newSession({ cwd });
  await other.close();
  const lost = await last.closed;
  assert.ok(lost.reason === "disconnected");
  assert.equal(lost.error.kind, "closed");
  // nothing is left to close
  await last[Symbol.asyncDispose]();
});

test("a session is closed at the end of its block", async () => {
  const { connection } = await opened();
  let ended: Promise<unknown>;
  {
    await using session = await connection.newSession({ cwd });
    ended = session.closed;
  }
  assert.deepEqual(await ended, { reason: "closed" });
});

test("a turn that waits for another turn of its session is warned about after a second", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const log: string[] = [];
  const served = agent({
    ...who,
    log: (level, message) => log.push(`${level}: ${message}`),
    async prompt(turn) {
      const other = turn.session.runTurn(prompt);
      t.mock.timers.tick(1_000);
      // what a handler that awaits it would never reach
      void other;
    },
  });
  const session = await (await client(who).connect(served)).newSession({ cwd });
  await session.prompt("x");
  assert.match(
    log.join("\n"),
    /^warn: session\.runTurn\(\) was called during a turn .* call it without await$/,
  );
});

/** What the app of an agent is told by its log, by its error, and what the client sees. */
async function afterTurn(
  prompt: (turn: Turn) => unknown,
  { editions = ["v2", "v1"], session }: Pick<AgentDefinition, "editions" | "session"> = {},
) {
  const log: string[] = [];
  const told = (level: string, message: string) => void log.push(`${level}: ${message}`);
  const served = agent({ ...who, editions, log: told, prompt: wrong(prompt), session: session as never });
  const connection = await client({ ...who, log: told }).connect(served);
  const opened = await connection.newSession({ cwd });
  const updates: SessionUpdate[] = [];
  opened.onUpdate((update) => updates.push(update));
  const result = await opened.prompt("x");
  return { log, error: result.error?.message ?? "", updates, session: opened };
}

const cycle: Record<string, unknown> = {};
cycle["inner"] = { back: cycle };

const inTurns: readonly [name: string, prompt: (turn: Turn) => unknown, message: RegExp][] = [
  [
    "a value that contains itself",
    (turn) => turn.tool({ title: "T", rawInput: cycle }, () => undefined),
    /^update "tool_call_update": \/rawInput\/inner\/back contains itself, which JSON cannot express; pass plain JSON$/,
  ],
  [
    "a BigInt",
    (turn) => turn.tool({ title: "T", rawInput: { list: [1, 2n] } }, () => undefined),
    /^update "tool_call_update": \/rawInput\/list\/1 is a BigInt, .* pass a number or a text$/,
  ],
];
for (const [name, prompt, message] of inTurns)
  test(`a mistake in a turn fails it with its place: ${name}`, async () => {
    for (const edition of ["v1", "v2"] as const)
      assert.match((await afterTurn(prompt, { editions: [edition] })).error, message);
  });

const warned: readonly [name: string, prompt: (turn: Turn) => unknown, message: RegExp][] = [
  [
    "a change of a tool call that has ended",
    async (turn) => {
      let call: ToolCallHandle | undefined;
      await turn.tool({ title: "T" }, (tool) => {
        call = tool;
      });
      await call?.update({ title: "later" });
      await call?.add("later still");
    },
    /^warn: tool\.update\(\) was called after the tool call had ended, .* await everything in the function of turn\.tool\(\)/,
  ],
  [
    "the data of a session without session.open",
    (turn) => void turn.session.data,
    /^warn: session\.data is undefined: return it from session\.open of the agent$/,
  ],
  [
    "a question that nobody awaits",
    (turn) => void turn.requestPermission("Delete it?"),
    /^warn: the turn ended while a question was open: await turn\.requestPermission\(\)/,
  ],
];
for (const [name, prompt, message] of warned)
  test(`a mistake in a turn is logged: ${name}`, async () => {
    for (const edition of ["v1", "v2"] as const)
      assert.match((await afterTurn(prompt, { editions: [edition] })).log[0] ?? "nothing", message);
  });

test("what is said after the turn rejects, is logged once, and ends no process", async () => {
  let late: Turn | undefined;
  const { log } = await afterTurn((turn) => {
    late = turn;
  });
  assert.equal(log.length, 0);
  // nobody awaits the first, as in a timer
  void late?.say("x");
  await assert.rejects(
    async () => late?.say("x").catch((error) => Promise.reject(error)),
    /the turn has ended/,
  );
  assert.equal(log.filter((line) => line.startsWith("warn: the turn has ended: turn.say()")).length, 1);
});

test("a session with a hundred listeners is logged, with what to do", async () => {
  const { log, session } = await afterTurn(prompt);
  for (let count = 1; count < 300; count += 1) session.onUpdate(() => undefined);
  assert.deepEqual(log, [
    "warn: the session has 100 listeners of onUpdate; remove those that are not needed, with the function that each registration returned",
  ]);
});

test("a program that sends everything back is told at once, and is no agent", async () => {
  await assert.rejects(client(who).connect(echo()), {
    name: "ConnectionError",
    kind: "protocol",
    message: /^initialize came back as it was sent: the program is not an agent; check its command/,
  });
});

/** The program cat. */
function echo(): Transport {
  const [near, far] = memoryPair();
  far.start({
    message: (value) => void far.send(value as object),
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => void far.close(),
  });
  return near;
}

test("calls of a session take a signal, and stop waiting when it aborts", async () => {
  const never = new Promise<never>(() => undefined);
  const served = agent({
    ...who,
    prompt,
    session: {
      initialOptions: [{ type: "boolean", configId: "fast", name: "Fast", currentValue: false }],
      setConfigOption: () => never,
      close: () => never,
    },
  });
  const session = await (await client(who).connect(served)).newSession({ cwd });
  const stopped = { name: "ConnectionError", kind: "aborted" };
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = [session.setConfigOption("fast", true, { signal }), session.close({ signal })];
  controller.abort();
  for (const call of waiting) await assert.rejects(call, stopped);
});

test("what a handler of a session is given has documented fields only", async () => {
  let fields: readonly string[] = [];
  await afterTurn(prompt, {
    session: {
      open(_, info) {
        fields = Object.keys(info).sort();
      },
    },
  });
  assert.deepEqual(fields, ["_meta", "origin", "setResultMeta"]);
});
