import assert from "node:assert/strict";
import { test } from "node:test";
import * as v1 from "../../v1.gen.ts";
import * as v2 from "../../v2.gen.ts";

for (const [version, { schemaProblem }] of Object.entries({ v1, v2 })) {
  test(`a value is checked against a type of the schema of ${version}, without being changed`, () => {
    assert.equal(schemaProblem("ContentBlock", { type: "text", text: "hello" }), undefined);
    const block = Object.freeze({ type: "text", text: 5 });
    const { path, expected, got } = schemaProblem("ContentBlock", block) ?? {};
    assert.deepEqual([path, expected, got], ["/text", "string", "number"]);
    assert.equal(schemaProblem("ContentBlock", null)?.got, "null");
  });

  test(`a type that the schema of ${version} does not have is refused, and the nearest one is named`, () => {
    const message =
      'schemaProblem: the schema has no type "PermissionOptoin"; did you mean PermissionOption?';
    assert.throws(() => schemaProblem("PermissionOptoin", {}), { name: "TypeError", message });
    assert.throws(() => schemaProblem("toString", {}), { message: /no type "toString"$/ });
  });
}
