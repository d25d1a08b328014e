// Oddities of agents on the wire: answers, ids, lines, sizes, ends.

import type { OddityScript } from "./oddity.ts";
import { sessionUpdate, textChunk } from "./session-update.ts";

const error = { code: -32601, message: "Method not found", data: "_tck/note" };

const closesDuringTurn = [
  { open: "/project" },
  { prompt: "hello", wait: false },
  { until: { update: "agent_message_chunk" } },
  { disconnect: "close" },
] as const;

export const wireOddities = {
  "answers-without-id": {
    what: "errors without an id, or with null for one, to whatever was not understood",
    steps: [
      { raw: { jsonrpc: "2.0", error } },
      { raw: { jsonrpc: "2.0", id: null, error } },
      { say: "fine" },
    ],
  },
  "vendor-methods": {
    what: "requests and notifications of the vendor's without an underscore",
    steps: [
      { call: { method: "craft/drainMidTurnQueue", params: { sessionId: "{{session}}" } }, as: "answer" },
      { raw: { jsonrpc: "2.0", method: "vendor/notify/session/prompt-suggestion", params: {} } },
      { raw: { jsonrpc: "2.0", method: "_auth/status_update", params: {} } },
      { say: "fine" },
    ],
  },
  "ids-of-every-kind": {
    what: "ids that are UUIDs, nanoids and numbers from 0, and ids that are written last",
    steps: [
      { call: { method: "_vendor/a", id: "3f2504e0-4f89-11d3-9a0c-0305e82c3301" } },
      { call: { method: "_vendor/b", id: "_perm_1_1" } },
      { raw: '{"jsonrpc":"2.0","method":"_vendor/c","params":{},"id":"last"}' },
      { say: "fine" },
    ],
  },
  "answers-twice": {
    what: "a prompt is answered twice",
    replies: [{ method: "session/prompt", answer: "twice" }],
    does: [{ open: "/project" }, { prompt: "hello" }, { prompt: "hello again" }],
  },
  "ids-as-text": {
    what: "answers repeat the number of the request as text",
    replies: [{ method: "session/prompt", answer: "text-id" }],
    does: [{ open: "/project" }, { prompt: "hello" }, { prompt: "hello again" }],
  },
  "answer-without-its-id": {
    what: "the answer to a prompt has no id, so the prompt is never answered",
    replies: [{ method: "session/prompt", answer: "no-id" }],
    does: closesDuringTurn,
  },
  "prompt-never-answered": {
    what: "a prompt is never answered",
    replies: [{ method: "session/prompt", answer: "never" }],
    does: closesDuringTurn,
  },
  "cancel-ignored": {
    what: "a turn that was cancelled goes on for ever",
    steps: [{ say: "on and on" }, { hang: "turn" }],
    does: [
      { open: "/project" },
      { prompt: "hello", wait: false, cancel: { update: "agent_message_chunk" } },
      { until: { update: "agent_message_chunk" } },
      { disconnect: "close" },
    ],
  },
  banner: {
    what: "banners and other people's prints on stdout, before and between messages",
    wire: { greeting: ["Starting the agent...", "", "Loaded 3 extensions\r"] },
    steps: [{ raw: "(node:1) Warning: something is deprecated" }, { say: "fine" }],
  },
  "byte-order-mark": {
    what: "the first line begins with a byte order mark",
    wire: { greeting: ['\ufeff{"jsonrpc":"2.0","method":"_vendor/hello","params":{}}'] },
  },
  "blank-lines": {
    what: "blank lines and carriage returns between messages",
    steps: [{ raw: "" }, { raw: "\r" }, { raw: `${JSON.stringify(textChunk("fine"))}\r` }],
  },
  "broken-json": {
    what: "a line that is no JSON in the middle of a turn",
    steps: [{ say: "fi" }, { raw: '{"jsonrpc":"2.0","method":"session/upd' }, { say: "ne" }],
  },
  "half-a-line-and-death": {
    what: "the agent dies in the middle of a line",
    steps: [{ say: "fine" }, { crash: { exitCode: 1, half: '{"jsonrpc":"2.0","method":"session/upd' } }],
  },
  crash: {
    what: "the agent's process ends in the middle of a turn",
    steps: [{ say: "fine" }, { crash: { exitCode: 134 } }],
  },
  killed: {
    what: "the agent's process is killed in the middle of a turn",
    steps: [{ say: "fine" }, { crash: { signal: "SIGKILL" } }],
  },
  hang: {
    what: "the agent stops to read and to write, and does not end with its input either",
    steps: [{ say: "fine" }, { hang: "agent" }],
    does: closesDuringTurn,
  },
  "huge-message": {
    what: "561 KB of commands in one line",
    replies: [
      {
        method: "session/new",
        after: [
          sessionUpdate({
            sessionUpdate: "available_commands_update",
            availableCommands: [
              { name: "skills", description: "All", _meta: { skills: "x".repeat(561 * 1024) } },
            ],
          }),
        ],
      },
    ],
  },
  flood: {
    what: "5,000 chunks as fast as they can be written",
    steps: [{ say: "x", times: 5000 }],
  },
  "broken-input-answered-without-id": {
    what: "input that is no JSON is answered -32700 without an id",
    wire: {
      inputs: [
        { when: "broken", write: [{ jsonrpc: "2.0", error: { code: -32700, message: "Parse error" } }] },
      ],
    },
    does: [{ raw: "{nonsense" }, { open: "/project" }, { prompt: "hello" }],
  },
  "broken-input-ignored": {
    what: "input that is no JSON is not answered",
    wire: { inputs: [{ when: "broken" }] },
    does: [{ raw: "{nonsense" }, { open: "/project" }, { prompt: "hello" }],
  },
  "batch-ends-the-agent": {
    what: "an agent that exits with code 0 when it gets a batch",
    wire: { inputs: [{ when: "batch", crash: { exitCode: 0 } }] },
    does: [{ raw: [{ jsonrpc: "2.0", id: 900, method: "_vendor/x" }] }, { until: "closed" }],
  },
} satisfies Record<string, OddityScript>;
