// Prose at a terminal, by the real command behind a pseudo-terminal that `script` of util-linux makes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { patience, RunProbe } from "./run-probe.ts";

const probe = new RunProbe();
const skip = process.platform !== "linux" || !existsSync("/usr/bin/script");
const text = "one two three four five six seven eight nine ten eleven";

test("lines end between words at a terminal, and nowhere in a pipe", { ...patience, skip }, async () => {
  const command = ["run", "--no-history", "x", "--", ...probe.agent([{ say: text }])];
  assert.equal((await probe.parley(command)).stdout, `${text}\n`);
  const { stdout } = await probe.atTerminal(30, command);
  assert.match(stdout, /one two three four five six\r\nseven eight nine ten eleven\r\n/);
});

test("what is going on does not wipe out what was said", { ...patience, skip }, async () => {
  const steps = [{ say: "half a line" }, { tool: { title: "Look" }, steps: [{ start: true as const }] }];
  const { stdout } = await probe.atTerminal(80, ["run", "--no-history", "x", "--", ...probe.agent(steps)]);
  assert.match(stdout, /half a line\r\n/);
});
