import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientSession } from "@parley/acp";
import type { JsonValue } from "@parley/acp/model";
import { applySetup } from "./session-setup.ts";

/** What is set of an option of any JSON type that has this value. */
async function setFor(currentValue: JsonValue, wanted: JsonValue): Promise<unknown[]> {
  const set: unknown[] = [];
  const session = {
    configOptions: [{ type: "_json", configId: "limits", name: "Limits", currentValue }],
    setConfigOption: async (configId: string, value: JsonValue) => void set.push([configId, value]),
  } as unknown as ClientSession; // what a setup needs of one
  assert.deepEqual(await applySetup(session, { options: { limits: wanted } }, []), []);
  return set;
}

test("an option of any JSON type is set to the value that was chosen, or to the JSON that was typed", async () => {
  assert.deepEqual(await setFor({ tokens: 1 }, { tokens: 2 }), [["limits", { tokens: 2 }]]);
  assert.deepEqual(await setFor(1, "[2]"), [["limits", [2]]]);
  assert.deepEqual(await setFor("text", "2"), [["limits", "2"]]);
  assert.deepEqual(await setFor(1, "no JSON"), [["limits", "no JSON"]]);
  assert.deepEqual(await setFor([1], [1]), [], "it has the value already");
});
