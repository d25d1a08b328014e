// Each row of docs/bridge.md under "What is lost", from an agent of version 2 to a client of version 1: what becomes
// of it, and that the update, the answer and the log name it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Message, turnOfVersion2 } from "../../../test/support/raw-peer-probe.ts";

interface Row {
  readonly said: readonly Message[];
  readonly lost: string;
  /** What the client is told of the last thing that was said; nothing where it is left out. */
  readonly told?: Message;
}

const call = (fields: Message): Message => ({
  sessionUpdate: "tool_call_update",
  toolCallId: "t",
  ...fields,
});
const text = (text: string): Message => ({ type: "text", text });
const message = (content: readonly Message[]): Message => ({
  sessionUpdate: "agent_message",
  messageId: "m1",
  content,
});
const change = (operation: string, more: Message = {}): Message => ({
  type: "diff",
  changes: [{ operation, path: "/w/a.png", ...more }],
});

const rows: Readonly<Record<string, Row>> = {
  "a cancelled tool call": {
    said: [call({ title: "Dig", status: "cancelled" })],
    lost: "the status cancelled of a tool call",
    told: { sessionUpdate: "tool_call", status: "failed" },
  },
  "a paused tool call": {
    said: [call({ title: "Dig", status: "paused" })],
    lost: "the status paused of a tool call",
    told: { sessionUpdate: "tool_call", status: "in_progress" },
  },
  "a tool call of a status of its own": {
    said: [call({ title: "Dig", status: "_resting" })],
    lost: "the status _resting of a tool call",
    told: { sessionUpdate: "tool_call", status: "in_progress" },
  },
  "a cancelled entry of a plan": {
    said: [
      {
        sessionUpdate: "plan_update",
        plan: {
          type: "items",
          planId: "p",
          entries: [{ content: "x", priority: "low", status: "cancelled" }],
        },
      },
    ],
    lost: "a cancelled plan entry is shown as completed",
    told: { sessionUpdate: "plan", entries: [{ content: "x", priority: "low", status: "completed" }] },
  },
  "a plan of a type of its own": {
    said: [{ sessionUpdate: "plan_update", plan: { type: "_map", planId: "p" } }],
    lost: "a plan of type _map",
  },
  "a message that is replaced": {
    said: [message([text("old")]), message([text("new")])],
    lost: "the new text of a message that had been sent",
  },
  "a message that is taken back": {
    said: [message([text("old")]), message([])],
    lost: "the new text of a message that had been sent",
  },
  "content of a kind of its own, in a piece": {
    said: [{ sessionUpdate: "agent_message_chunk", messageId: "m1", content: { type: "_smell" } }],
    lost: "content of type _smell",
  },
  "content of a kind of its own, in a message": {
    said: [message([text("a"), { type: "_smell" }])],
    lost: "content of kinds that version 1 does not know",
    told: { sessionUpdate: "agent_message_chunk", content: text("a") },
  },
  "content of a kind of its own, in a tool call": {
    said: [call({ title: "Dig", content: [{ type: "content", content: { type: "_smell" } }] })],
    lost: "content of type _smell",
    told: { sessionUpdate: "tool_call", title: "Dig" },
  },
  "a change without text": {
    said: [call({ title: "Draw", content: [change("modify")] })],
    lost: "the texts of a change: its patch is shown",
    told: { sessionUpdate: "tool_call", title: "Draw" },
  },
  "a command of a kind of its own": {
    said: [
      {
        sessionUpdate: "available_commands_update",
        availableCommands: [
          { type: "_spell", name: "abra", description: "Cadabra" },
          { type: "command", name: "help", description: "Helps" },
        ],
      },
    ],
    lost: "commands of kinds that version 1 does not know",
    told: {
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "help", description: "Helps" }],
    },
  },
  "an update of a kind of its own": {
    said: [{ sessionUpdate: "_weather", sky: "blue" }],
    lost: "the update _weather",
  },
  "a notice": {
    said: [{ sessionUpdate: "notice", severity: "info", title: "Slow", description: "Monday" }],
    lost: 'the notice "Slow", which the client does not show',
  },
  "a compaction": {
    said: [{ sessionUpdate: "compaction_update", compactionId: "c", status: "in_progress" }],
    lost: "a compaction of the conversation, which the client does not show",
  },
};

/** What a client of version 1 is told of it, the turn's answer, and what the log has. */
async function relayed(said: readonly Message[], losses: "lossy" | "strict") {
  const logged: unknown[] = [];
  const turn = await turnOfVersion2(said, {
    losses,
    log: (_level, _message, details) => {
      const { lost } = (details ?? {}) as { lost?: readonly string[] };
      logged.push(...(lost ?? []));
    },
  });
  return { ...turn, logged };
}

const lostIn = (message: Message | undefined): unknown =>
  (message?._meta as Message | undefined)?.["_parley.dev/lost"];

for (const [what, { said, lost, told }] of Object.entries(rows)) {
  const before = said.length - 1;

  test(`lossy: ${what} is said as nearly as possible, and named`, { timeout: 20_000 }, async () => {
    const { updates, result, logged } = await relayed(said, "lossy");
    assert.equal(updates.length, before + (told === undefined ? 0 : 1));
    if (told !== undefined) {
      assert.partialDeepStrictEqual(updates.at(-1), told);
      assert.deepEqual(lostIn(updates.at(-1)), [lost]);
    }
    assert.deepEqual(lostIn(result), [lost]);
    assert.deepEqual(logged, [lost]);
  });

  test(`strict: ${what} is left out, and named`, { timeout: 20_000 }, async () => {
    const { updates, result, logged } = await relayed(said, "strict");
    assert.equal(updates.length, before);
    assert.deepEqual(lostIn(result), [lost]);
    assert.deepEqual(logged, [lost]);
  });
}
