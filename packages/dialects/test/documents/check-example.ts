// Checks one message of a document about a dialect: what it becomes in version 1, and that the same is sent again.

import assert from "node:assert/strict";
import type { DialectMachines, DialectMessage } from "@parley/acp/transport";
import { documentNamed, type Example } from "../../../acp/test/documents/documents.ts";
import {
  bindMethod,
  encodeParams,
  encodeResult,
  Failure,
  v1Methods as methods,
} from "../../src/exchange/library.ts";
import { pairFor } from "./dialect-pair.ts";

/** The examples that are messages. */
export function messagesOf(name: "pharo" | "scoped"): readonly Example[] {
  return documentNamed(name).examples.filter(({ kind }) => kind !== "settings" && kind !== "schema");
}

export function checkExample(dialect: DialectMachines, example: Example): void {
  const { from, method, message, v1, returns, exception } = example;
  const pair = pairFor(dialect, example);
  const arrived = pair.received(from === "client" ? "agent" : "client", message as unknown as DialectMessage);
  assert.deepEqual(arrived, v1);
  for (const each of arrived) assertOfVersion1(each, method);
  const again = arrived.flatMap((each) => pair.sent(from, each));
  assert.deepEqual(again, returns ?? [message]);
  assert.equal(exception !== undefined, returns !== undefined, "an exception says what is sent instead");
  if (returns !== undefined) assert.notDeepEqual(again, [message], "the exception is not needed any more");
}

/** The schema of version 1, strictly: what we send. System prompts are an unstable feature of it. */
function assertOfVersion1(message: DialectMessage, asked: string): void {
  const { method = asked } = message;
  if (method.startsWith("_") || message.error !== undefined) return;
  const row = methods.find((each) => each.method === method);
  assert.ok(row, `version 1 has no ${method}`);
  const bound = bindMethod(row, "*");
  const copy = structuredClone(message);
  const checked =
    message.method === undefined ? encodeResult(bound, copy.result) : encodeParams(bound, copy.params);
  assert.ok(!(checked instanceof Failure), JSON.stringify(checked));
}
