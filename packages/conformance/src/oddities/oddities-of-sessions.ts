// What agents do around sessions: opening, loading, listing, modes, logins.

import type { OddityScript } from "./oddities.ts";

const update = (body: object) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "{{session}}", update: body },
});
const chunk = (text: string, kind = "agent_message_chunk") =>
  update({ sessionUpdate: kind, content: { type: "text", text } });
const commands = update({
  sessionUpdate: "available_commands_update",
  availableCommands: [{ name: "init", description: "Begins" }],
});
const modes = {
  currentModeId: "https://agentclientprotocol.com/protocol/session-modes#agent",
  availableModes: [
    { id: "https://agentclientprotocol.com/protocol/session-modes#agent", name: "Agent" },
    { id: "https://agentclientprotocol.com/protocol/session-modes#plan", name: "Plan" },
  ],
};
const plan = "https://agentclientprotocol.com/protocol/session-modes#plan";
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

export const sessionOddities = {
  "updates-before-the-session": {
    what: "an update arrives before the answer to session/new that names its session",
    wire: { replies: [{ method: "session/new", before: [commands] }] },
  },
  "fork-replayed-before-its-answer": {
    what: "a forked session is replayed before the answer to session/fork names it",
    agent: { unstable: ["session/fork"] },
    client: { unstable: ["session/fork"] },
    wire: { replies: [{ method: "session/fork", before: [chunk("from before the fork")] }] },
    does: [{ open: "/project" }, { fork: "main", as: "forked" }, { prompt: "hello", session: "forked" }],
  },
  "load-replays-after-its-answer": {
    what: "session/load does not wait for its replay: most of it follows the answer",
    agent: stored,
    wire: {
      replies: [
        {
          method: "session/load",
          before: [chunk("<session_context>", "user_message_chunk")],
          after: [chunk("[Function Response: read_file]", "user_message_chunk"), chunk("as I said")],
        },
      ],
    },
    does: [
      { load: { id: "old", cwd: "/project" } },
      { until: { update: "agent_message_chunk" } },
      { prompt: "hello" },
    ],
  },
  "load-names-its-session": {
    what: "the answers to session/load and session/resume repeat the session's id",
    agent: stored,
    wire: { replies: [{ method: "session/load", patch: { sessionId: "old" } }] },
    does: loads,
  },
  "load-of-a-live-session-refused": {
    what: "a session that is open cannot be loaded",
    wire: {
      replies: [{ method: "session/load", error: { code: -32602, message: "old is already loaded" } }],
    },
    agent: stored,
    does: loads.slice(0, 1),
  },
  "unknown-session-invalid-params": {
    what: "an unknown session is -32602",
    wire: { replies: [{ method: "session/load", error: { code: -32602, message: "session not found" } }] },
    does: loads.slice(0, 1),
  },
  "unknown-session-internal-error": {
    what: "an unknown session is -32603",
    wire: { replies: [{ method: "session/load", error: { code: -32603, message: "Internal error" } }] },
    does: loads.slice(0, 1),
  },
  "unknown-session-own-code": {
    what: "an unknown session is -32001",
    wire: { replies: [{ method: "session/load", error: { code: -32001, message: "no such session" } }] },
    does: loads.slice(0, 1),
  },
  "fields-outside-the-schema": {
    what: "capabilities and models that no stable schema has",
    wire: {
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
  },
  "odd-options": {
    what: "boolean options, categories of their own, values with any character, two options for the model",
    wire: {
      replies: [
        {
          method: "session/new",
          patch: {
            configOptions: [
              { id: "auto_approve", name: "Approve", type: "boolean", currentValue: false },
              {
                id: "m1",
                name: "Model",
                category: "model",
                type: "select",
                currentValue: "$runtime|openai|x(openai)",
                options: [{ value: "$runtime|openai|x(openai)", name: "x" }],
              },
              {
                id: "m2",
                name: "Other",
                category: "model",
                type: "select",
                currentValue: "y",
                options: [{ value: "y", name: "y" }],
              },
              {
                id: "c",
                name: "How",
                category: "collaboration_mode",
                type: "select",
                currentValue: "a",
                options: [{ value: "a", name: "a" }],
              },
            ],
          },
        },
      ],
    },
  },
  "mode-answered-by-mode-update": {
    what: "a new mode is reported as current_mode_update",
    wire: {
      replies: [
        withModes,
        {
          method: "session/set_mode",
          result: {},
          after: [update({ sessionUpdate: "current_mode_update", currentModeId: plan })],
        },
      ],
    },
    does: setsMode,
  },
  "mode-answered-by-options": {
    what: "a new mode is reported as config_option_update",
    wire: {
      replies: [
        withModes,
        {
          method: "session/set_mode",
          result: {},
          after: [
            update({
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
          ],
        },
      ],
    },
    does: setsMode,
  },
  "mode-answered-by-vendor": {
    what: "a new mode is reported by a notification of the vendor's",
    wire: {
      replies: [
        withModes,
        {
          method: "session/set_mode",
          result: {},
          after: [{ jsonrpc: "2.0", method: "vendor/notify/mode-update", params: { mode: plan } }],
        },
      ],
    },
    does: setsMode,
  },
  "mode-answered-by-text": {
    what: "a new mode is reported as text, outside any turn",
    wire: {
      replies: [withModes, { method: "session/set_mode", result: {}, after: [chunk("[MODE_UPDATE] plan")] }],
    },
    does: setsMode,
  },
  "mode-answered-by-nothing": {
    what: "a new mode is not reported at all",
    wire: { replies: [withModes, { method: "session/set_mode", result: {} }] },
    does: setsMode,
  },
  "null-cursor": {
    what: "the last page of session/list has a cursor of null",
    wire: {
      replies: [
        {
          method: "session/list",
          result: { sessions: [{ sessionId: "s", cwd: "/project" }], nextCursor: null },
        },
      ],
    },
    does: [{ list: {} }],
  },
  "null-load-result": {
    what: "session/load is answered with null",
    agent: stored,
    wire: { replies: [{ method: "session/load", result: null }] },
    does: loads.slice(0, 1),
  },
  "odd-auth-methods": {
    what: "ways to log in of every shape, some offered to clients that cannot use them",
    wire: {
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
  },
} satisfies Record<string, OddityScript>;
