// Switches the second check of encoded updates on. `npm run check` imports it into every test process.

import assert from "node:assert/strict";
import { encodedCheck } from "../src/peer/agent/encoded-check.ts";

encodedCheck.compare = (params, text) => {
  const message = { jsonrpc: "2.0", method: "session/update", params };
  assert.deepEqual(
    JSON.parse(text),
    JSON.parse(JSON.stringify(message)),
    "the text of an update says the same",
  );
};
