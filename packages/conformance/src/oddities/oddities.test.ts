import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair } from "@parley/acp/transport";
import { type Oddity, oddities } from "@parley/conformance";
import {
  type AgentEvent,
  type ClientRecord,
  scriptedAgent,
  scriptedClient,
} from "@parley/conformance/testing";

interface Item {
  readonly kind: string;
  readonly status?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly sessionUpdate?: string;
}
interface View {
  readonly timeline: readonly Item[];
  readonly terminals: readonly {
    readonly output: { readonly text: string };
    readonly exitStatus?: unknown;
  }[];
  readonly commands: readonly { readonly name: string }[];
  readonly configOptions: readonly { readonly configId: string }[];
  readonly mode?: { readonly value: string };
  readonly title?: string;
}
type Expectation = (record: ClientRecord, events: readonly AgentEvent[]) => void;

// as: a view's snapshot is plain JSON of this shape
const viewOf = ({ sessions }: ClientRecord, name = "main") => sessions[name]?.view as View;
const saidIn = (record: ClientRecord, name?: string) =>
  viewOf(record, name)
    .timeline.filter(({ kind }) => kind === "agent_message")
    .flatMap(({ content = [] }) => content.map(({ text }) => text))
    .join("|");
const lastStep = ({ steps }: ClientRecord) => steps.at(-1);
const toolStatus = (record: ClientRecord) =>
  viewOf(record).timeline.find(({ kind }) => kind === "tool_call")?.status;
const answered = (events: readonly AgentEvent[]) => events.find(({ event }) => event === "called")?.answer;

const completes: Expectation = (record) => assert.equal(toolStatus(record), "completed");
const says =
  (words: string, session?: string): Expectation =>
  (record) =>
    assert.equal(saidIn(record, session), words);
const fails =
  (error: object): Expectation =>
  (record) =>
    assert.deepEqual(lastStep(record)?.error, error);
const ends =
  (outcome: object): Expectation =>
  (record) =>
    assert.deepEqual(lastStep(record)?.result, outcome);
const closes: Expectation = (record) => assert.equal(lastStep(record)?.error?.kind, "closed");
const hasMode: Expectation = (record) => assert.match(String(viewOf(record).mode?.value), /#plan$/);

/** What this library makes of each; where nothing is listed, the prompt ends well and its text is shown. */
const expectations: Readonly<Partial<Record<keyof typeof oddities, Expectation>>> = {
  "updates-before-the-session": (record) => assert.equal(viewOf(record).commands[0]?.name, "init"),
  "fork-replayed-before-its-answer": says("from before the fork|fine", "forked"),
  "history-with-fields-of-its-own": says("as I said|fine"),
  "load-replays-after-its-answer": says("as I said|fine"),
  "load-of-a-live-session-refused": fails({ code: -32602, message: "old is already loaded" }),
  "unknown-session-invalid-params": fails({ code: -32602, message: "session not found" }),
  "unknown-session-internal-error": fails({ code: -32603, message: "Internal error" }),
  "unknown-session-own-code": fails({ code: -32001, message: "no such session" }),
  "fields-outside-the-schema": (record) =>
    assert.deepEqual(
      viewOf(record).configOptions.map(({ configId }) => configId),
      ["_model"],
    ),
  "odd-options": (record) => assert.equal(viewOf(record).configOptions.length, 4),
  "mode-answered-by-mode-update": hasMode,
  "mode-answered-by-options": hasMode,
  "mode-answered-by-vendor": hasMode,
  "mode-answered-by-text": (record) => {
    hasMode(record, []);
    says("[MODE_UPDATE] plan|fine")(record, []);
  },
  "mode-answered-by-nothing": hasMode,
  "null-cursor": (record) => assert.deepEqual((lastStep(record)?.result as unknown[] | undefined)?.length, 1),
  "null-load-result": (record) => assert.equal(lastStep(record)?.error, undefined),
  "tool-call-after-its-updates": completes,
  "question-about-an-unannounced-call": completes,
  "unannounced-call-only-updated": completes,
  "refused-call-never-announced": says("As you like."),
  "in-progress-before-asking": completes,
  "completed-from-nothing": completes,
  "terminal-nobody-created": (record) => {
    completes(record, []);
    assert.equal(viewOf(record).terminals[0]?.output.text, "from-shell\n");
  },
  "null-usage": ends({ stopReason: "end_turn" }),
  "unknown-updates": (record) => {
    const kinds = viewOf(record).timeline.map(({ kind, sessionUpdate }) => sessionUpdate ?? kind);
    assert.deepEqual(kinds, [
      "user_message",
      "current_model_update",
      "available_modes_update",
      "prompt_received",
      "agent_message",
      "turn_complete",
    ]);
  },
  "text-after-the-answer": says("late"),
  "updates-outside-turns": (record) => {
    assert.equal(viewOf(record).title, "Later");
    says("fine|Info: Operation cancelled by user")(record, []);
  },
  "refusal-cancels-the-turn": ends({ stopReason: "cancelled" }),
  "http-status-as-code": ends({
    stopReason: "error",
    error: { kind: "other", code: 400, message: "Bad Request" },
  }),
  "error-as-text": says("Error: 400 Bad Request"),
  "failure-says-nothing": says(""),
  "start-up-failure": fails({ code: 1001, message: "codex failed to start" }),
  "unknown-stop-reason": ends({ stopReason: "aborted" }),
  "missing-file-then-write": (record) => assert.deepEqual(record.files, { "/project/new.txt": "new\n" }),
  "vendor-methods": (_, events) =>
    assert.equal((answered(events) as { error: { code: number } }).error.code, -32601),
  "answers-twice": says("fine|fine"),
  "ids-as-text": says("fine|fine"),
  "answer-without-its-id": closes,
  "prompt-never-answered": closes,
  "cancel-ignored": ends({ stopReason: "cancelled" }),
  "half-a-line-and-death": closes,
  crash: closes,
  killed: closes,
  hang: closes,
  flood: says("x".repeat(5000)),
  "batch-ends-the-agent": (record) => assert.deepEqual(record.steps, [{ step: "until", result: "closed" }]),
  "cancel-with-a-reason": ends({ stopReason: "cancelled" }),
  "files-that-fail": (_, events) =>
    assert.deepEqual(
      events.filter(({ event }) => event === "failed").map(({ code }) => code),
      [-32603, -32603],
    ),
  "question-cancelled": says("no answer"),
  "option-never-offered": says("no answer"),
  "unoffered-form-answered": (_, events) =>
    assert.deepEqual(answered(events), { action: "cancel", _meta: { by: "client" } }),
  "client-dies": closes,
};

const goesWell: Expectation = (record) => {
  assert.deepEqual(
    record.steps.filter(({ error }) => error !== undefined),
    [],
  );
  assert.equal(saidIn(record), "fine");
};

for (const [name, { what, agent, client }] of Object.entries<Oddity>(oddities)) {
  test(`${name}: ${what}`, { timeout: 20_000 }, async () => {
    const [near, far] = memoryPair();
    const played = scriptedAgent(agent);
    played.connect(far);
    const record = await scriptedClient(client).run(near);
    // as: the keys of the table
    (expectations[name as keyof typeof oddities] ?? goesWell)(record, played.events);
  });
}

test("every oddity fits into a file", () => {
  for (const { agent, client } of Object.values<Oddity>(oddities)) {
    scriptedAgent(JSON.parse(JSON.stringify(agent)));
    scriptedClient(JSON.parse(JSON.stringify(client)));
  }
});
