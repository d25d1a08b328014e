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
  const agent = spawnTransport(process.execPath, args);
  const connected = await client({ name: "client", version: "1.0.0" }).connect(agent);
  const session = await connected.newSession({ cwd: process.cwd() });
  const outcome = await session.prompt("go").result;
  await connected.close();
  return { outcome, stderr: agent.stderrTail() };
}

test("what goes wrong in an agent on stdio is printed to stderr with its stack; the client learns its message and its id", async () => {
  const { outcome, stderr } = await outcomeAndStderr("");
  assert.equal(outcome.stopReason, "error");
  assert.ok(outcome.error);
  assert.equal(outcome.error.message, "the cause");
  assert.doesNotMatch(JSON.stringify(outcome), /\n\s+at /);
  const { correlationId } = outcome.error.data as { correlationId: string };
  assert.match(stderr, /Error: the cause\n\s+at /);
  assert.ok(stderr.includes(correlationId));
});

test("an agent with a log of its own prints nothing else", async () => {
  const { stderr } = await outcomeAndStderr("log: () => undefined,");
  assert.equal(stderr, "");
});

/** An agent whose store says when it is closed, and closes as `close` says. Resolves with what it printed at its end. */
async function stderrOfStore(close: string): Promise<{ stderr: string; exit: object }> {
  const source = `
    import { agent } from "@parley/acp";
    import { serveStdio } from "@parley/acp/node";
    import { memoryStore } from "@parley/acp/store";
    const kept = memoryStore();
    const store = { ...kept, async close() { ${close} } };
    await serveStdio(agent({ name: "keeper", version: "1.0.0", session: { store }, prompt() {} }));
  `;
  const args = ["--conditions=parley-source", "--input-type=module", "--eval", source];
  const agent = spawnTransport(process.execPath, args, { graceMs: 60_000 });
  const connected = await client({ name: "client", version: "1.0.0" }).connect(agent);
  await connected.newSession({ cwd: process.cwd() });
  await connected.close();
  return { stderr: agent.stderrTail(), exit: await agent.exited };
}

test("an agent on stdio closes its store before it exits", async () => {
  const slowly = "await new Promise((resolve) => setTimeout(resolve, 50)); console.error('closed');";
  assert.deepEqual(await stderrOfStore(slowly), { stderr: "closed\n", exit: { exitCode: 0 } });
});

test("a store that does not close, or cannot be, keeps no agent from its exit", async () => {
  const stuck = "console.error('closing'); await new Promise((resolve) => setTimeout(resolve, 3_600_000));";
  assert.deepEqual(await stderrOfStore(stuck), { stderr: "closing\n", exit: { exitCode: 0 } });
  const { stderr, exit } = await stderrOfStore("throw new Error('the disk is gone');");
  assert.match(stderr, /the agent could not be closed\nError: the disk is gone/);
  assert.deepEqual(exit, { exitCode: 0 });
});
