// Tests an agent that sends many reads at once.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

/** Asks for one file two hundred times in one go, and says how often it got all of it. */
const greedy = `
  const lines = require("node:readline").createInterface({ input: process.stdin });
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const params = { sessionId: "s", path: process.cwd() + "/large.txt" };
  let prompt, whole = 0, answers = 0;
  lines.on("line", (line) => {
    const { id, method, result } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === "session/new") send({ id, result: { sessionId: "s" } });
    if (method === "session/prompt") {
      prompt = id;
      for (let at = 0; at < 200; at++) send({ id: "read" + at, method: "fs/read_text_file", params });
    }
    if (!String(id).startsWith("read")) return;
    if (result?.content.length === 1_000_000) whole++;
    if (++answers < 200) return;
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: whole + " whole" } };
    send({ method: "session/update", params: { sessionId: "s", update } });
    send({ id: prompt, result: { stopReason: "end_turn" } });
  });`;

test("an agent that reads many large files at once gets all of them", patience, async () => {
  writeFileSync(join(probe.cwd, "large.txt"), "x".repeat(1_000_000));
  const args = ["run", "--no-history", "go", "--", process.execPath, "-e", greedy];
  const { status, stdout, stderr } = await probe.parley(args);
  assert.deepEqual([status, stdout, stderr], [0, "200 whole\n", ""]);
});
