// One valid value for every shape of version 1, with every field filled, so that a side that drops a field is found.

import type {
  ContentBlock,
  CreateElicitationRequest,
  CreateTerminalRequest,
  InitializeRequest,
  InitializeResponse,
  NewSessionRequest,
  NewSessionResponse,
  PermissionOption,
  SessionConfigOption,
  SessionUpdate,
  ToolCallUpdate,
} from "@parley/acp/v1";

export const cwd = "/project";
export const time = "2026-01-02T03:04:05Z";
export const sessionId = "session-1";
export const meta = { "parley.test": { nested: [1, "two", null, { deep: true }] } };

/** Line separators that are legal in JSON strings, characters outside the BMP, joined emoji, controls. */
export const trickyText =
  'a\u2028b\u2029c \u{1F600} \u{1F468}\u200D\u{1F469}\u200D\u{1F467} \uFEFF \u0000 \r\n "\\ 漢字';

export const initializeRequest: InitializeRequest = {
  protocolVersion: 1,
  clientCapabilities: {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
    auth: { terminal: true },
    elicitation: { form: {}, url: {} },
    _meta: meta,
  },
  clientInfo: { name: "interop-client", title: "Interop client", version: "1.2.3" },
  _meta: meta,
};

export const initializeResponse: InitializeResponse = {
  protocolVersion: 1,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, delete: {}, additionalDirectories: {}, resume: {}, close: {} },
    auth: { logout: {} },
    _meta: meta,
  },
  authMethods: [
    { id: "key", name: "API key", description: "asks for a key" },
    { type: "terminal", id: "tui", name: "Terminal", args: ["login"], env: { MODE: "login" } },
  ],
  agentInfo: { name: "interop-agent", title: "Interop agent", version: "3.2.1" },
};

export const newSession: NewSessionRequest = {
  cwd,
  additionalDirectories: ["/other"],
  mcpServers: [
    { name: "local", command: "/bin/mcp", args: ["--stdio"], env: [{ name: "TOKEN", value: "x" }] },
    { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "A", value: "b" }] },
    { type: "sse", name: "events", url: "https://example.com/sse", headers: [] },
  ],
  _meta: meta,
};

export const configOptions: SessionConfigOption[] = [
  {
    id: "model",
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
    id: "effort",
    name: "Effort",
    category: "thought_level",
    type: "select",
    currentValue: "low",
    options: [{ group: "g", name: "Group", options: [{ value: "low", name: "Low" }] }],
  },
  { id: "web", name: "Web", type: "boolean", currentValue: false },
];

export const newSessionResponse: NewSessionResponse = {
  sessionId,
  modes: {
    currentModeId: "ask",
    availableModes: [
      { id: "ask", name: "Ask", description: "asks first" },
      { id: "code", name: "Code" },
    ],
  },
  configOptions,
};

const annotations = { audience: ["user" as const], lastModified: time, priority: 0.5 };

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
  kind: "edit",
  status: "pending",
  title: "Edit a.ts",
  name: "edit",
  content: [
    { type: "content", content: { type: "text", text: "done" } },
    { type: "diff", path: "/project/a.ts", oldText: "a", newText: "b" },
    { type: "terminal", terminalId: "terminal-1" },
  ],
  locations: [{ path: "/project/a.ts", line: 3 }],
  rawInput: { path: "a.ts" },
  rawOutput: ["ok", 1],
  _meta: meta,
};

/** Every kind of update of the stable protocol. */
export const updates: SessionUpdate[] = [
  { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hello" }, messageId: "u1" },
  { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" }, messageId: "t1" },
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: trickyText }, _meta: meta },
  {
    ...toolCall,
    sessionUpdate: "tool_call",
    title: "Edit a.ts",
    kind: "edit",
    status: "pending",
  } as SessionUpdate,
  { ...toolCall, sessionUpdate: "tool_call_update", status: "completed" },
  { sessionUpdate: "tool_call_update", toolCallId: "call-1", title: null, content: [] },
  {
    sessionUpdate: "plan",
    entries: [{ content: "look", priority: "high", status: "in_progress", _meta: meta }],
    _meta: meta,
  },
  {
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { name: "test", description: "runs the tests", input: { hint: "which" } },
      { name: "help", description: "helps" },
    ],
  },
  { sessionUpdate: "current_mode_update", currentModeId: "code" },
  { sessionUpdate: "config_option_update", configOptions },
  { sessionUpdate: "session_info_update", title: "A title", updatedAt: time },
  { sessionUpdate: "session_info_update", title: null },
  { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.25, currency: "USD" } },
  { sessionUpdate: "notice", severity: "warning", title: "Careful", description: "slow" },
  { sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content: { type: "text", text: "sum" } },
  {
    sessionUpdate: "compaction_update",
    compactionId: "c1",
    status: "completed",
    summary: [{ type: "text", text: "sum" }],
  },
];

/** Every kind of update that only the unstable protocol has. */
export const unstableUpdates: SessionUpdate[] = [
  {
    sessionUpdate: "plan_update",
    plan: { type: "items", planId: "p", entries: [{ content: "a", priority: "low", status: "pending" }] },
  },
  { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "q", content: "# Plan" } },
  { sessionUpdate: "plan_update", plan: { type: "file", planId: "r", uri: "file:///plan.md" } },
  { sessionUpdate: "plan_removed", planId: "p" },
  {
    sessionUpdate: "subagent_update",
    sessionId: "child-1",
    title: "Child",
    capabilities: { cancel: {} },
    state: { state: "running" },
    cwd,
  },
  { sessionUpdate: "session_message", messageId: "m1", senderSessionId: "child-1", content: [] },
  { sessionUpdate: "session_message_chunk", messageId: "m1", content: { type: "text", text: "hi" } },
];

/** An unknown kind, a known kind without its content, a known kind with a value from the future; not of our types. */
export const badUpdates = [
  { sessionUpdate: "from_the_future", value: { kept: [1] } },
  { sessionUpdate: "agent_message_chunk" },
  { sessionUpdate: "tool_call_update", toolCallId: "call-1", kind: "teleport" },
] as unknown as SessionUpdate[];

/** What the agent says while it loads the session. */
export const replay = updates.slice(0, 4);

export const permissionOptions: PermissionOption[] = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

export const terminal: CreateTerminalRequest = {
  sessionId,
  command: "npm",
  args: ["test"],
  env: [{ name: "CI", value: "1" }],
  cwd,
  outputByteLimit: 1024,
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
      colour: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
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
  sessionId,
  message: "sign in",
  elicitationId: "e1",
  url: "https://example.com/sign-in",
};
