// Tests how the agent ends when its editor stops reading.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { home, launcher, patience } from "./support/process-probe.ts";

test("F25 an agent whose output is closed exits without a flood of errors", patience, async (t) => {
  const { cwd, env } = home(t);
  const child = spawn(launcher, ["agent"], { cwd, env: { ...process.env, ...env, PARLEY_MODEL: "offline" } });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdout.destroy();
  child.stdin.on("error", () => undefined);
  for (let id = 1; id <= 100; id++) {
    const params = { protocolVersion: 1, clientCapabilities: {} };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params })}\n`);
  }
  // its stdin stays open: the end of stdout alone must be enough
  await closed;
  assert.ok(complaints.split("\n").length < 10, complaints);
});
