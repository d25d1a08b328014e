// Oddities of agents within turns: tool calls, questions, stop reasons, text at odd times.

import type { OddityScript } from "./oddity.ts";
import { textChunk } from "./session-update.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const asks = (toolCallId: string) => ({
  call: {
    method: "session/request_permission",
    params: { sessionId: "{{session}}", toolCall: { toolCallId, title: "Run ls" }, options },
  },
});
const toolCall = (status: string) => ({
  rawUpdate: { sessionUpdate: "tool_call", toolCallId: "t", title: "Run ls", status },
});
const toolUpdate = (status: string, title?: string) => ({
  rawUpdate: { sessionUpdate: "tool_call_update", toolCallId: "t", title, status },
});
const terminal = { type: "terminal", terminalId: "call_1" };
const output = (data: string) => ({ terminal_output_delta: { terminal_id: "call_1", data } });

export const turnOddities = {
  "tool-call-after-its-updates": {
    what: "updates of a tool call come first, and it is announced as pending when it runs already",
    steps: [
      toolUpdate("pending", "Run ls"),
      asks("t"),
      toolUpdate("in_progress"),
      toolCall("pending"),
      toolUpdate("completed"),
    ],
  },
  "question-about-an-unannounced-call": {
    what: "permission is asked for a tool call that was never announced, and is announced afterwards",
    steps: [asks("t"), toolCall("completed")],
  },
  "unannounced-call-only-updated": {
    what: "permission is asked for a tool call that was never announced, and is only updated afterwards",
    steps: [asks("t"), toolUpdate("completed")],
  },
  "refused-call-never-announced": {
    what: "a tool call that was refused is never announced",
    steps: [asks("t"), { say: "As you like." }],
    client: { permissions: [{ answer: { kind: "reject_once" } }] },
  },
  "in-progress-before-asking": {
    what: "a tool call is in progress before its permission is asked for",
    steps: [toolCall("in_progress"), asks("t"), toolUpdate("completed")],
  },
  "completed-from-nothing": {
    what: "a tool call is completed at its first sight",
    steps: [toolCall("completed")],
  },
  "terminal-nobody-created": {
    what: "a tool call shows a terminal that no client created; its output is in _meta",
    steps: [
      {
        rawUpdate: {
          sessionUpdate: "tool_call",
          toolCallId: "call_1",
          title: "ls",
          content: [terminal],
          _meta: { terminal_info: { terminal_id: "call_1", cwd: "/project" } },
        },
      },
      {
        rawUpdate: { sessionUpdate: "tool_call_update", toolCallId: "call_1", _meta: output("from-shell\n") },
      },
      {
        rawUpdate: {
          sessionUpdate: "tool_call_update",
          toolCallId: "call_1",
          status: "completed",
          _meta: { terminal_exit: { terminal_id: "call_1", exit_code: 0, signal: null } },
        },
      },
    ],
  },
  "null-fields": {
    what: "null where nothing is meant, in updates",
    steps: [
      {
        rawUpdate: {
          sessionUpdate: "tool_call",
          toolCallId: "t",
          title: "Run ls",
          rawInput: null,
          content: null,
          status: "completed",
          _meta: null,
        },
      },
      { say: "fine" },
    ],
  },
  "null-usage": {
    what: "null where nothing is meant, in the answer to a prompt",
    replies: [{ method: "session/prompt", result: { stopReason: "end_turn", usage: null, _meta: null } }],
  },
  "usage-in-the-answer": {
    what: "the answer to a prompt has the turn's tokens, whoever asked for them",
    replies: [
      {
        method: "session/prompt",
        patch: { usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2, cachedReadTokens: 0 } },
      },
    ],
  },
  "unknown-updates": {
    what: "kinds of update that nobody knows, and keys that no update has",
    steps: [
      { rawUpdate: { sessionUpdate: "current_model_update", currentModelId: "m" } },
      { rawUpdate: { sessionUpdate: "available_modes_update", modes: [] } },
      { rawUpdate: { sessionUpdate: "prompt_received" } },
      { rawUpdate: { sessionUpdate: "plan", messageId: "m", entries: [] } },
      {
        rawUpdate: {
          sessionUpdate: "agent_message_chunk",
          timestamp: 1,
          content: { type: "text", text: "fine" },
        },
      },
      { rawUpdate: { sessionUpdate: "turn_complete" } },
    ],
  },
  "messages-without-ids": {
    what: "an agent of version 2 sends pieces of messages without the ids that version 2 demands",
    agent: { editions: ["v2"] },
    client: { editions: ["v2"] },
    steps: [
      { rawUpdate: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "fi" } } },
      { rawUpdate: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "ne" } } },
    ],
  },
  "updates-of-nothing": {
    what: "tool calls without an id, of which nothing can be made",
    steps: [
      { rawUpdate: { sessionUpdate: "tool_call", title: "no id" } },
      { rawUpdate: { sessionUpdate: "tool_call_update", status: "completed" } },
      { say: "fine" },
    ],
  },
  "text-after-the-answer": {
    what: "a prompt is answered at once, and its text comes later, outside any turn",
    replies: [
      {
        method: "session/prompt",
        result: { stopReason: "end_turn" },
        after: [textChunk("late")],
      },
    ],
    does: [{ open: "/project" }, { prompt: "hello" }, { until: { update: "agent_message_chunk" } }],
  },
  "updates-outside-turns": {
    what: "usage, titles, commands and text when nobody has asked",
    steps: [
      { say: "fine" },
      {
        later: [
          { usage: { used: 1, size: 2 } },
          { title: "Later" },
          { availableCommands: [{ type: "command", name: "x", description: "X" }] },
          { say: "Info: Operation cancelled by user" },
        ],
      },
    ],
    does: [{ open: "/project" }, { prompt: "hello" }, { until: { update: "agent_message_chunk", nth: 2 } }],
  },
  "refusal-cancels-the-turn": {
    what: "a refused permission ends the turn as cancelled",
    steps: [{ ask: "May I?", on: { refused: [{ end: "cancelled" }] } }],
    client: { permissions: [{ answer: { kind: "reject_once" } }] },
  },
  "http-status-as-code": {
    what: "an error of the model's is answered with its HTTP status as the code",
    steps: [{ fail: { code: 400, message: "Bad Request" } }],
  },
  "error-as-text": {
    what: "an error of the model's is said as text, and the turn ends well",
    steps: [{ say: "Error: 400 Bad Request" }, { end: "end_turn" }],
  },
  "failure-says-nothing": {
    what: "an error of the model's ends the turn well, with nothing said",
    steps: [],
  },
  "start-up-failure": {
    what: "an agent that cannot start its model answers session/new with a code of its own",
    replies: [{ method: "session/new", error: { code: 1001, message: "codex failed to start" } }],
    does: [{ open: "/project" }],
  },
  "unknown-stop-reason": {
    what: "a stop reason that no version has",
    replies: [{ method: "session/prompt", patch: { stopReason: "aborted" } }],
  },
  "missing-file-then-write": {
    what: "a file is read to see whether it exists, and is then written",
    steps: [{ read: "/project/new.txt" }, { write: "/project/new.txt", content: "new\n" }],
    client: { files: {} },
  },
} satisfies Record<string, OddityScript>;
