// Runs the coding agent with its offline model: a plan, tool calls, permission requests and an answer.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client, textOf } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";

const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
const cwd = join(folder, "project");
mkdirSync(cwd);
writeFileSync(join(cwd, "notes.txt"), "hello world\n");

const env = { PARLEY_HOME: join(folder, "home"), PARLEY_MODEL: "offline" };
const transport = spawnTransport("packages/cli/bin/parley", ["agent"], { env });
const agent = await client({
  name: "example-client",
  version: "1.0.0",
  requestPermission({ title }) {
    console.log(`? ${title}: allowed once`);
    return "allow_once";
  },
}).connect(transport);

const titles = new Map<string, string>();
let answer = "";
const session = await agent.newSession({ cwd });
session.onUpdate((update) => {
  if (update.sessionUpdate === "tool_call_update") {
    const { toolCallId, title, status } = update;
    titles.set(toolCallId, title ?? titles.get(toolCallId) ?? "");
    if (status === "completed") console.log(`* ${titles.get(toolCallId)}`);
  }
  if (update.sessionUpdate === "agent_message_chunk") answer += textOf(update.content);
});
const { stopReason } = await session.prompt(
  'replace "hello" with "goodbye" in notes.txt, then run wc -w notes.txt',
);
console.log(answer.trim().replaceAll(/\n+/g, "\n"));
console.log(`(${stopReason}) notes.txt: ${readFileSync(join(cwd, "notes.txt"), "utf8").trim()}`);
await agent.close();
rmSync(folder, { recursive: true });

// prints:
// * Plan: 0 of 2 done, now: replace "hello" with "goodbye" in notes.txt
// * Read notes.txt
// ? Edit notes.txt: allowed once
// * Edit notes.txt
// * Plan: 1 of 2 done, now: run wc -w notes.txt
// ? wc -w notes.txt: allowed once
// * wc -w notes.txt
// * Plan: 2 of 2 done
// 1. replace "hello" with "goodbye" in notes.txt: Replaced `hello` with `goodbye` in `notes.txt`.
// 2. run wc -w notes.txt: `wc -w notes.txt`:
// ```
// 2 notes.txt
// [exit code 0]
// ```
// (end_turn) notes.txt: goodbye world
