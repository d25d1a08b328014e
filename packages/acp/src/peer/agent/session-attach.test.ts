import assert from "node:assert/strict";
import { test } from "node:test";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import type { ProtocolVersion } from "../../edition/negotiate.ts";
import { LogWriter } from "../../log/log-writer.ts";
import { memoryStore } from "../../log/memory-store.ts";
import { loadAgentVersion } from "../base/load-version.ts";
import { McpNotices } from "../mcp/session-servers.ts";
import { ServedSession } from "./served-session.ts";
import { guardedStore } from "./session/guarded-store.ts";
import type { SessionSender } from "./session/session-sender.ts";
import { TerminalOutputs } from "./session/terminal-outputs.ts";
import { Questions } from "./turn/questions.ts";

const features = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  terminalAuth: false,
  elicitationForm: false,
  elicitationUrl: false,
  booleanOptions: true,
  notices: true,
  compaction: true,
  plans: true,
  subagents: true,
  terminalOutput: true,
};

interface SentParams {
  readonly update: { readonly sessionUpdate: string; readonly content?: unknown };
}

/** A connection that keeps what is sent. */
async function recordingSender(
  version: ProtocolVersion,
  request: SessionSender["request"] = () => Promise.reject(new Error("no answer")),
) {
  const { edition } = await loadAgentVersion(version);
  const sent: string[] = [];
  const sender: SessionSender = {
    edition,
    isOpen: true,
    author: undefined,
    client: { info: undefined, capabilities: features },
    openUrls: new Set(),
    dialect: undefined,
    terminalOutput: new TerminalOutputs(),
    mcpNotices: new McpNotices(),
    successor: undefined,
    log: () => undefined,
    rules: undefined,
    checkUpdate: (sessionId, update) => ({ sessionId, update }),
    maxSentBytes: 1_000_000,
    checkSize: () => undefined,
    sendEncoded(_sessionId, _update, text) {
      const { update } = JSON.parse(text).params as SentParams;
      const said = (update.content ?? {}) as { text?: string };
      sent.push([update.sessionUpdate, said.text].filter(Boolean).join(" "));
      return undefined;
    },
    takesLines: false,
    sendLines: () => undefined,
    sendUpdate: (sessionId, update) =>
      sender.sendEncoded(sessionId, update, JSON.stringify({ params: { update } })),
    request,
    notify: () => undefined,
    requestExtension: () => Promise.reject(new Error("no answer")),
  };
  return { sender, sent };
}

async function openSession(sender: SessionSender, prompt: () => undefined = () => undefined) {
  const store = memoryStore();
  const sessionId = "s";
  const claim = await store.create({
    sessionId,
    cwd: "/",
    additionalDirectories: [],
    createdAt: 0,
    updatedAt: 0,
    config: {},
  });
  const unexpected = (error?: unknown) => assert.fail(String(error));
  const log = new LogWriter(store, claim, {
    head: { lastSeq: 0 },
    maxUnstored: 1_000,
    fail: unexpected,
    full: unexpected,
  });
  const activation = { cwd: "/", additionalDirectories: [], mcpServers: [] };
  const definition = { name: "test", version: "1", prompt };
  return {
    store,
    session: new ServedSession({ sessionId, activation, definition, hasUserTitle: false }, sender, log),
  };
}

function chunk(text: string) {
  return {
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "text", text },
  } as const;
}

test("a session that is attached to another connection sends there, and keeps one history", async () => {
  const first = await recordingSender(1);
  const second = await recordingSender(1);
  const { session, store } = await openSession(first.sender);
  void session.update(chunk("one"));
  session.attach(second.sender);
  void session.update(chunk("two"));
  await session.close();
  assert.deepEqual(first.sent, ["agent_message_chunk one"]);
  assert.deepEqual(second.sent, ["agent_message_chunk two"]);
  const texts = [];
  for await (const { tag, text } of storedEntries(store, "s"))
    if (tag === "agent_message_chunk") texts.push(JSON.parse(text).content);
  assert.deepEqual(texts, [{ type: "text", text: "onetwo" }]);
});

test("what waits for the store is encoded for the connection that is there when it is sent", async () => {
  const first = await recordingSender(1);
  const second = await recordingSender(2);
  const { session } = await openSession(first.sender);
  const call = { sessionUpdate: "tool_call_update", toolCallId: "t", title: "Read it" } as const;
  const stored = session.updates.updateStored({ ...call, status: "completed" });
  session.attach(second.sender);
  await stored;
  // version 1 would have announced a tool_call
  assert.deepEqual([first.sent, second.sent], [[], ["tool_call_update"]]);
  await session.close();
});

test("a turn that runs while its session is attached elsewhere ends there", async () => {
  const first = await recordingSender(2);
  const second = await recordingSender(2);
  const { session } = await openSession(first.sender, () => void session.attach(second.sender));
  const ended = Promise.withResolvers<void>();
  session.prompt({
    prompt: [{ type: "text", text: "hello" }],
    messageId: "p",
    inserted: () => undefined,
    ended: () => ended.resolve(),
    refused: assert.fail,
    withdrawn: assert.fail,
  });
  await ended.promise;
  assert.deepEqual(
    first.sent,
    ["user_message", "state_update", "state_update"],
    "it is told that this is its end",
  );
  await session.close();
  assert.deepEqual(second.sent, ["state_update"]);
});

test("the answer of a client that was replaced lets nothing out that waits for the answer of the next", async () => {
  const first = await recordingSender(2);
  const second = await recordingSender(2);
  const asked: string[] = [];
  const third = await recordingSender(2, (method) => {
    asked.push(method);
    return Promise.resolve({ outcome: { outcome: "cancelled" } });
  });
  const { session, store } = await openSession(first.sender);
  const history = guardedStore(store, () => undefined).history("s");
  const overs: (() => void)[] = [];
  let asking: Promise<unknown> | undefined;
  for (const { sender } of [second, third]) {
    session.attach(sender);
    overs.push(await session.updates.comeBack(history, { isNewClient: true }));
    asking ??= new Questions(session.updates, new AbortController().signal).permission({ title: "May I?" });
  }
  void session.update(chunk("new"));
  overs[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([third.sent.includes("agent_message_chunk new"), asked], [false, []]);
  overs[1]?.();
  await asking;
  assert.deepEqual([third.sent.includes("agent_message_chunk new"), asked.length], [true, 1]);
  await session.close();
});
