// Checks the scenario of a scripted client.

import type { Shape } from "../base/shape.ts";
import type { ClientScenario } from "./client-scenario.ts";
import type { ClientVerb } from "./client-steps.ts";
import {
  anything,
  checkScenario,
  count,
  either,
  fields,
  flag,
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

const sessionRef = either(text, fields("a session by its id", { "id!": text, "cwd!": text }));
const gate = fields("a gate", { "gate!": text });
const updateCount = fields("the nth update of a kind", { "update!": text, nth: count });
const inSession = { session: text };
const named = { as: text };

/** The value of each verb, and its options. */
const verbs: Readonly<Record<ClientVerb, readonly [Shape, Readonly<Record<string, Shape>>?]>> = {
  open: [
    either(
      text,
      fields("a place", {
        "cwd!": text,
        additionalDirectories: listOf(text),
        mcpServers: listOf(object),
        meta: object,
      }),
    ),
    named,
  ],
  load: [sessionRef, named],
  resume: [sessionRef, named],
  fork: [sessionRef, named],
  close: [text],
  delete: [sessionRef],
  list: [fields("a query", { cwd: text })],
  prompt: [
    either(text, listOf(wire.contentBlock)),
    {
      meta: object,
      cancel: either(oneOf("at-once", "at-permission"), gate, updateCount),
      wait: flag,
      ...inSession,
    },
  ],
  settle: [yes],
  cancel: [text],
  cancelTool: [text, inSession],
  cancelTerminal: [text, inSession],
  setOption: [text, { "value!": either(text, flag), ...inSession }],
  setMode: [text, inSession],
  login: [text],
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

const scenario = fields("a client's scenario", {
  "parley!": oneOf("client-scenario"),
  "version!": oneOf(1),
  name: text,
  versions: wire.versions,
  unstable: wire.unstable,
  meta: object,
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
      exit: either(oneOf("runs"), fields("an exit status", { exitCode: whole, signal: text })),
    }),
  ),
  login: text,
  "steps!": listOf(stepOf(verbs, "cancel"), "a list of steps"),
  wire: wire.wireRules,
});

/** The scenario, as it was given. Throws ScenarioError. */
export function checkClientScenario(value: unknown): ClientScenario {
  checkScenario(value, scenario);
  return value as ClientScenario; // checked above
}
