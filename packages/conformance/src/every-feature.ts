// A pair of scenarios that uses every feature of the protocol, in both versions.

import type { AgentScenario, AgentStep, TurnScript } from "./testing/agent-scenario.ts";
import type { ClientScenario } from "./testing/client-scenario.ts";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

const messages: readonly AgentStep[] = [
  { think: "The user greets me." },
  { say: "Hello, " },
  { say: "world. " },
  { say: { type: "image", mimeType: "image/png", data: pixel } },
  { say: { type: "audio", mimeType: "audio/wav", data: "UklGRg==" } },
  { say: { type: "resource_link", name: "notes", uri: "file:///project/notes.txt" } },
  {
    say: { type: "resource", resource: { uri: "file:///project/a.txt", mimeType: "text/plain", text: "a" } },
  },
  { say: "A message with an id of its own", messageId: "named" },
  { say: ", in two pieces.", messageId: "named", _meta: { "example.com/piece": 2 } },
  { say: "flood ", times: 20, size: 40 },
];

const plans: readonly AgentStep[] = [
  {
    plan: [
      { content: "Look around", priority: "high", status: "in_progress" },
      { content: "Change something", priority: "medium", status: "pending" },
    ],
  },
  {
    plan: [
      { content: "Look around", priority: "high", status: "completed" },
      { content: "Change something", priority: "low", status: "pending" },
    ],
  },
];

const tools: readonly AgentStep[] = [
  {
    tool: {
      title: "Read a.txt",
      kind: "read",
      name: "read_file",
      locations: [{ path: "/project/a.txt", line: 3 }],
      rawInput: { path: "/project/a.txt" },
    },
    steps: [{ start: true }, { add: "three lines" }, { patch: { title: "Read a.txt, all of it" } }],
    rawOutput: { lines: 3 },
  },
  {
    tool: { title: "Edit a.txt", kind: "edit" },
    steps: [
      { diff: { path: "/project/a.txt", oldText: "a\nb\n", newText: "a\nc\n" } },
      { ask: true, as: "edit", on: { allowed: [{ add: "allowed by {{edit}}" }] } },
    ],
  },
  {
    tool: { title: "Delete b.txt", kind: "delete" },
    steps: [{ ask: true, on: { refused: [{ failTool: "The user said no." }] } }],
  },
  {
    tool: { title: "Run the tests", kind: "execute" },
    steps: [{ display: { command: "npm test" }, output: ["1 test\n", "1 passed\n"] }],
  },
  {
    tool: { title: "Write new.txt", kind: "edit" },
    steps: [{ diff: { path: "/project/new.txt", newText: "n\n" } }],
  },
  { tool: { title: "Think hard", kind: "think" }, status: "failed" },
  {
    update: {
      sessionUpdate: "tool_call_update",
      toolCallId: "by-hand",
      title: "Search the web",
      kind: "search",
      status: "in_progress",
    },
  },
  {
    update: {
      sessionUpdate: "tool_call_content_chunk",
      toolCallId: "by-hand",
      content: { type: "content", content: { type: "text", text: "found" } },
    },
  },
  { update: { sessionUpdate: "tool_call_update", toolCallId: "by-hand", status: "completed" } },
  {
    ask: {
      title: "Go on?",
      description: "It will take a while.",
      options: [
        { optionId: "go", name: "Go on", kind: "allow_always" },
        { optionId: "no", name: "Stop", kind: "reject_always" },
      ],
    },
    on: { go: [{ say: "I go on." }], no: [{ say: "I stop." }] },
  },
];

const services: readonly AgentStep[] = [
  { read: "/project/a.txt", as: "text" },
  { read: "/project/a.txt", line: 2, limit: 1, as: "line" },
  { read: "/project/missing.txt", as: "missing" },
  { write: "/project/written.txt", content: "written by the agent\n" },
  {
    tool: { title: "Run make", kind: "execute" },
    steps: [{ run: { command: "make", args: ["all"] }, as: "made" }],
  },
  { run: { command: "sleep", args: ["forever"] }, ops: ["output", "kill", "wait", "output", "release"] },
  { run: { command: "unknown" } },
];

const forms: readonly AgentStep[] = [
  {
    elicit: {
      mode: "form",
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string", title: "Name" }, age: { type: "integer" } },
        required: ["name"],
      },
    },
    as: "who",
    on: { accept: [{ say: "Welcome." }], decline: [{ say: "As you like." }] },
  },
  {
    elicit: {
      mode: "url",
      message: "Please log in.",
      elicitationId: "login-1",
      url: "https://example.com/login",
    },
    on: { accept: [{ completeElicitation: "login-1" }] },
  },
  { elicit: { mode: "url", message: "Pay?", elicitationId: "pay-1", url: "https://example.com/pay" } },
];

/** A config option whose first name is the current value; values are names in lower case. */
function select(configId: "mode" | "model", name: string, ...names: [string, ...string[]]) {
  const options = names.map((each) => ({ value: each.toLowerCase(), name: each }));
  const currentValue = names[0].toLowerCase();
  return { type: "select" as const, configId, name, category: configId, currentValue, options };
}

const mode = select("mode", "Mode", "Ask", "Code");
const model = select("model", "Model", "Small", "Large");
const verbose = { type: "boolean" as const, configId: "verbose", name: "Verbose", currentValue: false };
const help = { type: "command" as const, name: "help", description: "Shows help" };
const search = {
  type: "command" as const,
  name: "search",
  description: "Searches",
  input: { type: "text" as const, hint: "what" },
};

const state: readonly AgentStep[] = [
  { title: "Everything" },
  { usage: { used: 1200, size: 200_000, cost: { amount: 0.25, currency: "EUR" } } },
  { availableCommands: [help, search] },
  { mode: "code" },
  { notice: { severity: "warning", title: "Slow model", description: "It is Monday." } },
  { update: { sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" } },
  {
    update: {
      sessionUpdate: "compaction_summary_chunk",
      compactionId: "c1",
      content: { type: "text", text: "They greeted one another." },
    },
  },
  { update: { sessionUpdate: "compaction_update", compactionId: "c1", status: "completed" } },
  { tokens: { totalTokens: 30, inputTokens: 10, outputTokens: 20 } },
  { end: { stopReason: "max_tokens", _meta: { "example.com/why": "enough" } } },
];

const turns: readonly TurnScript[] = [
  { when: "messages", steps: messages },
  { when: "plans", steps: plans },
  { when: "tools", steps: tools },
  { when: "services", steps: services },
  { when: "forms", steps: forms },
  { when: "state", steps: state },
  {
    when: "unknown",
    steps: [
      { rawUpdate: { sessionUpdate: "weather_update", sky: "blue" } },
      { say: "The weather was reported." },
      { raw: { jsonrpc: "2.0", method: "vendor/notify", params: { hello: true } } },
    ],
  },
  {
    when: "later",
    steps: [
      { say: "I go on in the background." },
      {
        background: { title: "Watch the files", toolCallId: "watch" },
        steps: [{ start: true }, { wait: { gate: "watched" } }, { add: "one change" }],
        after: [{ usage: { used: 1400, size: 200_000 } }, { say: "The files were watched." }],
      },
      {
        later: [
          { usage: { used: 1300, size: 200_000 } },
          { say: "This came after the turn." },
          { title: "Everything, and more" },
          { work: [{ say: "Nobody asked for this turn." }] },
        ],
      },
    ],
  },
  {
    when: "cancel me",
    steps: [
      { tool: { title: "Wait for the end", kind: "other" }, steps: [{ start: true }, { wait: "cancelled" }] },
      { say: "A last word." },
    ],
  },
  { when: "refuse", steps: [{ end: "refusal" }] },
  { when: "too many", steps: [{ end: "max_turn_requests" }] },
  { when: "fail", steps: [{ fail: { code: -32050, message: "the model is gone", data: { retry: false } } }] },
];

const agent: AgentScenario = {
  parley: "agent-scenario",
  version: 1,
  name: "every-feature",
  title: "Every feature",
  unstable: ["fork", "usage", "plans", "subagents"],
  concurrentPrompts: "inbox",
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true },
  _meta: { "example.com/agent": true },
  authMethods: [{ type: "agent", methodId: "password", name: "Password" }],
  loginRequired: true,
  open: { configOptions: [mode, model, verbose], availableCommands: [help], title: "A new session" },
  sessions: [
    {
      sessionId: "old-session",
      cwd: "/project",
      title: "An old session",
      entries: [
        { kind: "prompt", messageId: "p1", prompt: [{ type: "text", text: "Once upon a time" }] },
        {
          kind: "update",
          update: {
            sessionUpdate: "agent_message",
            messageId: "m1",
            content: [{ type: "text", text: "there was a session." }],
          },
        },
        { kind: "result", messageId: "p1", result: { stopReason: "end_turn" } },
      ],
    },
  ],
  turns,
  otherwise: [{ say: "You said: {{prompt}}" }],
};

const client: ClientScenario = {
  parley: "client-scenario",
  version: 1,
  unstable: ["fork", "usage", "plans", "subagents"],
  login: "password",
  permissions: [
    { when: "Delete", answer: { kind: "reject_once" } },
    { when: "Go on?", answer: { kind: "allow_always" } },
    { answer: { kind: "allow_once" } },
  ],
  elicitations: [
    { when: "Who", answer: { action: "accept", content: { name: "Ann", age: 7 } } },
    { when: "log in", answer: { action: "accept" } },
    { answer: { action: "decline" } },
  ],
  files: { "/project/a.txt": "first\nsecond\nthird\n" },
  terminals: [
    { command: "make all", output: "made\n" },
    { command: "sleep forever", output: "zzz", exit: "runs" },
  ],
  steps: [
    { open: { cwd: "/project", additionalDirectories: ["/lib"], _meta: { "example.com/opens": 1 } } },
    { prompt: "messages" },
    {
      prompt: [
        { type: "text", text: "plans" },
        { type: "resource_link", name: "a", uri: "file:///project/a.txt" },
      ],
      _meta: { "example.com/prompt": "with meta" },
    },
    { prompt: "tools" },
    { prompt: "services" },
    { prompt: "forms" },
    { prompt: "state" },
    { prompt: "unknown" },
    { prompt: "later" },
    // three messages: in the turn, after it, and in the turn without a prompt
    { until: { update: "agent_message_chunk", nth: 3 } },
    { until: { state: "idle" } },
    { openGate: "watched" },
    { until: { update: "agent_message_chunk", nth: 4 } },
    { prompt: "cancel me", cancel: { update: "tool_call_update", nth: 2 } },
    { prompt: "refuse" },
    { prompt: "too many" },
    { prompt: "fail" },
    { setConfigOption: "model", value: "large" },
    { setConfigOption: "verbose", value: true },
    { setMode: "ask" },
    { setConfigOption: "model", value: "huge" },
    { fork: "main", as: "forked" },
    { prompt: "in the fork", session: "forked" },
    { close: "forked" },
    { close: "main" },
    { load: "main", as: "loaded" },
    { prompt: "after the load", session: "loaded" },
    { close: "loaded" },
    { resume: "main", as: "resumed" },
    { prompt: "after the resume", session: "resumed" },
    { load: { id: "old-session", cwd: "/project" }, as: "old" },
    { load: { id: "no-such-session", cwd: "/project" }, as: "nothing" },
    { delete: "forked" },
    { list: { cwd: "/project" } },
    { logout: true },
    { open: "/project", as: "second login" },
  ],
};

/** An agent and a client that use every feature; a version leaves out what it cannot express. */
export const everyFeature = { agent, client } as const;
