import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Entry } from "@parley/acp";
import { memoryStore, parseEntry, type SessionStore, serializeEntry } from "@parley/acp/store";
import {
  calls,
  connected,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  toolStories,
  toolUpdates,
  written,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead, stubWrite } from "../../test/support/stub-tools.ts";
import type { ModelMessage } from "../model/model.ts";
import { codingTools } from "../tools/coding-tools.ts";

const tools = [stubRead, stubWrite];

/** A conversation that every model takes: it begins with the user, and every call has one outcome right behind it. */
function assertValid(messages: readonly ModelMessage[]): void {
  assert.equal(messages[0]?.role, "user");
  for (const [i, message] of messages.entries()) {
    const ids =
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []))
        : [];
    const next = messages[i + 1];
    const told = next?.role === "tool" ? next.outcomes.map(({ callId }) => callId) : [];
    assert.deepEqual(told, ids, `message ${i}`);
  }
}

/** Reads two files at once, then writes in order, then speaks. */
const turn = () => [
  [{ type: "thinking" as const, text: "hm" }, ...calls(["read", { path: "a" }], ["read", { path: "a" }])],
  [
    { type: "text" as const, text: "Now " },
    ...written(["write", { path: "b", content: "1" }], ["write", { path: "c", content: "2" }]),
  ],
  says("done"),
];

inEveryVersion("a cancel at any update leaves a valid conversation", { a: "1" }, async (setup) => {
  let at = 0;
  for (let isOver = false; !isOver; at++) {
    const model = scriptedModel([...turn(), ...turn()]);
    const { session, agent, end } = await talk({
      ...setup,
      tools,
      models: [model],
      answers: Array(20).fill("allow_once"),
    });
    let seen = 0;
    session.onUpdate(() => {
      if (seen++ === at) session.cancel();
    });
    const { stopReason } = await session.prompt("go").result;
    isOver = stopReason === "end_turn";
    const asked = model.requests.length;
    await session.prompt("and now?").result;
    for (const { messages } of model.requests.slice(asked)) assertValid(messages);
    await agent.close();
    await end();
  }
  assert.ok(at > 15, `${at} updates of a turn were tried`);
});

inEveryVersion("a cancel while a question is open leaves a valid conversation", { a: "1" }, async (setup) => {
  for (const at of [1, 2]) {
    const model = scriptedModel([...turn(), says("ok")]);
    let asked = 0;
    const { session } = await talk({
      ...setup,
      tools,
      models: [model],
      clientDefinition: {
        requestPermission: (_, { session: asking }) => {
          if (++asked === at) asking?.cancel();
          return "allow_once";
        },
      },
    });
    assert.equal((await session.prompt("go").result).stopReason, "cancelled");
    await session.prompt("and now?").result;
    assertValid(model.requests.at(-1)?.messages ?? []);
  }
});

inEveryVersion(
  "F12 a cancel before anything was said, twice, with the answer under way and after the end leaves one outcome",
  {},
  async (setup) => {
    const model = scriptedModel([says("one"), says("two"), says("three"), says("four")]);
    const { session, updates } = await talk({ ...setup, tools, models: [model] });
    const early = session.prompt("go");
    session.cancel();
    session.cancel();
    assert.equal((await early.result).stopReason, "cancelled");
    const asked = model.requests.length;
    session.cancel();
    assert.equal(
      (await session.prompt("and now?").result).stopReason,
      "end_turn",
      "a late cancel is of no turn",
    );
    assert.equal(model.requests.length, asked + 1);
    // the last words are here, the end is under way
    let hasEnded = false;
    session.onUpdate((update) => {
      if (hasEnded || update.sessionUpdate !== "agent_message_chunk") return;
      hasEnded = true;
      session.cancel();
    });
    assert.equal((await session.prompt("once more").result).stopReason, "cancelled");
    updates.length = 0;
    assert.equal((await session.prompt("at last").result).stopReason, "end_turn");
    assertValid(model.requests.at(-1)?.messages ?? []);
  },
);

async function entriesOf(store: SessionStore, sessionId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const page of store.read(sessionId)) entries.push(...page.map(parseEntry));
  return entries;
}

/** What a process that is killed now leaves behind; with `length`, when it had stored so many entries. */
async function copyOf(store: SessionStore, sessionId: string, length = Infinity): Promise<SessionStore> {
  const copy = memoryStore();
  const record = await store.get(sessionId);
  assert.ok(record !== undefined);
  const claim = await copy.create(record);
  const entries = (await entriesOf(store, sessionId)).slice(0, length);
  await copy.append(claim, 0, entries.map(serializeEntry));
  await copy.release(claim);
  return copy;
}

inEveryVersion(
  "a history cut anywhere by a crash rebuilds to a valid conversation",
  { a: "1" },
  async (setup) => {
    const store = memoryStore();
    const model = scriptedModel([...turn(), says("A summary."), ...turn()]);
    const answers = Array<string>(20).fill("allow_once");
    const whole = await talk({ ...setup, tools, models: [model], answers, store });
    const { sessionId } = whole.session;
    for (const words of ["go", "/compact", "again"]) await whole.session.prompt(words).result;
    await whole.end();
    const { length } = await entriesOf(store, sessionId);
    assert.ok(length > 50, `${length} entries`);
    for (let kept = 1; kept <= length; kept++) {
      const left = await copyOf(store, sessionId, kept);
      const later = scriptedModel([says("Let us see.")]);
      const again = await connected({ ...setup, tools, models: [later], store: left });
      const session = await again.agent.loadSession(sessionId, { cwd: setup.cwd });
      assert.equal((await session.prompt("and?").result).stopReason, "end_turn");
      assertValid(later.requests[0]?.messages ?? []);
      await again.end();
    }
  },
);

inEveryVersion(
  "a session whose process was killed in the middle of a call loads and goes on",
  { a: "1" },
  async (setup) => {
    const store = memoryStore();
    const reached = Promise.withResolvers<void>();
    const gate = customTool("gate", async ({ signal }) => {
      reached.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return "never";
    });
    const model = scriptedModel([calls(["read", { path: "a" }]), calls(["gate", {}])]);
    const killed = await talk({ ...setup, tools: [...tools, gate], models: [model], store });
    void killed.session.prompt("go").result.catch(() => undefined);
    await reached.promise;
    const left = await copyOf(store, killed.session.sessionId);

    const later = scriptedModel([says("Let us see.")]);
    const again = await connected({ ...setup, tools, models: [later], store: left });
    const session = await again.agent.loadSession(killed.session.sessionId, { cwd: setup.cwd });
    assert.equal((await session.prompt("what happened?").result).stopReason, "end_turn");
    const { messages = [] } = later.requests[0] ?? {};
    assertValid(messages);
    assert.match(JSON.stringify(messages), /interrupted; how far it got is unknown/);
    assert.match(JSON.stringify(messages[2]), /"1"/, "what had ended is told as it was");
    killed.session.cancel();
  },
);

test("the user may cancel one call and let the agent go on", { timeout: 20_000 }, async (context) => {
  const cwd = temporaryFolder(context, {});
  const reached = Promise.withResolvers<void>();
  const slow = customTool("slow", async ({ signal }) => {
    reached.resolve();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return "never";
  });
  const model = scriptedModel([calls(["slow", {}]), says("Then not.")]);
  const { session, updates } = await talk({ version: 2, cwd, tools: [slow], models: [model] });
  const prompt = session.prompt("go");
  await reached.promise;
  await session.cancelToolCall(toolUpdates(updates)[0]?.toolCallId ?? "");
  assert.equal((await prompt.result).stopReason, "end_turn");
  assert.deepEqual(toolStories(updates), ["slow: pending > in_progress > cancelled"]);
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /The user cancelled this call/);
});

inEveryVersion(
  "F27 a working directory that is deleted in a turn fails in words, and the session is usable when it is back",
  { "sub/a": "one" },
  async (setup) => {
    const cwd = join(setup.cwd, "sub");
    const vanish = customTool("vanish", async () => {
      rmSync(cwd, { recursive: true });
      return "gone";
    });
    const model = scriptedModel([
      calls(["write", { path: "b", content: "1" }], ["vanish", {}], ["write", { path: "c", content: "2" }]),
      says("It failed."),
      calls(["read", { path: "a" }]),
      says("It is back."),
    ]);
    const { session, updates } = await talk({
      ...setup,
      cwd,
      models: [model],
      mode: "code",
      tools: [...codingTools, vanish],
    });
    assert.equal((await session.prompt("write").result).stopReason, "end_turn");
    assert.deepEqual(
      toolStories(updates).map((story) => story.split(" > ").at(-1)),
      ["completed", "completed", "failed"],
    );
    const told = model.requests[1]?.messages.at(-1);
    assert.ok(told?.role === "tool");
    assert.ok(JSON.stringify(told.outcomes[2]).includes(cwd), "it names the path");
    const { stopReason, error } = await session.prompt("and now?").result;
    assert.equal(stopReason, "error");
    assert.ok(error?.message.includes(cwd), error?.message);
    mkdirSync(cwd);
    writeFileSync(join(cwd, "a"), "two");
    assert.equal((await session.prompt("and now?").result).stopReason, "end_turn");
    assert.match(toolStories(updates).at(-1) ?? "", /completed$/);
  },
);
