// The messages of all benchmarks, built fresh for each use.

const words =
  "the agent reads a file then edits one line and runs every test again until all of it passes".split(" ");

/** A text of exactly `length` characters that depends on `seed` only. */
function prose(seed: number, length: number): string {
  let text = "";
  for (let i = seed; text.length < length; i += 7) text += `${words[i % words.length]} `;
  // Buffer.from flattens the rope, so that no entrant pays for it inside the measured loop.
  return Buffer.from(text.slice(0, length)).toString("latin1");
}

const chunkTexts = Array.from({ length: 64 }, (_, seed) => prose(seed, 60));
const longTexts = Array.from({ length: 16 }, (_, seed) => prose(seed, 2_000));
const outputs = Array.from({ length: 16 }, (_, seed) => prose(seed, 400));
const paths = Array.from({ length: 16 }, (_, seed) => `/project/code/src/module-${seed}/index.ts`);

const text = (i: number) => chunkTexts[i & 63] as string;
const output = (i: number) => outputs[i & 15] as string;
const path = (i: number) => paths[i & 15] as string;

export const sessionId = "sess_01HZX3M5Q8V7W2N4K6P9R0T1";

const messageChunk = (i: number) => ({
  sessionUpdate: "agent_message_chunk" as const,
  content: { type: "text" as const, text: text(i) },
});

const longChunk = (i: number) => ({
  sessionUpdate: "agent_message_chunk" as const,
  content: { type: "text" as const, text: longTexts[i & 15] as string },
});

const thoughtChunk = (i: number) => ({
  sessionUpdate: "agent_thought_chunk" as const,
  content: { type: "text" as const, text: text(i) },
});

const toolCall = (i: number) => ({
  sessionUpdate: "tool_call" as const,
  toolCallId: `call_${i}`,
  title: `Read ${path(i)}`,
  kind: "read" as const,
  status: "pending" as const,
  content: [],
  locations: [{ path: path(i), line: 1 + (i % 500) }],
  rawInput: { path: path(i), limit: 200 },
});

const toolCallUpdate = (i: number) => ({
  sessionUpdate: "tool_call_update" as const,
  toolCallId: `call_${i}`,
  status: "completed" as const,
  content: [
    { type: "content" as const, content: { type: "text" as const, text: output(i) } },
    { type: "diff" as const, path: path(i), oldText: text(i), newText: text(i + 1) },
  ],
  locations: [{ path: path(i), line: 1 + (i % 500) }],
  rawOutput: { exitCode: 0, bytes: i % 4096 },
});

const statuses = ["completed", "in_progress", "pending"] as const;
const priorities = ["high", "medium", "low"] as const;

const plan = (i: number) => ({
  sessionUpdate: "plan" as const,
  entries: Array.from({ length: 6 }, (_, n) => ({
    content: text(i + n),
    priority: priorities[n % 3] as (typeof priorities)[number],
    status: statuses[n % 3] as (typeof statuses)[number],
  })),
});

const commands = (i: number) => ({
  sessionUpdate: "available_commands_update" as const,
  availableCommands: Array.from({ length: 12 }, (_, n) => ({
    name: `command-${n}`,
    description: text(i + n),
    input: n % 2 === 0 ? { hint: "what to do" } : null,
  })),
});

const modeUpdate = () => ({ sessionUpdate: "current_mode_update" as const, currentModeId: "code" });

const usage = (i: number) => ({
  sessionUpdate: "usage_update" as const,
  used: i,
  size: 200_000,
  cost: { amount: i / 1000, currency: "USD" },
});

/** 70 chunks, 10 thoughts, 6 tool calls, 10 tool updates, 2 plans, 1 commands, 1 usage per 100, spread evenly. */
const kindOf = Array.from({ length: 100 }, (_, i) => {
  const slot = (i * 37) % 100;
  if (slot < 70) return messageChunk;
  if (slot < 80) return thoughtChunk;
  if (slot < 86) return toolCall;
  if (slot < 96) return toolCallUpdate;
  if (slot < 98) return plan;
  return slot === 98 ? commands : usage;
});

const mixed = (i: number) => (kindOf[i % 100] as (typeof kindOf)[number])(i);

/** The streams that an agent can be asked for: `<name> <count>` as the text of a prompt. */
export const streams = {
  chunks: (i: number) => ({ sessionId, update: messageChunk(i) }),
  mix: (i: number) => ({ sessionId, update: mixed(i) }),
  long: (i: number) => ({ sessionId, update: longChunk(i) }),
};

/** One update of a tool call in v2's wire. */
export const v2ToolUpdate = (i: number) => ({
  sessionId,
  update: {
    sessionUpdate: "tool_call_update" as const,
    toolCallId: `call_${i}`,
    title: `Read ${path(i)}`,
    kind: "read" as const,
    status: "in_progress" as const,
    content: [{ type: "content" as const, content: { type: "text" as const, text: output(i) } }],
    locations: [{ path: path(i), line: 1 + (i % 500) }],
    rawInput: { path: path(i), limit: 200 },
  },
});

/** `initialize`, as every entrant's client sends it on v1. */
export const initializeParams = () => ({
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  clientInfo: { name: "bench", title: "Benchmark", version: "1.0.0" },
});

/** `initialize`, as every entrant's agent answers it on v1. */
export const initializeResult = () => ({
  protocolVersion: 1,
  agentCapabilities: { loadSession: false, promptCapabilities: { image: true } },
  agentInfo: { name: "bench-agent", title: "Benchmark agent", version: "1.0.0" },
});

const update = (params: object) => ({ method: "session/update", params: { sessionId, update: params } });

/** The twelve kinds of v1 messages on which validation is compared with JSON.parse. */
export const kinds: Readonly<Record<string, (i: number) => { method: string; params: object }>> = {
  initialize: () => ({ method: "initialize", params: initializeParams() }),
  "session/new": (i) => ({
    method: "session/new",
    params: {
      cwd: path(i),
      mcpServers: [
        {
          name: "files",
          command: "/usr/bin/mcp-files",
          args: ["--root", path(i)],
          env: [{ name: "A", value: "1" }],
        },
        {
          type: "http",
          name: "web",
          url: "https://example.com/mcp",
          headers: [{ name: "X-Key", value: "k" }],
        },
      ],
    },
  }),
  "session/prompt": (i) => ({
    method: "session/prompt",
    params: {
      sessionId,
      prompt: [
        { type: "text", text: output(i) },
        { type: "resource_link", uri: `file://${path(i)}`, name: "index.ts" },
        { type: "resource", resource: { uri: `file://${path(i)}`, text: text(i), mimeType: "text/plain" } },
      ],
    },
  }),
  agent_message_chunk: (i) => update(messageChunk(i)),
  agent_thought_chunk: (i) => update(thoughtChunk(i)),
  tool_call: (i) => update(toolCall(i)),
  tool_call_update: (i) => update(toolCallUpdate(i)),
  plan: (i) => update(plan(i)),
  available_commands_update: (i) => update(commands(i)),
  current_mode_update: () => update(modeUpdate()),
  usage_update: (i) => update(usage(i)),
  "session/request_permission": (i) => ({
    method: "session/request_permission",
    params: {
      sessionId,
      toolCall: { toolCallId: `call_${i}`, title: `Edit ${path(i)}`, kind: "edit", status: "pending" },
      options: [
        { optionId: "once", name: "Allow once", kind: "allow_once" },
        { optionId: "always", name: "Allow always", kind: "allow_always" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    },
  }),
};

/** One chunk of an agent's message, as a session's history holds it. */
export const chunkEntry = (seq: number) => ({
  format: 1 as const,
  seq,
  time: seq,
  kind: "update" as const,
  update: {
    sessionUpdate: "agent_message_chunk" as const,
    messageId: "m1",
    content: { type: "text" as const, text: text(seq) },
  },
});
