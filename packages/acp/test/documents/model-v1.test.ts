// Every example of the documents about version 1 that the model can say is decoded into the model and encoded again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isObject } from "../../src/base/objects.ts";
import type { AgentOp, ClientCapabilities } from "../../src/edition/agent-edition.ts";
import type { ClientSessionSink } from "../../src/edition/client-edition.ts";
import { MessageNames } from "../../src/edition/message-names.ts";
import { v1AgentEdition } from "../../src/edition/v1/agent.ts";
import { v1ClientEdition } from "../../src/edition/v1/client.ts";
import { metaOf } from "../../src/edition/wire-fields.ts";
import type { PromptResult, SessionUpdate } from "../../src/model/update.ts";
import { documents, type Example, type Json } from "./documents.ts";

/** What the model adds to a message, and why. */
const listed = JSON.parse(
  readFileSync(new URL("model-additions.json", import.meta.url), "utf8"),
) as readonly { readonly of: string; readonly at: string; readonly why: string }[];

const setup = v1ClientEdition.setup({
  sessionId: "s",
  modes: {
    currentModeId: "ask",
    availableModes: [
      { id: "ask", name: "Ask" },
      { id: "code", name: "Code" },
    ],
  },
  models: { currentModelId: "model_gpt4", availableModels: [{ modelId: "model_gpt4", name: "GPT-4" }] },
});

const features: ClientCapabilities = v1AgentEdition.client({}).capabilities;

/** What a request of a client becomes after the model; undefined for a request that the model does not route. */
function requestAgain(method: string, params: Json): Json | undefined {
  const op = v1AgentEdition.decode(method, params, () => setup.configOptions);
  return op && encoded(op);
}

function encoded(op: AgentOp): Json | undefined {
  switch (op.op) {
    case "login":
      return v1ClientEdition.login(op.methodId, op._meta).params as Json;
    case "new":
      return v1ClientEdition.open(op.activation).params as Json;
    case "activate":
      return v1ClientEdition.activate(op.sessionId, op.activation, op.replay).params as Json;
    case "set_option": {
      const option = setup.configOptions.find(({ configId }) => configId === op.configId);
      assert.ok(option, `no option ${op.configId}`);
      return v1ClientEdition.setOption(op.sessionId, option, op.value, op._meta).params as Json;
    }
    case "prompt": {
      const { op: _, ...params } = op;
      return params;
    }
    default:
      return undefined;
  }
}

function updateAgain({ sessionId, update }: Json): Json {
  const { sessionUpdate, toolCallId } = update as Json;
  const session = v1ClientEdition.session([], new MessageNames());
  session.setOptions(setup.configOptions);
  const updates: SessionUpdate[] = [];
  session.receive(update as object, sink({ update: (each) => updates.push(each) }));
  const encoder = v1AgentEdition.session(setup, features);
  encoder.addClientTerminal("term_xyz789");
  // a call is announced before it is changed
  if (sessionUpdate === "tool_call_update")
    encoder.encode({ sessionUpdate, toolCallId: String(toolCallId), title: "Tool" });
  const again = updates.flatMap((each) => encoder.encode(each) ?? []) as Json[];
  // a mode is said as an option, too
  return { sessionId, update: again.find((each) => each.sessionUpdate === sessionUpdate) };
}

function sink(parts: Partial<ClientSessionSink>): ClientSessionSink {
  const nothing = () => undefined;
  return {
    toolCalls: { isBeyond: () => false },
    update: nothing,
    accepted: nothing,
    outcome: nothing,
    failed: nothing,
    ...parts,
  };
}

function answerAgain(method: string, result: Json): Json | undefined {
  switch (method) {
    case "initialize":
      return v1AgentEdition.introduce(v1ClientEdition.agent(result)) as Json;
    case "authenticate":
      return v1AgentEdition.encode(method, { kind: "none", ...metaOf(result) }) as Json;
    case "session/new":
      return v1AgentEdition.encode(method, {
        kind: "session",
        setup: v1ClientEdition.setup(result),
        client: features,
      }) as Json;
    case "session/prompt": {
      const session = v1ClientEdition.session([], new MessageNames());
      let outcome: PromptResult | undefined;
      const out = sink({ outcome: (_prompt, each) => (outcome = each) });
      session.promptSent(1, [], out);
      session.promptAnswered(1, result, out);
      assert.ok(outcome);
      return v1AgentEdition.prompts.ended(outcome) as Json;
    }
    default:
      return undefined;
  }
}

function again({ method, kind, message }: Example): Json | undefined {
  if (kind === "answer")
    return message.result == null ? undefined : answerAgain(method, message.result as Json);
  const params = message.params as Json;
  if (method === "session/update") return updateAgain(params);
  if (method === "session/request_permission") {
    const { sessionId, ask } = v1ClientEdition.permission(params, () => undefined);
    return v1AgentEdition.permission(sessionId, ask).params as Json;
  }
  return requestAgain(method, params);
}

/** Requests for files and terminals, and what has no counterpart in an edition: wire-v1.test.ts has them. */
function isOfTheWire({ method, kind, from }: Example): boolean {
  if (/^(?:fs|terminal)\/|^_|^session\/cancel$/.test(method)) return true;
  return (
    (method === "initialize" && from === "client") ||
    (method === "session/request_permission" && kind === "answer")
  );
}

/** The paths of what the first has and the second has not. All else is the same. */
function additions(got: unknown, wanted: unknown, path = ""): string[] {
  if (!isObject(got) || !isObject(wanted)) {
    assert.deepEqual(got, wanted, path);
    return [];
  }
  const keys = new Set([...Object.keys(got), ...Object.keys(wanted)]);
  return [...keys].flatMap((key) =>
    key in wanted ? additions(got[key], wanted[key], `${path}/${key}`) : [`${path}/${key}`],
  );
}

for (const [name, { edition, examples }] of documents) {
  if (edition !== "v1") continue;
  for (const example of examples) {
    const { line, section, method, kind, message } = example;
    if (isOfTheWire(example)) continue;
    test(`${name}, ${section} (line ${line}): ${method} means the same after the model`, () => {
      const result = again({ ...example, message: structuredClone(message) });
      const added = additions(result, message[kind === "answer" ? "result" : "params"]);
      const allowed = listed.filter(({ of }) => of === `${method} ${kind}`);
      for (const path of added)
        assert.ok(
          allowed.some((each) => new RegExp(each.at).test(path)),
          `${path} was added`,
        );
    });
  }
}
