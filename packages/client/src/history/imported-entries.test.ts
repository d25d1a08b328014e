// What an agent replays when a session is loaded is compared with the history, and only what is new is appended.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Entry, textOf } from "@parley/acp";
import type { EntryBody } from "@parley/acp/store";
import { openHistory } from "@parley/client/history";
import { historyFile, SessionRecording } from "@parley/client/internal";

const folder = mkdtempSync(join(tmpdir(), "parley-imported-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const agent = { name: "claude" };
const failed = (error: unknown) => assert.fail(String(error));
const session = { sessionId: "s", cwd: "/project" };

const text = (said: string) => ({ type: "text" as const, text: said });
const asks = (said: string): EntryBody => ({ kind: "prompt", messageId: `p ${said}`, prompt: [text(said)] });
const ends = (said: string): EntryBody => ({
  kind: "result",
  messageId: `p ${said}`,
  result: { stopReason: "end_turn" },
});
const says = (said: string, messageId = said): EntryBody => ({
  kind: "update",
  update: { sessionUpdate: "agent_message_chunk", messageId, content: text(said) },
});
const calls = (toolCallId: string): EntryBody => ({
  kind: "update",
  update: { sessionUpdate: "tool_call_update", toolCallId, title: toolCallId, status: "completed" },
});
/** As agents replay a message of the user. */
const asked = (said: string): EntryBody => ({
  kind: "update",
  update: { sessionUpdate: "user_message_chunk", messageId: `r ${said}`, content: text(said) },
});

const entries = (bodies: readonly EntryBody[]): Entry[] =>
  bodies.map((body, at) => ({ format: 1, seq: at + 1, time: 1, ...body }));

/** A history, and the steps of one session in it. */
function history() {
  const opened = historyFile(
    openHistory({ path: join(folder, `${++files}.db`), secrets: ["hunter2-hunter2"] }),
  );
  async function recorded(
    how: "new" | "loaded",
    replayed: readonly EntryBody[],
    live: readonly EntryBody[],
  ): Promise<string[]> {
    const recording = new SessionRecording(async () => opened, { agent, failed });
    recording.begin({ ...session, how, replayed: entries(replayed) });
    for (const entry of entries(live)) recording.entry(entry);
    await recording.close();
    const words: string[] = [];
    for await (const entry of opened.entries(recording.id ?? "")) words.push(wordOf(entry));
    return words;
  }
  return { recorded, close: () => opened.close() };
}

function wordOf(entry: Entry): string {
  if (entry.kind === "imported") return `imported ${entry.count}`;
  if (entry.kind === "prompt") return `> ${entry.prompt.map((block) => textOf(block)).join("")}`;
  if (entry.kind !== "update") return entry.kind;
  const { update } = entry;
  if (update.sessionUpdate === "tool_call_update") return `tool ${update.toolCallId}`;
  if (update.sessionUpdate === "user_message_chunk") return `>> ${textOf(update.content)}`;
  return update.sessionUpdate === "agent_message_chunk" ? textOf(update.content) : update.sessionUpdate;
}

test("a session that the history does not have is imported once, in as many entries as it says", async () => {
  const { recorded, close } = history();
  const replay = [asked("one"), says("Hel", "m"), says("lo", "m"), calls("t"), calls("t"), says("Done.")];
  const imported = ["imported 4", ">> one", "Hello", "tool t", "Done."];
  assert.deepEqual(await recorded("loaded", replay, []), imported);
  assert.deepEqual(await recorded("loaded", replay, []), imported);
  const live = ["> two", "Yes.", "result"];
  const turn = [asks("two"), says("Yes."), ends("two")];
  assert.deepEqual(await recorded("loaded", replay, turn), [...imported, ...live]);
  const more = [...replay, asked("two"), says("Yes.")];
  assert.deepEqual(await recorded("loaded", more, []), [...imported, ...live]);
  await close();
});

test("what another client did in the session meanwhile is appended behind our end, once", async () => {
  const { recorded, close } = history();
  const own = [asks("one"), says("1"), ends("one"), asks("two"), says("2"), calls("t"), ends("two")];
  const words = await recorded("new", [], own);
  const replay = [
    asked("one"),
    says("1"),
    asked("two"),
    says("2"),
    calls("t"),
    asked("three"),
    says("3"),
    calls("u"),
  ];
  const now = [...words, "imported 3", ">> three", "3", "tool u"];
  assert.deepEqual(await recorded("loaded", replay, []), now);
  assert.deepEqual(await recorded("loaded", replay, []), now);
  await close();
});

test("a turn whose end nobody recorded is completed, and a text goes on where it was cut off", async () => {
  const { recorded, close } = history();
  const words = await recorded(
    "new",
    [],
    [asks("one"), says("1"), ends("one"), asks("two"), says("The an", "m")],
  );
  const replay = [asked("one"), says("1"), asked("two"), says("The answer\nis 2.", "x"), calls("t")];
  // the crash interrupted what we recorded; the agent went on
  const now = [...words, "result", "imported 2", "swer\nis 2.", "tool t"];
  assert.deepEqual(await recorded("loaded", replay, []), now);
  assert.deepEqual(await recorded("loaded", replay, []), now, "once");
  await close();
});

test("a prompt that the agent never got changes nothing", async () => {
  const { recorded, close } = history();
  const words = await recorded("new", [], [asks("one"), says("1"), ends("one"), asks("lost")]);
  assert.deepEqual(await recorded("loaded", [asked("one"), says("1")], []), [...words, "result"]);
  await close();
});

test("a turn that is replayed in other words, and another conversation, are not recorded twice", async () => {
  const { recorded, close } = history();
  const words = await recorded("new", [], [asks("one"), says("1"), ends("one"), asks("two"), says("2")]);
  for (const replay of [
    [asked("one"), says("in other words"), asked("two"), says("in other words"), calls("new id")],
    [asked("a summary of what was said"), says("1")],
    [says("no prompt at all")],
  ])
    assert.deepEqual(await recorded("loaded", replay, []), [...words, "result"]);
  await close();
});

test("a secret in what is replayed is not stored, and does not make it another conversation", async () => {
  const { recorded, close } = history();
  const words = await recorded(
    "new",
    [],
    [asks("use hunter2-hunter2"), says("I use hunter2-hunter2."), ends("use hunter2-hunter2")],
  );
  assert.ok(
    words.every((word) => !word.includes("hunter2")),
    words.join("\n"),
  );
  const replay = [
    asked("use hunter2-hunter2"),
    says("I use hunter2-hunter2."),
    asked("again hunter2-hunter2"),
  ];
  const now = await recorded("loaded", replay, []);
  assert.equal(now.length, words.length + 2);
  assert.ok(
    now.every((word) => !word.includes("hunter2")),
    now.join("\n"),
  );
  await close();
});
