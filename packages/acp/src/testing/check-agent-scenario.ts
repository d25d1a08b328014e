// Checks the scenario of a scripted agent.

import type { Shape } from "../base/shape.ts";
import type { AgentScenario } from "./agent-scenario.ts";
import type { AgentVerb } from "./agent-steps.ts";
import {
  anything,
  checkScenario,
  count,
  either,
  fields,
  flag,
  lazy,
  listOf,
  mapOf,
  object,
  oneOf,
  text,
  whole,
  yes,
} from "./shape.ts";
import { stepOf } from "./step-shape.ts";
import * as wire from "./wire-shapes.ts";

const steps: Shape = lazy("a list of steps", () => stepList);
const branches = mapOf(steps);
const chunk = { times: count, size: count, messageId: text, meta: object };
const keep = { as: text };
const permissionAsk = fields("a question", {
  "title!": text,
  description: text,
  subject: object,
  "options!": wire.permissionOptions,
  _meta: object,
});
const elicitationAsk = fields("a form or an address", {
  "mode!": oneOf("form", "url"),
  "message!": text,
  requestedSchema: wire.formSchema,
  elicitationId: text,
  url: text,
  toolCallId: text,
  _meta: object,
});
const command = fields("a command", {
  "command!": text,
  args: listOf(text),
  env: mapOf(text),
  cwd: text,
  outputByteLimit: count,
});

const toolStart = fields("how a tool call begins", {
  ...wire.toolFields,
  "title!": text,
  toolCallId: text,
  cancellable: flag,
});

/** The value of each verb, and its options. */
const verbs: Readonly<Record<AgentVerb, readonly [Shape, Readonly<Record<string, Shape>>?]>> = {
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
  ask: [either(yes, text, permissionAsk), { choices: wire.permissionOptions, on: branches, ...keep }],
  elicit: [elicitationAsk, { on: branches, ...keep }],
  completeElicitation: [text],
  read: [text, { line: count, limit: count, ...keep }],
  write: [text, { "content!": text }],
  run: [
    command,
    {
      ops: listOf(
        either(
          oneOf("output", "wait", "kill", "release"),
          lazy("a step", () => step),
        ),
      ),
      ...keep,
    },
  ],
  notice: [
    fields("a notice", {
      "severity!": oneOf("info", "warning", "error"),
      "title!": text,
      description: text,
    }),
  ],
  usage: [fields("how full the context is", { "used!": count, "size!": count, cost: object })],
  tokens: [wire.tokenUsage],
  title: [text],
  commands: [wire.commandList],
  options: [wire.configOptions],
  mode: [text],
  update: [object],
  rawUpdate: [anything],
  raw: [wire.rawMessage],
  call: [fields("a request", { "method!": text, params: anything, id: either(text, whole) }), keep],
  take: [yes, keep],
  wait: [either(oneOf("cancelled", "prompt"), fields("a gate", { "gate!": text }))],
  delay: [count],
  repeat: [count, { "steps!": steps }],
  later: [steps],
  end: [either(text, object)],
  fail: [either(oneOf("bug"), wire.scriptedError)],
  crash: [wire.crash],
  hang: [oneOf("turn", "agent")],
};

const step = stepOf(verbs);
const stepList = listOf(step, "a list of steps");

const scenario = fields("an agent's scenario", {
  "parley!": oneOf("agent-scenario"),
  "version!": oneOf(1),
  name: text,
  title: text,
  versions: wire.versions,
  unstable: wire.unstable,
  accepts: wire.flagsOf("kinds of content", "image", "audio", "embeddedContext"),
  mcp: wire.flagsOf("kinds of MCP server", "http", "sse"),
  steering: flag,
  concurrentPrompts: oneOf("queue", "reject"),
  meta: object,
  authMethods: wire.authMethodList,
  loginRequired: flag,
  open: fields("what a session shows", {
    options: wire.configOptions,
    commands: wire.commandList,
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
  checkScenario(value, scenario);
  return value as AgentScenario; // checked above
}
