// The proxy `budget` in one process with a client and an agent.

import assert from "node:assert/strict";
import { appendFileSync, closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { budget } from "./budget.ts";

interface Asked {
  readonly id?: number;
  readonly method: "initialize" | "session/new" | "session/prompt";
  readonly params: { readonly prompt?: readonly { readonly text: string }[] };
}

/** Each prompt of the agent says what it costs: "3" or "-3". */
async function open(t: TestContext, { sessionId = "s", folder = folderOf(t), cost = 10 }) {
  const warned: string[] = [];
  const spending = () => {
    const [near, far] = memoryPair();
    const answers = {
      initialize: { protocolVersion: 1, agentCapabilities: {} },
      "session/new": { sessionId },
      "session/prompt": { stopReason: "end_turn" },
    };
    const message = (value: unknown) => {
      const { id, method, params } = value as Asked; // as: of the client
      if (id === undefined) return;
      for (const amount of params.prompt?.[0]?.text.split(" ").map(Number) ?? []) {
        const update = {
          sessionUpdate: "usage_update",
          used: 1,
          size: 10,
          cost: { amount, currency: "USD" },
        };
        far.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
      }
      far.send({ jsonrpc: "2.0", id, result: answers[method] });
    };
    const ignored = () => undefined;
    far.start({ message, idle: ignored, reject: ignored, drain: ignored, end: ignored });
    return near;
  };
  const host = {
    folder,
    warn: (text: string) => void warned.push(text),
    reach: () => Promise.reject(new Error("nothing is reached here")),
    secrets: () => [],
  };
  const start = () =>
    budget.create(proxyArguments(budget, ["--cost", String(cost), "--warn", "100"], "--proxy"), host);
  const connection = await client({ name: "c", version: "1" }).connect(conductor([start(), spending]));
  t.after(() => connection.close());
  const session = await connection.newSession({ cwd: "/" });
  const prompt = async (text: string) => (await session.prompt(text)).stopReason;
  return { folder, warned, prompt };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-budget-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a half-written line of the budget's file is skipped, and the user is told once", async (t) => {
  const { folder, warned, prompt } = await open(t, {});
  assert.equal(await prompt("3"), "end_turn");
  const [file = ""] = readdirSync(folder);
  appendFileSync(join(folder, file), '{"cost":5');
  assert.equal(await prompt("9"), "end_turn");
  assert.equal(await prompt("11"), "end_turn", "the agent does not stop");
  assert.equal(await prompt("12"), "refusal");
  assert.equal(warned.length, 1);
  assert.match(warned.join(), /a line cannot be read, and does not count/);
});

test("sessions whose long ids begin in the same way have a budget each", async (t) => {
  const folder = folderOf(t);
  const one = await open(t, { folder, sessionId: `${"s".repeat(300)}1` });
  await one.prompt("20");
  const two = await open(t, { folder, sessionId: `${"s".repeat(300)}2` });
  assert.equal(await one.prompt("21"), "refusal");
  assert.equal(await two.prompt("5"), "end_turn");
});

test("a new session begins at nothing, also with an id that an agent gave before", async (t) => {
  const { folder, prompt } = await open(t, {});
  await prompt("20");
  assert.equal(await prompt("21"), "refusal");
  const again = await open(t, { folder });
  assert.equal(await again.prompt("6"), "end_turn");
  assert.equal(await again.prompt("9"), "end_turn");
  assert.equal(await again.prompt("10"), "end_turn", "the agent does not stop");
});

test("a negative cost does not lower what was spent", async (t) => {
  const { prompt } = await open(t, {});
  await prompt("20 -500");
  assert.equal(await prompt("21"), "refusal");
});

test("what was read of the budget's file is not read again", async (t) => {
  const { folder, prompt, warned } = await open(t, {});
  assert.equal(await prompt("3"), "end_turn");
  const [file = ""] = readdirSync(folder);
  // what is overwritten was seen before
  const overwritten = openSync(join(folder, file), "r+");
  writeSync(overwritten, "~", 1);
  closeSync(overwritten);
  assert.equal(await prompt("9"), "end_turn");
  assert.equal(await prompt("10"), "end_turn", "the agent does not stop");
  assert.deepEqual(warned, []);
});

test("after a reset only what is spent from then on counts, also in a session that goes on", async (t) => {
  const { folder, prompt } = await open(t, {});
  assert.equal(await prompt("8"), "end_turn");
  assert.equal(budget.reset?.({ folder }), "Forgot what was spent in 1 session or day.");
  for (const cost of ["9", "12", "18"]) assert.equal(await prompt(cost), "end_turn");
  assert.equal(await prompt("19"), "end_turn", "the agent does not stop");
  assert.equal(await prompt("20"), "refusal");
});
