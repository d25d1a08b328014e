import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import type { Entry, SessionUpdate } from "@parley/acp";
import type { EntryBody } from "@parley/acp/store";
import {
  exportSession,
  type History,
  type HistoryOptions,
  type HistorySession,
  openHistory,
} from "@parley/client/history";
import { type HistoryFile, historyFile, SessionRecording } from "@parley/client/internal";

const folder = mkdtempSync(join(tmpdir(), "parley-history-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `${++files}.db`);

const opened = (options: HistoryOptions) => historyFile(openHistory(options));

const agent = { name: "claude" };
const text = (words: string) => ({ type: "text" as const, text: words });
const says = (words: string, messageId = "m"): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: text(words),
});

function numbered(bodies: readonly EntryBody[]): Entry[] {
  return bodies.map((body, at) => ({ format: 1, seq: at + 1, time: 1_700_000_000_000 + at, ...body }));
}

function turn(prompt: string, updates: readonly SessionUpdate[]): Entry[] {
  return numbered([
    { kind: "prompt", messageId: "u", prompt: [text(prompt)] },
    ...updates.map((update): EntryBody => ({ kind: "update", update })),
    { kind: "result", messageId: "u", result: { stopReason: "end_turn" } },
  ]);
}

const failed = (error: unknown) => assert.fail(String(error));

/** The agent gives all its sessions the same id, as one does that counts them from its start on. */
async function recorded(history: HistoryFile, entries: readonly Entry[], name?: string) {
  const recording = new SessionRecording(async () => history, { agent, failed, name });
  recording.begin({ sessionId: "s1", cwd: "/project", how: "new" });
  for (const entry of entries) recording.entry(entry);
  await recording.close();
  return recording.id ?? assert.fail("it has begun");
}

async function entriesOf(history: History, id: string): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of history.entries(id)) found.push(entry);
  return found;
}

test("a session of any agent is listed, found by its words, and shown", async () => {
  const history = opened({ path: newPath() });
  const id = await recorded(
    history,
    turn("Fix the failing test", [says("The comma "), says("was missing.")]),
  );
  await recorded(history, turn("Something else", [says("Done.")]));

  const [, session] = await history.list();
  assert.equal(session?.id, id);
  assert.equal(session?.title, "Fix the failing test");
  assert.equal(session?.agent.name, "claude");
  assert.equal(session?.agentSessionId, "s1");
  const [hit, ...others] = await history.search("comma missing");
  assert.equal(hit?.session.id, id);
  assert.match(hit?.snippet ?? "", /comma/);
  assert.deepEqual(others, []);
  assert.equal((await history.find(id.slice(0, 5)))?.id, id, "the beginning of an id will do");
  await history.close();
});

test("text that comes in pieces is kept in one, and what every session says is not kept", async () => {
  const history = opened({ path: newPath() });
  const updates: SessionUpdate[] = [
    { sessionUpdate: "available_commands_update", availableCommands: [] },
    ...Array.from({ length: 500 }, () => says("a")),
    { sessionUpdate: "tool_call_update", toolCallId: "t", title: "Run", status: "pending" },
    { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" },
    says("b", "n"),
  ];
  const entries = await entriesOf(history, await recorded(history, turn("go", updates)));
  const kept = entries.flatMap((entry) => (entry.kind === "update" ? [entry.update] : []));
  assert.deepEqual(
    kept.map((update) => update.sessionUpdate),
    ["agent_message_chunk", "tool_call_update", "agent_message_chunk"],
  );
  assert.deepEqual(kept[0], says("a".repeat(500)));
  assert.equal(kept[1]?.sessionUpdate === "tool_call_update" && kept[1].status, "completed");
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  await history.close();
});

test("a session is gone on with by its name, and its entries follow each other", async () => {
  const path = newPath();
  const first = opened({ path });
  const id = await recorded(first, turn("one", [says("1")]), "nightly");
  await first.close();

  const second = opened({ path });
  const known = await second.find("nightly", { agent, cwd: "/project" });
  assert.equal(known?.id, id);
  assert.equal(await second.find("nightly", { agent, cwd: "/elsewhere" }), undefined);
  assert.equal((await second.find("nightly", { agent, cwd: "/project/" }))?.id, id, "the same directory");
  assert.equal((await second.find("nightly"))?.id, id);
  const recording = new SessionRecording(async () => second, { agent, failed, known });
  recording.begin({ sessionId: "s2", cwd: "/project", how: "new" });
  for (const entry of turn("two", [says("2")])) recording.entry(entry);
  await recording.close();
  assert.deepEqual(
    (await entriesOf(second, id)).map(({ seq }) => seq),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal((await second.find(id))?.agentSessionId, "s2");
  assert.equal((await second.find(id))?.title, "one");
  await second.close();
});

test("a session whose agent was restarted stays one session of the history", async () => {
  const history = opened({ path: newPath() });
  const recorder = new SessionRecording(async () => history, { agent, failed });
  recorder.begin({ sessionId: "before", cwd: "/project" });
  // before the store is open: nothing is lost
  const [prompt, ...rest] = turn("go", [says("on")]);
  recorder.entry(prompt!);
  const id = recorder.id!;
  recorder.begin({ sessionId: "after", cwd: "/project" });
  for (const entry of rest) recorder.entry(entry);
  await recorder.close();
  assert.equal((await history.list()).length, 1);
  assert.equal((await history.find(id))?.agentSessionId, "after");
  assert.equal((await entriesOf(history, id)).length, 3);
  await history.close();
});

test("a session that cannot be gone on with is free again", async () => {
  const path = newPath();
  const first = opened({ path });
  const id = await recorded(first, turn("one", [says("1")]));
  /** A record of another session is damage. */
  const damage = (as: string) => {
    using db = new DatabaseSync(path);
    db.prepare("UPDATE session SET record = json_set(record, '$.sessionId', ?) WHERE id = ?").run(as, id);
  };
  damage("another");
  const told: unknown[] = [];
  const known = { id, agent, cwd: "/project", agentSessionId: "s1" } as HistorySession; // as: what is read of it
  const recording = new SessionRecording(async () => first, {
    agent,
    failed: (error) => told.push(error),
    known,
  });
  recording.begin({ sessionId: "s2", cwd: "/project" });
  await recording.ready();
  assert.equal(told.length, 1);
  damage(id);
  const second = opened({ path });
  await second.claim(id);
  await assert.rejects(first.claim(id), { kind: "conflict" });
  await second.release(id);

  await first.claim(id);
  await first.close();
  await second.close();
});

test("a history that cannot be written is told once and stops nobody", async () => {
  const told: unknown[] = [];
  const history = opened({ path: "/dev/null/history.db" });
  const recorder = new SessionRecording(async () => history, { agent, failed: (error) => told.push(error) });
  recorder.begin({ sessionId: "s", cwd: "/project" });
  for (const entry of turn("go", [says("on")])) recorder.entry(entry);
  await recorder.close();
  assert.equal(told.length, 1);
});

test("what is deleted is gone: listed, found and searched no more", async () => {
  const history = opened({ path: newPath() });
  const id = await recorded(history, turn("secret plans", [says("of mine")]));
  await history.delete(id);
  assert.deepEqual(await history.list(), []);
  assert.deepEqual(await history.search("plans"), []);
  await assert.rejects(history.delete(id), /no session/);
  await history.close();
});

test("an export has no secret: not by its place, not by its value, not in pieces, not late", async () => {
  const history = opened({ path: newPath() });
  const value = "hunter2-hunter2-hunter2";
  const id = await recorded(
    history,
    turn(`use ${value}`, [
      says("the key is sk-ant-api03-0123"),
      says("456789abcdefghij, as you know"),
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "t",
        title: "Call it",
        kind: "execute",
        status: "completed",
        rawInput: { env: [{ name: "X_TOKEN", value: "by-its-place-1234" }] },
        content: [{ type: "content", content: text(`Authorization: Bearer abcdef0123456789 ${value}`) }],
      },
      says("by-its-place-1234", "late"),
    ]),
  );
  const session = (await history.find(id))!;
  const entries = await entriesOf(history, id);
  for (const format of ["markdown", "json"] as const) {
    const { text: exported, secrets } = await exportSession(session, entries, { format, secrets: [value] });
    assert.doesNotMatch(exported, /hunter2|sk-ant|456789abcdefghij|by-its-place|abcdef0123456789/, format);
    assert.ok(secrets >= 3, `${secrets}`);
    assert.match(exported, /Call it/);
  }
  const { text: raw } = await exportSession(session, entries, { format: "json", raw: true });
  assert.deepEqual(JSON.parse(raw).entries, entries);
  await history.close();
});

test("a session as Markdown says who said what, with diffs and outputs that no fence of theirs ends", async () => {
  const history = opened({ path: newPath() });
  const id = await recorded(
    history,
    turn("Fix it", [
      { sessionUpdate: "agent_thought_chunk", messageId: "t", content: text("Hm.\nYes.") },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "t",
        title: "Edit a.md",
        kind: "edit",
        status: "completed",
        content: [{ type: "diff", changes: [], path: "/project/a.md", oldText: "```\n", newText: "````\n" }],
      },
      says("Fixed."),
    ]),
  );
  const { text: exported } = await exportSession((await history.find(id))!, await entriesOf(history, id), {
    format: "markdown",
  });
  assert.match(exported, /^# Fix it\n\n- agent: claude\n- directory: `\/project`/);
  assert.match(
    exported,
    /## User\n\n> Fix it\n\n\*Thought:\*\n\n> Hm\.\n> Yes\.\n\n\*\*Edit a\.md\*\* \(edit, completed\)\n\n`````diff\n/,
  );
  assert.match(exported, /-```\n\+````\n`````\n\n## Agent\n\n> Fixed\.\n$/);
  await history.close();
});

test("nothing that an agent says in Markdown speaks for the user, hides what follows or acts on a terminal", async () => {
  const history = opened({ path: newPath() });
  const tool = {
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    kind: "edit",
    status: "completed",
  } as const;
  const id = await recorded(
    history,
    turn("Fix it", [
      says("Done.\r\n\r\n## User\r\n\r\nDelete all\u001b[2J\n<!--\n```"),
      { ...tool, title: "Edit <details>\n# a" },
    ]),
  );
  const { text: exported } = await exportSession((await history.find(id))!, await entriesOf(history, id), {
    format: "markdown",
  });
  assert.equal(exported.match(/^## User$/gm)?.length, 1);
  assert.match(
    exported,
    /\n> ## User\n>\n> Delete all\\u001b\[2J\n> <!--\n> ```\n\n\*\*Edit \\<details> # a\*\*/,
  );
  await history.close();
});

test("an exported page holds all of it as text: nothing of it runs, is loaded, or ends a block", async () => {
  const history = opened({ path: newPath() });
  const hostile =
    '<script>alert(1)</script>\n```\n</blockquote><img src=x onerror=alert(2)>\n## User\n> & "quoted"';
  const id = await recorded(
    history,
    turn(hostile, [
      says(hostile),
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "t",
        title: "Edit <b onclick='x'> `a`",
        kind: "edit",
        status: "completed",
        content: [
          { type: "diff", path: "/a<i>", oldText: "</pre><b>old\n", newText: "</pre><b>new\n", changes: [] },
        ],
      },
    ]),
  );
  const { text: page } = await exportSession((await history.find(id))!, await entriesOf(history, id), {
    format: "html",
  });
  const tags = new Set(page.slice(page.indexOf("</style>") + 8).match(/<[^>]*>/g));
  const ours = "h1 h2 ul li p blockquote pre ins del strong em code".split(" ");
  for (const tag of tags)
    assert.ok(
      [...ours, "html"].some((name) => [`<${name}>`, `</${name}>`].includes(tag)),
      tag,
    );
  assert.equal(page.match(/<h2>/g)?.length, 2, "one of the user, one of the agent");
  assert.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(page, /<del>-&lt;\/pre&gt;&lt;b&gt;old<\/del>\n<ins>\+&lt;\/pre&gt;&lt;b&gt;new<\/ins>/);
  assert.match(page, /default-src 'none'/);
  await history.close();
});

test("a call that has ended stays what it was, whatever later turns do under its id", async () => {
  const history = opened({ path: newPath() });
  const call = (title: string): SessionUpdate => ({
    sessionUpdate: "tool_call_update",
    toolCallId: "call_1",
    title,
    kind: "execute",
    status: "completed",
  });
  const two = [...turn("One", [call("Remove all")]), ...turn("Two", [call("List files")])];
  const id = await recorded(
    history,
    two.map((entry, at) => ({ ...entry, seq: at + 1 })),
  );
  const { text: exported } = await exportSession((await history.find(id))!, await entriesOf(history, id), {
    format: "markdown",
  });
  assert.match(exported, /\*\*Remove all\*\*[\s\S]*\*\*List files\*\*/);
  await history.close();
});

test("what was open when a recording was killed has ended when the session is gone on with (F1, F11)", async () => {
  await using history = opened({ path: newPath() });
  // as a process that was killed leaves it: the turn has no end
  const id = await recorded(history, [
    ...turn("first", [says("done")]),
    ...numbered([
      { kind: "prompt", messageId: "second", prompt: [text("second")] },
      {
        kind: "update",
        update: { sessionUpdate: "tool_call_update", toolCallId: "t", title: "sleep", status: "in_progress" },
      },
    ]),
  ]);
  const before = await entriesOf(history, id);
  await history.claim(id);
  const added = (await entriesOf(history, id))
    .slice(before.length)
    .map(({ seq: _, time: _t, format: _f, ...body }) => body);
  assert.deepEqual(added, [
    { kind: "update", update: { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" } },
    { kind: "result", messageId: "second", result: { stopReason: "_interrupted" } },
  ]);
  await history.release(id);
  await history.claim(id);
  assert.equal((await entriesOf(history, id)).length, before.length + added.length, "once");
});
