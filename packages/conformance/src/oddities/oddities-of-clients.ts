// Oddities of clients.

import type { OddityScript } from "./oddity.ts";

const ask = { ask: "May I?", on: { allowed: [{ say: "fine" }], cancelled: [{ say: "no answer" }] } };

export const clientOddities = {
  "cancel-with-a-reason": {
    what: "session/cancel has a field that no version has",
    steps: [{ say: "fi" }, { wait: "cancelled" }, { say: "ne" }],
    does: [
      { open: "/project" },
      { prompt: "hello", wait: false },
      { until: { update: "agent_message_chunk" } },
      {
        raw: {
          jsonrpc: "2.0",
          method: "session/cancel",
          params: { sessionId: "{{session}}", reason: "user" },
        },
      },
      { settle: true },
    ],
  },
  "method-before-id": {
    what: "a client writes the method in front of the id",
    does: [
      { raw: '{"jsonrpc":"2.0","method":"_vendor/x","params":{},"id":77}' },
      { open: "/project" },
      { prompt: "hello" },
    ],
  },
  "client-without-info": {
    what: "a client that does not say who it is, and has no capability but one in _meta",
    client: {
      editions: ["v1"],
      wire: {
        sends: [
          {
            method: "initialize",
            patch: { clientInfo: null, clientCapabilities: { fs: null, terminal: null, _meta: { a: 1 } } },
          },
        ],
      },
    },
  },
  "files-that-fail": {
    what: "a client that offers files and answers every request for one with -32603",
    steps: [{ read: "/project/a.txt" }, { write: "/project/a.txt", content: "a" }, { say: "fine" }],
    client: {
      files: {},
      wire: {
        replies: ["fs/read_text_file", "fs/write_text_file"].map((method) => ({
          method,
          error: { code: -32603, message: "Internal error" },
        })),
      },
    },
  },
  "null-for-nothing": {
    what: "a client that answers a write with null",
    steps: [{ write: "/project/a.txt", content: "a" }, { say: "fine" }],
    client: { files: {}, wire: { replies: [{ method: "fs/write_text_file", result: null }] } },
  },
  "question-cancelled": {
    what: "a client that cancels every question and goes on with the turn",
    steps: [ask],
    client: { permissions: [{ answer: "cancel" }] },
  },
  "option-never-offered": {
    what: "a client that chooses an option that it was not offered",
    steps: [ask],
    client: {
      wire: {
        replies: [
          {
            method: "session/request_permission",
            result: { outcome: { outcome: "selected", optionId: "sudo" } },
          },
        ],
      },
    },
  },
  "unoffered-form-answered": {
    what: "a form that a client never offered is answered with a cancel, not with an error",
    steps: [
      {
        call: {
          method: "elicitation/create",
          params: {
            sessionId: "{{session}}",
            mode: "form",
            message: "Who?",
            requestedSchema: { type: "object", properties: {} },
          },
        },
      },
      { say: "fine" },
    ],
    client: {
      wire: {
        replies: [{ method: "elicitation/create", result: { action: "cancel", _meta: { by: "client" } } }],
      },
    },
  },
  "client-dies": {
    what: "a client that is gone in the middle of a turn",
    steps: [{ say: "fine" }, { wait: "cancelled" }],
    does: [
      { open: "/project" },
      { prompt: "hello", wait: false },
      { until: { update: "agent_message_chunk" } },
      { disconnect: "die" },
    ],
  },
} satisfies Record<string, OddityScript>;
