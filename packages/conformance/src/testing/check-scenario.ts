// Checks scenarios of agents and clients before they run.

import type { Shape } from "@parley/acp/internal";
import type { AgentScenario } from "./agent-scenario.ts";
import type { AgentVerb } from "./agent-steps.ts";
import type { ClientScenario } from "./client-scenario.ts";
import type { ClientVerb } from "./client-steps.ts";
import {
  anything,
  checkScenario,
  count,
  either,
  fields,
  flag,
  json,
  lazy,
  listOf,
  mapOf,
  object,
  oneOf,
  stepOf,
  text,
  type VerbShapes,
  whole,
  yes,
} from "./shape.ts";
import * as wire from "./wire-shapes.ts";

const steps: Shape = lazy("a list of steps", () => stepList);
const branches = mapOf(steps);
const chunk = { times: count, size: count, messageId: text, _meta: object };
const keep = { as: text };
const gate = fields("a gate", { "gate!": text });
const command = fields("a command", {
  "command!": text,
  args: listOf(text),
  env: mapOf(text),
  cwd: text,
  outputByteLimit: count,
  timeoutMs: count,
});

const toolStart = fields("how a tool call begins", {
  ...wire.toolFields,
  "title!": text,
  toolCallId: text,
  cancellable: flag,
});

const agentVerbs: VerbShapes<AgentVerb> = {
  say: [wire.textOrBlock, chunk],
  think: [wire.textOrBlock, chunk],
  plan: [wire.planEntries, { planId: text }],
  tool: [toolStart, { steps, status: oneOf("completed", "failed", "cancelled", false), rawOutput: anything }],
  background: [
    toolStart,
    { steps, status: oneOf("completed", "failed", "cancelled"), rawOutput: anything, after: steps },
  ],
  work: [steps],
  start: [yes],
  add: [either(text, object)],
  diff: [fields("a change of one file", { "path!": text, "newText!": text, oldText: text })],
  patch: [object],
  failTool: [text],
  display: [
    fields("a terminal to show", { command: text, cwd: text }),
    { output: either(text, listOf(text)), exit: either(oneOf(false), wire.exitStatus) },
  ],
  ask: [either(yes, text, wire.permissionAsk), { choices: wire.permissionOptions, on: branches, ...keep }],
  elicit: [wire.elicitationAsk, { on: branches, ...keep }],
  completeElicitation: [text],
  read: [text, { line: count, limit: count, encoding: wire.encoding, ...keep }],
  write: [text, { "content!": text, encoding: wire.encoding, overwrite: flag }],
  run: [
    command,
    {
      ops: listOf(
        either(
          oneOf("output", "wait", "kill", "release"),
          fields("a limited wait", { "waitMs!": count }),
          fields("a signal to send", { "signal!": text }),
          lazy("a step", () => step),
        ),
      ),
      ...keep,
    },
  ],
  notice: [wire.notice],
  usage: [wire.contextUsage],
  tokens: [wire.tokenUsage],
  title: [text],
  availableCommands: [wire.commandList],
  configOptions: [wire.configOptions],
  mode: [text],
  update: [object],
  rawUpdate: [anything],
  raw: [wire.rawMessage],
  call: [fields("a request", { "method!": text, params: anything, id: either(text, whole) }), keep],
  take: [yes, keep],
  wait: [either(oneOf("cancelled", "prompt"), gate)],
  delay: [count],
  repeat: [count, { "steps!": steps }],
  later: [steps],
  end: [either(text, object)],
  fail: [either(oneOf("bug"), wire.scriptedError)],
  crash: [wire.crash],
  hang: [oneOf("turn", "agent")],
};

const step = stepOf(agentVerbs);
const stepList = listOf(step, "a list of steps");

const agentScenario = fields("an agent's scenario", {
  "parley!": oneOf("agent-scenario"),
  "version!": oneOf(1),
  name: text,
  title: text,
  editions: wire.editions,
  unstable: wire.unstable,
  promptCapabilities: wire.flagsOf("kinds of content", "image", "audio", "embeddedContext"),
  mcpCapabilities: wire.flagsOf("kinds of MCP server", "http", "sse"),
  concurrentPrompts: oneOf("queue", "reject", "inbox"),
  _meta: object,
  authMethods: wire.authMethodList,
  loginRequired: flag,
  open: fields("what a session shows", {
    configOptions: wire.configOptions,
    availableCommands: wire.commandList,
    title: text,
    steps,
  }),
  sessions: listOf(
    fields("a session", { "sessionId!": text, "cwd!": text, title: text, entries: listOf(object) }),
  ),
  turns: listOf(
    fields("a turn", {
      when: either(text, fields("a part of the prompt", { "contains!": text })),
      "steps!": steps,
    }),
  ),
  otherwise: steps,
  wire: wire.wireRules,
});

/** The scenario, as it was given. Throws ScenarioError. */
export function checkAgentScenario(value: unknown): AgentScenario {
  checkScenario(value, agentScenario);
  return value as AgentScenario; // checked above
}

const sessionRef = either(text, fields("a session by its id", { "id!": text, "cwd!": text }));
const updateCount = fields("the nth update of a kind", { "update!": text, nth: count });
const inSession = { session: text };

const clientVerbs: VerbShapes<ClientVerb> = {
  open: [
    either(
      text,
      fields("a place", {
        "cwd!": text,
        additionalDirectories: listOf(text),
        mcpServers: listOf(object),
        _meta: object,
      }),
    ),
    keep,
  ],
  load: [sessionRef, keep],
  resume: [sessionRef, keep],
  fork: [sessionRef, keep],
  close: [text],
  delete: [sessionRef],
  list: [fields("a query", { cwd: text })],
  prompt: [
    either(text, listOf(wire.contentBlock)),
    {
      _meta: object,
      cancel: either(oneOf("at-once", "at-permission"), gate, updateCount),
      wait: flag,
      ...inSession,
    },
  ],
  settle: [yes],
  cancel: [text],
  cancelToolCall: [text, inSession],
  cancelTerminal: [text, inSession],
  setConfigOption: [text, { "value!": json, ...inSession }],
  setMode: [text, inSession],
  login: [text, { credentials: object }],
  logout: [yes],
  request: [text, { params: anything }],
  notify: [text, { params: anything }],
  openGate: [text],
  until: [either(oneOf("closed"), gate, updateCount, fields("a state", { "state!": text })), inSession],
  delay: [count],
  raw: [wire.rawMessage],
  call: [text, { params: anything }],
  disconnect: [oneOf("close", "die")],
};

const clientScenario = fields("a client's scenario", {
  "parley!": oneOf("client-scenario"),
  "version!": oneOf(1),
  name: text,
  editions: wire.editions,
  unstable: wire.unstable,
  _meta: object,
  permissions: listOf(
    fields("a rule for questions", {
      when: text,
      "answer!": either(
        oneOf("cancel", "never"),
        fields("an option", { "option!": text }),
        fields("a kind of option", { "kind!": text }),
      ),
      gate: text,
      times: count,
    }),
  ),
  elicitations: listOf(
    fields("a rule for forms and addresses", {
      when: text,
      "answer!": either(
        oneOf("never"),
        fields("an answer", {
          "action!": oneOf("accept", "decline", "cancel"),
          content: object,
          _meta: object,
        }),
      ),
      gate: text,
      times: count,
    }),
  ),
  files: mapOf(text),
  terminals: listOf(
    fields("a command", {
      "command!": text,
      output: text,
      pid: count,
      exit: either(oneOf("runs"), fields("an exit status", { exitCode: whole, signal: text })),
    }),
  ),
  login: text,
  credentials: object,
  "steps!": listOf(stepOf(clientVerbs, "cancel"), "a list of steps"),
  wire: wire.wireRules,
});

/** The scenario, as it was given. Throws ScenarioError. */
export function checkClientScenario(value: unknown): ClientScenario {
  checkScenario(value, clientScenario);
  return value as ClientScenario; // checked above
}
