// What Parley sends in the dialect scoped is valid by the schemas of the document (its Appendix B).

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DialectMessage } from "@parley/acp/transport";
import { Ajv2020 } from "ajv/dist/2020.js";
import { documentNamed, type Json } from "../../../acp/test/documents/documents.ts";
import {
  configOptions,
  newSessionResponse,
  prompt,
  sessionId,
  updates,
} from "../../../acp/test/interop/v1-samples.ts";
import { scopedMachines as scoped } from "../../src/scoped/machines.ts";
import { DialectPair, introduction, welcome } from "./dialect-pair.ts";

const { examples, schemaExceptions = [] } = documentNamed("scoped");

/** Formats are annotations: `date-time` says nothing about validity. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });

function schemaOf(title: string): (value: unknown) => boolean {
  const found = examples.find(({ kind, message }) => kind === "schema" && message.title === title);
  assert.ok(found, `no schema ${title}`);
  return ajv.compile(found.message);
}

const isContentBlock = schemaOf("ContentBlock");
const isSessionUpdate = schemaOf("SessionUpdate");

/** Whether the schema has forgotten this kind of block. */
function isException(block: Json): boolean {
  return schemaExceptions.some(({ type }) => type === block.type);
}

function contentIn(messages: readonly DialectMessage[]): Json[] {
  return messages.flatMap(({ params }) => (params as { content: Json[] }).content);
}

function session(): DialectPair {
  const pair = new DialectPair(scoped);
  pair.ask("client", "initialize", introduction, welcome);
  pair.ask("client", "session/new", { cwd: "/project", mcpServers: [] }, newSessionResponse);
  return pair;
}

test("every block of a prompt is valid by the schema of the document, but for the blocks that it forgot", () => {
  const sent = session().sent("client", {
    jsonrpc: "2.0",
    id: 1,
    method: "session/prompt",
    params: { sessionId, prompt },
  });
  const blocks = contentIn(sent);
  assert.equal(blocks.length, prompt.length);
  const wrong = blocks.filter((block) => !isContentBlock(block));
  assert.deepEqual(
    wrong.filter((block) => !isException(block)),
    [],
  );
  for (const { type } of schemaExceptions)
    assert.ok(
      wrong.some((block) => block.type === type),
      `${type} is valid now: remove the exception`,
    );
});

test("every update of a whole session is valid by the schema of the document", () => {
  const pair = session();
  pair.say("client", {
    jsonrpc: "2.0",
    id: 1,
    method: "session/prompt",
    params: { sessionId, prompt: [{ type: "text", text: "go" }] },
  });
  // only what changes is told
  const changed = configOptions.map((each) =>
    each.type === "boolean" ? { ...each, currentValue: !each.currentValue } : each,
  );
  const all = [...updates, { sessionUpdate: "config_option_update", configOptions: changed }];
  const sent = all.flatMap((update) =>
    pair.sent("agent", {
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId, update: structuredClone(update) },
    }),
  );
  const kinds = new Set(sent.map(({ params }) => (params as Json).type));
  const schema = examples.find(({ message }) => message.title === "SessionUpdate")?.message;
  const { properties } = schema as { properties: { type: { enum: string[] } } };
  assert.deepEqual([...kinds].sort(), [...properties.type.enum].sort());
  assert.deepEqual(
    sent.filter(({ params }) => !isSessionUpdate(params)),
    [],
  );
});

test("every message of the document itself is valid by its schemas, but for the blocks that it forgot", () => {
  for (const { line, method, message } of examples) {
    if (method === "session/update") assert.ok(isSessionUpdate(message.params), `line ${line}`);
    if (method !== "session/prompt" || message.params === undefined) continue;
    for (const block of contentIn([message as unknown as DialectMessage]))
      assert.ok(isContentBlock(block) || isException(block), `line ${line}: ${JSON.stringify(block)}`);
  }
});
