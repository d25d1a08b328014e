import assert from "node:assert/strict";
import { test } from "node:test";
import { pharo, scoped } from "@parley/dialects";
import * as library from "../../src/exchange/library.ts";

test("every key that a dialect says it understands is one that the library has", () => {
  const known = new Set<unknown>(Object.values(library));
  for (const { name, understands = [] } of [pharo(), scoped()]) {
    assert.ok(understands.length > 0, name);
    assert.deepEqual(
      understands.filter((key) => !known.has(key)),
      [],
      name,
    );
  }
});
