// How the keys of Parley's own additions are read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { extensionIn, takeoverKey } from "../extensions.ts";

test("a key is read in the spelling of older versions too, and the new spelling wins", () => {
  assert.equal(extensionIn({ "parley.dev/takeover": true }, takeoverKey), true);
  assert.equal(
    extensionIn({ "parley.dev/takeover": true, "_parley.dev/takeover": false }, takeoverKey),
    false,
  );
  assert.equal(extensionIn({ "_parley.dev/takeover": null }, takeoverKey), null);
});

test("an object without custom data has none of the keys", () => {
  for (const meta of [undefined, null, {}]) assert.equal(extensionIn(meta, takeoverKey), undefined);
});
