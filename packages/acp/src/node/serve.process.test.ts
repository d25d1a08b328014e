import assert from "node:assert/strict";
import { test } from "node:test";
import { client, type PromptResult } from "../index.ts";
import { spawnTransport } from "./transports.ts";

const program = (log: string) => `
  import { agent } from "@parley/acp";
  import { serveStdio } from "@parley/acp/node";
  await serveStdio(agent({
    name: "broken",
    version: "1.0.0",
    ${log}
    prompt() { throw new Error("the cause"); },
  }));
`;

async function outcomeAndStderr(log: string): Promise<{ outcome: PromptResult; stderr: string }> {
  const args = ["--conditions=parley-source", "--input-type=module", "--eval", program(log)];
  const { transport, process: agent } = spawnTransport(process.execPath, args);
  const connected = await client({ name: "client", version: "1.0.0" }).connect(transport);
  const session = await connected.newSession({ cwd: process.cwd() });
  const outcome = await session.prompt("go").result;
  await connected.close();
  return { outcome, stderr: agent.stderrTail() };
}

test("what goes wrong in an agent on stdio is printed to stderr with its stack; the client learns the id of it", async () => {
  const { outcome, stderr } = await outcomeAndStderr("");
  assert.equal(outcome.stopReason, "error");
  assert.doesNotMatch(JSON.stringify(outcome), /the cause/);
  assert.ok(outcome.error);
  const { correlationId } = outcome.error.data as { correlationId: string };
  assert.match(stderr, /Error: the cause\n\s+at /);
  assert.ok(stderr.includes(correlationId));
});

test("an agent with a log of its own prints nothing else", async () => {
  const { stderr } = await outcomeAndStderr("log: () => undefined,");
  assert.equal(stderr, "");
});
