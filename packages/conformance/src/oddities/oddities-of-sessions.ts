// Oddities of agents with sessions: opening, loading, listing, modes, logins.

import type { OddityScript } from "./oddity.ts";
import { sessionUpdate, textChunk } from "./session-update.ts";

const commands = sessionUpdate({
  sessionUpdate: "available_commands_update",
  availableCommands: [{ name: "init", description: "Begins" }],
});
const agentMode = "https://agentclientprotocol.com/protocol/session-modes#agent";
const plan = "https://agentclientprotocol.com/protocol/session-modes#plan";
const modes = {
  currentModeId: agentMode,
  availableModes: [
    { id: agentMode, name: "Agent" },
    { id: plan, name: "Plan" },
  ],
};
const withModes = { method: "session/new", patch: { modes } };
const setsMode = [{ open: "/project" }, { setMode: plan }, { prompt: "hello" }] as const;
const stored = {
  sessions: [
    {
      sessionId: "old",
      cwd: "/project",
      entries: [{ kind: "prompt", messageId: "p", prompt: [{ type: "text", text: "before" }] }],
    },
  ],
} as const;
const loads = [{ load: { id: "old", cwd: "/project" } }, { prompt: "hello" }] as const;

/** A config option with one value. */
function select(id: string, name: string, category: string, value: string, label = value): object {
  return { id, name, category, type: "select", currentValue: value, options: [{ value, name: label }] };
}

/** A change of mode that the agent reports by these messages. */
function modeAnswer(what: string, ...after: object[]): OddityScript {
  return { what, replies: [withModes, { method: "session/set_mode", result: {}, after }], does: setsMode };
}

/** An unknown session, refused with this error. */
function unknownSession(code: number, message: string): OddityScript {
  return {
    what: `an unknown session is ${code}`,
    replies: [{ method: "session/load", error: { code, message } }],
    does: loads.slice(0, 1),
  };
}

export const sessionOddities = {
  "updates-before-the-session": {
    what: "an update arrives before the answer to session/new that names its session",
    replies: [{ method: "session/new", before: [commands] }],
  },
  "fork-replayed-before-its-answer": {
    what: "a forked session is replayed before the answer to session/fork names it",
    agent: { unstable: ["fork"] },
    client: { unstable: ["fork"] },
    replies: [{ method: "session/fork", before: [textChunk("from before the fork")] }],
    does: [{ open: "/project" }, { fork: "main", as: "forked" }, { prompt: "hello", session: "forked" }],
  },
  "history-with-fields-of-its-own": {
    what: "every replayed update has a field outside the schema",
    agent: stored,
    replies: [
      {
        method: "session/load",
        before: [
          sessionUpdate({
            sessionUpdate: "agent_message_chunk",
            content: { type: "text", text: "as I said" },
            timestamp: "2026-03-01T12:00:00Z",
          }),
        ],
      },
    ],
    does: loads,
  },
  "load-replays-after-its-answer": {
    what: "session/load does not wait for its replay: most of it follows the answer",
    agent: stored,
    replies: [
      {
        method: "session/load",
        before: [textChunk("<session_context>", "user_message_chunk")],
        after: [textChunk("[Function Response: read_file]", "user_message_chunk"), textChunk("as I said")],
      },
    ],
    does: [
      { load: { id: "old", cwd: "/project" } },
      { until: { update: "agent_message_chunk" } },
      { prompt: "hello" },
    ],
  },
  "load-names-its-session": {
    what: "the answers to session/load and session/resume repeat the session's id",
    agent: stored,
    replies: [{ method: "session/load", patch: { sessionId: "old" } }],
    does: loads,
  },
  "load-of-a-live-session-refused": {
    what: "a session that is open cannot be loaded",
    replies: [{ method: "session/load", error: { code: -32602, message: "old is already loaded" } }],
    agent: stored,
    does: loads.slice(0, 1),
  },
  "unknown-session-invalid-params": unknownSession(-32602, "session not found"),
  "unknown-session-internal-error": unknownSession(-32603, "Internal error"),
  "unknown-session-own-code": unknownSession(-32001, "no such session"),
  "fields-outside-the-schema": {
    what: "capabilities and models that no stable schema has",
    replies: [
      {
        method: "initialize",
        patch: {
          agentCapabilities: {
            providers: {},
            title: {},
            subagents: {},
            systemPrompt: {},
            mcpCapabilities: { acp: true },
            sessionCapabilities: { attach: {} },
            configOptions: true,
          },
        },
      },
      {
        method: "session/new",
        patch: {
          models: {
            currentModelId: "a",
            availableModels: [
              { modelId: "a", name: "A" },
              { modelId: "b", name: "B" },
            ],
          },
        },
      },
    ],
  },
  "odd-options": {
    what: "boolean options, categories of their own, values with any character, two options for the model",
    replies: [
      {
        method: "session/new",
        patch: {
          configOptions: [
            { id: "auto_approve", name: "Approve", type: "boolean", currentValue: false },
            select("m1", "Model", "model", "$runtime|openai|x(openai)", "x"),
            select("m2", "Other", "model", "y"),
            select("c", "How", "collaboration_mode", "a"),
          ],
        },
      },
    ],
  },
  "mode-answered-by-mode-update": modeAnswer(
    "a new mode is reported as current_mode_update",
    sessionUpdate({ sessionUpdate: "current_mode_update", currentModeId: plan }),
  ),
  "mode-answered-by-options": modeAnswer(
    "a new mode is reported as config_option_update",
    sessionUpdate({
      sessionUpdate: "config_option_update",
      configOptions: [
        {
          id: "mode",
          name: "Mode",
          category: "mode",
          type: "select",
          currentValue: plan,
          options: modes.availableModes.map(({ id, name }) => ({ value: id, name })),
        },
      ],
    }),
  ),
  "mode-answered-by-vendor": modeAnswer("a new mode is reported by a vendor's notification", {
    jsonrpc: "2.0",
    method: "vendor/notify/mode-update",
    params: { mode: plan },
  }),
  "mode-answered-by-text": modeAnswer(
    "a new mode is reported as text, outside any turn",
    textChunk("[MODE_UPDATE] plan"),
  ),
  "mode-answered-by-nothing": modeAnswer("a new mode is not reported at all"),
  "null-cursor": {
    what: "the last page of session/list has a cursor of null",
    replies: [
      {
        method: "session/list",
        result: { sessions: [{ sessionId: "s", cwd: "/project" }], nextCursor: null },
      },
    ],
    does: [{ list: {} }],
  },
  "null-load-result": {
    what: "session/load is answered with null",
    agent: stored,
    replies: [{ method: "session/load", result: null }],
    does: loads.slice(0, 1),
  },
  "odd-auth-methods": {
    what: "ways to log in of every shape, some offered to clients that cannot use them",
    replies: [
      {
        method: "initialize",
        patch: {
          authMethods: [
            { id: "plain", name: "Plain" },
            { id: "agent", name: "Agent", type: "agent" },
            { id: "env", name: "Environment", type: "env_var", vars: [{ name: "API_KEY" }] },
            { id: "terminal", name: "Terminal", type: "terminal", args: ["login"], env: {} },
            { id: "meta", name: "Meta", _meta: { "terminal-auth": { command: "agent", args: ["login"] } } },
          ],
        },
      },
    ],
  },
} satisfies Record<string, OddityScript>;
