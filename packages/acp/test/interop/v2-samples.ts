// One valid value for every shape of version 2, with every field filled, so that a side that drops a field is found.

import type {
  AvailableCommand,
  ContentBlock,
  CreateElicitationRequest,
  InitializeRequest,
  InitializeResponse,
  NewSessionRequest,
  NewSessionResponse,
  PermissionOption,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
  ToolCallUpdate,
} from "@parley/acp/v2";
import { cwd, meta, sessionId, time, trickyText } from "./v1-samples.ts";

export { cwd, meta, sessionId, time, trickyText };

export const initializeRequest: InitializeRequest = {
  protocolVersion: 2,
  info: { name: "interop-client", title: "Interop client", version: "1.2.3" },
  capabilities: { auth: { terminal: {} }, elicitation: { form: {}, url: {} }, _meta: meta },
  _meta: meta,
};

export const initializeResponse: InitializeResponse = {
  protocolVersion: 2,
  info: { name: "interop-agent", title: "Interop agent", version: "3.2.1" },
  capabilities: {
    session: {
      prompt: { image: {}, audio: {}, embeddedContext: {} },
      mcp: { stdio: {}, http: {} },
      delete: {},
      additionalDirectories: {},
    },
    auth: {},
    _meta: meta,
  },
  authMethods: [
    { type: "agent", methodId: "key", name: "API key", description: "asks for a key" },
    {
      type: "terminal",
      methodId: "tui",
      name: "Terminal",
      args: ["login"],
      env: [{ name: "MODE", value: "login" }],
    },
  ],
};

export const newSession: NewSessionRequest = {
  cwd,
  additionalDirectories: ["/other"],
  mcpServers: [
    { type: "stdio", name: "local", command: "/bin/mcp", args: ["x"], env: [{ name: "TOKEN", value: "x" }] },
    { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "A", value: "b" }] },
  ],
  _meta: meta,
};

export const configOptions: SessionConfigOption[] = [
  {
    configId: "model",
    name: "Model",
    description: "which one",
    category: "model",
    type: "select",
    currentValue: "small",
    options: [
      { value: "small", name: "Small", description: "fast" },
      { value: "large", name: "Large" },
    ],
  },
  {
    configId: "effort",
    name: "Effort",
    category: "thought_level",
    type: "select",
    currentValue: "low",
    options: [{ groupId: "g", name: "Group", options: [{ value: "low", name: "Low" }] }],
  },
  { configId: "web", name: "Web", type: "boolean", currentValue: false },
];

const availableCommands: AvailableCommand[] = [
  { type: "command", name: "test", description: "runs the tests", input: { type: "text", hint: "which" } },
  { type: "command", name: "help", description: "helps" },
];

export const newSessionResponse: NewSessionResponse = { sessionId, configOptions, availableCommands };

const annotations = { audience: ["user"], lastModified: time, priority: 0.5 };

export const prompt: ContentBlock[] = [
  { type: "text", text: trickyText, annotations, _meta: meta },
  { type: "image", data: "aGk=", mimeType: "image/png", uri: "file:///a.png" },
  { type: "audio", data: "aGk=", mimeType: "audio/wav" },
  {
    type: "resource_link",
    uri: "file:///project/a.ts",
    name: "a.ts",
    title: "A",
    description: "a file",
    icons: [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["16x16"], theme: "dark" }],
    mimeType: "text/plain",
    size: 12,
  },
  { type: "resource", resource: { uri: "file:///b.ts", text: "b", mimeType: "text/plain" } },
  {
    type: "resource",
    resource: { uri: "file:///c.bin", blob: "aGk=", mimeType: "application/octet-stream" },
  },
];

export const toolCall: ToolCallUpdate = {
  toolCallId: "call-1",
  name: "edit",
  title: "Edit a.ts",
  kind: "edit",
  status: "in_progress",
  content: [
    { type: "content", content: { type: "text", text: "done" } },
    {
      type: "diff",
      changes: [
        { operation: "modify", path: "/project/a.ts", fileType: "text", mimeType: "text/plain" },
        { operation: "move", oldPath: "/project/b.ts", path: "/project/c.ts" },
      ],
      patch: { format: "git_patch", text: "--- /project/a.ts\n+++ /project/a.ts\n" },
    },
    { type: "terminal", terminalId: "terminal-1" },
  ],
  locations: [{ path: "/project/a.ts", line: 3 }],
  rawInput: { path: "a.ts" },
  rawOutput: ["ok", 1],
  capabilities: { cancel: {} },
  _meta: meta,
};

/** Every kind of update of the stable protocol, patches with null and unknown kinds included. */
export const updates: SessionUpdate[] = [
  { sessionUpdate: "user_message_chunk", messageId: "u1", content: { type: "text", text: "hello" } },
  { sessionUpdate: "agent_thought_chunk", messageId: "t1", content: { type: "text", text: "hm" } },
  { sessionUpdate: "agent_message_chunk", messageId: "a1", content: { type: "text", text: trickyText } },
  { sessionUpdate: "user_message", messageId: "u1", content: prompt },
  { sessionUpdate: "agent_message", messageId: "a1", content: null, _meta: { gone: null } },
  { sessionUpdate: "agent_thought", messageId: "t1" },
  { sessionUpdate: "state_update", state: "requires_action" },
  {
    sessionUpdate: "state_update",
    state: "running",
    background: [
      { type: "terminal", terminalId: "terminal-1" },
      { type: "tool_call", toolCallId: "call-1" },
    ],
  },
  { sessionUpdate: "tool_call_update", ...toolCall },
  {
    sessionUpdate: "tool_call_content_chunk",
    toolCallId: "call-1",
    content: { type: "content", content: { type: "text", text: "more" } },
  },
  { sessionUpdate: "tool_call_update", toolCallId: "call-1", title: null, content: [], status: "cancelled" },
  {
    sessionUpdate: "terminal_update",
    terminalId: "terminal-1",
    command: "npm test",
    cwd,
    output: { data: "aGk=" },
    size: { cols: 80, rows: 24 },
    capabilities: { cancel: {} },
  },
  { sessionUpdate: "terminal_output_chunk", terminalId: "terminal-1", data: "aGk=" },
  {
    sessionUpdate: "terminal_update",
    terminalId: "terminal-1",
    exitStatus: { exitCode: -1, signal: "SIGINT" },
  },
  {
    sessionUpdate: "plan_update",
    plan: {
      type: "items",
      planId: "p",
      entries: [{ content: "a", priority: "low", status: "cancelled", _meta: meta }],
    },
    _meta: meta,
  },
  { sessionUpdate: "available_commands_update", availableCommands },
  { sessionUpdate: "config_option_update", configOptions },
  { sessionUpdate: "session_info_update", title: "A title", updatedAt: null },
  { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.25, currency: "USD" } },
  { sessionUpdate: "notice", severity: "warning", title: "Careful", description: "slow" },
  { sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content: { type: "text", text: "sum" } },
  {
    sessionUpdate: "compaction_update",
    compactionId: "c1",
    status: "failed",
    summary: [{ type: "text", text: "sum" }],
    error: "no room",
  },
];

/** Kinds that nobody knows yet: version 2 keeps them. They are not of our types, which know only known kinds. */
export const futureUpdates = [
  { sessionUpdate: "_vendor_update", anything: { goes: [1, null] } },
  { sessionUpdate: "from_the_future", value: 1 },
] as unknown as SessionUpdate[];

/** Every kind of update that only the unstable protocol has. */
export const unstableUpdates: SessionUpdate[] = [
  { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "q", content: "# Plan" } },
  { sessionUpdate: "plan_update", plan: { type: "file", planId: "r", uri: "file:///plan.md" } },
  { sessionUpdate: "plan_removed", planId: "p" },
  {
    sessionUpdate: "subagent_update",
    sessionId: "child-1",
    title: "Child",
    description: null,
    capabilities: { cancel: {} },
    state: { state: "running" },
    cwd,
    additionalDirectories: ["/other"],
  },
  { sessionUpdate: "session_message", messageId: "m1", senderSessionId: "child-1", content: [] },
  { sessionUpdate: "session_message_chunk", messageId: "m1", content: { type: "text", text: "hi" } },
];

/** What the agent says while it resumes the session from its start. */
export const replay: SessionUpdate[] = [
  ...updates.slice(3, 6),
  { sessionUpdate: "state_update", state: "idle" },
];

const options: PermissionOption[] = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

export const askAboutTool: RequestPermissionRequest = {
  sessionId,
  title: "edit a file",
  description: "one of yours",
  subject: { type: "tool_call", toolCall },
  options,
};

export const askAboutCommand: RequestPermissionRequest = {
  sessionId,
  title: "never mind",
  subject: { type: "command", command: "rm -r x", cwd, toolCallId: "call-1", terminalId: "terminal-1" },
  options,
  _meta: meta,
};

export const elicitationForm: CreateElicitationRequest = {
  mode: "form",
  sessionId,
  toolCallId: "call-1",
  message: "who are you",
  requestedSchema: {
    type: "object",
    title: "You",
    description: "about you",
    properties: {
      name: { type: "string", title: "Name", minLength: 1, maxLength: 9, pattern: "^a", default: "ann" },
      mail: { type: "string", format: "email" },
      colour: { type: "string", oneOf: [{ const: "r", title: "Red", description: "warm" }] },
      age: { type: "integer", minimum: 0, maximum: 150 },
      height: { type: "number", minimum: 0.5 },
      happy: { type: "boolean", default: true },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2 },
    },
    required: ["name"],
  },
};

export const elicitationUrl: CreateElicitationRequest = {
  mode: "url",
  requestId: "some-request",
  message: "sign in",
  elicitationId: "e1",
  url: "https://example.com/sign-in",
};
