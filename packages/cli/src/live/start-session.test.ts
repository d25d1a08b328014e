// Tests the hints of errors that end a run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, RequestError } from "@parley/acp";
import { busySession } from "./live-error.ts";
import { liveErrorFrom } from "./start-session.ts";

test("a hint for a remote agent speaks of the network, not of a program or its stderr", () => {
  for (const kind of ["closed", "protocol"] as const) {
    const hint = (server?: string) =>
      String((liveErrorFrom(new ConnectionError(kind, "gone"), { server }) as { hint?: string }).hint);
    assert.match(hint("far:8080"), /^check the network between here and the agent/);
    assert.match(hint(), /stderr|COMMAND/);
  }
});

test("an error about a directory of a remote agent names its server", () => {
  const error = new RequestError("invalid_params", "cwd: /nowhere is not a directory");
  const { message, hint } = liveErrorFrom(error, { server: "far:8080" }) as Error & { hint?: string };
  assert.match(message, /^the agent at far:8080 could not open a session: cwd: \/nowhere/);
  assert.equal(hint, "--cwd DIR names a directory of far:8080");
  assert.match(liveErrorFrom(error, {}).message, /^the agent could not open/);
});

test("a session that somebody has open is said to be in reach of --takeover", () => {
  const holder = { pid: 4711, since: 0 };
  const held = new RequestError("conflict", "held", { data: { reason: "session_held", holder } });
  const { message, hint } = busySession("mine", held);
  assert.equal(message, "the session mine is in use by process 4711");
  assert.match(hint ?? "", /try again when it is done.*--takeover takes one of Parley's own agent/);
  const elsewhere = busySession("mine", new RequestError("conflict", "held"), { isElsewhere: true });
  assert.equal(elsewhere.hint, "take it over with --takeover, or close it there");
});
