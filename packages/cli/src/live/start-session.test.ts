// Tests the hints of errors that end a run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError } from "@parley/acp";
import { liveErrorFrom } from "./start-session.ts";

test("a hint for a remote agent speaks of the network, not of a program or its stderr", () => {
  for (const kind of ["closed", "protocol"] as const) {
    const hint = (isRemote: boolean) =>
      String((liveErrorFrom(new ConnectionError(kind, "gone"), { isRemote }) as { hint?: string }).hint);
    assert.match(hint(true), /^check the network between here and the agent/);
    assert.match(hint(false), /stderr|COMMAND/);
  }
});
