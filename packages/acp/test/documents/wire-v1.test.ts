// Every example of the documents about version 1 passes the decoder and is sent as it is written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { methods } from "../../src/edition/v1/methods.ts";
import {
  bindMethod,
  decodeParams,
  decodeResult,
  encodeParams,
  encodeResult,
  Failure,
} from "../../src/wire/decode.ts";
import { documents, type Example } from "./documents.ts";

/** The params or the result as they arrive and as they are sent on. */
function throughTheWire({ method, kind, message }: Example): { decoded: unknown; encoded: unknown } {
  const row = methods.find((each) => each.method === method);
  assert.ok(row, `version 1 has no ${method}`);
  const bound = bindMethod(row);
  const copy = structuredClone(message);
  if (kind === "answer") {
    const decoded = decodeResult(bound, copy.result);
    return { decoded, encoded: encodeResult(bound, structuredClone(decoded)) };
  }
  const decoded = decodeParams(bound, copy.params);
  return { decoded, encoded: encodeParams(bound, structuredClone(decoded)) };
}

for (const [name, { edition, examples }] of documents) {
  if (edition !== "v1") continue;
  for (const example of examples) {
    const { line, section, method, kind, message, returns, exception } = example;
    // custom methods and errors have no schema; the relay's test has them
    if (method.startsWith("_") || message.error !== undefined) continue;
    test(`${name}, ${section} (line ${line}): ${method} is read and sent as written`, () => {
      const { decoded, encoded } = throughTheWire(example);
      assert.ok(!(decoded instanceof Failure), JSON.stringify(decoded));
      assert.ok(!(encoded instanceof Failure), JSON.stringify(encoded));
      const part = kind === "answer" ? "result" : "params";
      const [sent = message] = returns ?? [];
      assert.deepEqual(encoded, sent[part]);
      assert.equal(exception !== undefined, returns !== undefined, "an exception says what is sent");
      if (returns !== undefined) assert.notDeepEqual(sent, message, "the exception is not needed any more");
    });
  }
}
