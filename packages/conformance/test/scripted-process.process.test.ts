// Scripted agents in processes of their own: the same as in memory, and real deaths.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ExitStatus } from "@parley/acp/model";
import { spawnTransport } from "@parley/acp/node";
import { memoryPair } from "@parley/acp/transport";
import { everyFeature, oddities } from "@parley/conformance";
import {
  type AgentScenario,
  type ClientRecord,
  type ClientScenario,
  scriptedAgent,
  scriptedClient,
} from "@parley/conformance/testing";
import { programFile } from "../../acp/test/support/programs.ts";

const program = programFile("conformance/test/support/scripted-agent-process.ts");
const limit = { timeout: 60_000 };

async function overStdio(
  scenario: string,
  client: ClientScenario,
): Promise<{ record: ClientRecord; exit: ExitStatus; stderr: string }> {
  const args = ["--conditions=parley-source", program, scenario];
  const started = spawnTransport(process.execPath, args, { graceMs: 300 });
  const record = await scriptedClient(client).run(started);
  return { record, exit: await started.exited, stderr: started.stderrTail() };
}

for (const version of [1, 2] as const) {
  test(`every feature gives the same record in a process as in memory (v${version})`, limit, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "parley-scenario-"));
    t.after(() => rm(folder, { recursive: true }));
    const agent: AgentScenario = { ...everyFeature.agent, editions: [`v${version}`] };
    const file = join(folder, "agent.json");
    await writeFile(file, JSON.stringify(agent));
    const { record, stderr } = await overStdio(file, everyFeature.client);
    const [near, far] = memoryPair();
    scriptedAgent(agent).connect(far);
    assert.deepEqual(record, await scriptedClient(everyFeature.client).run(near));
    assert.equal(stderr, "");
  });
}

for (const [name, wanted] of Object.entries({
  crash: { exitCode: 134 },
  "half-a-line-and-death": { exitCode: 1 },
  killed: { signal: "SIGKILL" },
} as const)) {
  test(`${name}: the process dies, and what was said before is seen`, limit, async () => {
    const { agent, client } = oddities[name as "crash"];
    const { record, exit } = await overStdio(JSON.stringify(agent), client);
    const said = record.sessions.main?.entries.filter((entry) => JSON.stringify(entry).includes('"fine"'));
    assert.equal(said?.length, 1);
    assert.equal(record.steps.at(-1)?.error?.kind, "exited");
    assert.deepEqual(
      { exitCode: undefined, signal: undefined, ...wanted },
      { exitCode: exit.exitCode ?? undefined, signal: exit.signal ?? undefined },
    );
  });
}

test("hang: the process neither answers nor ends with its input, and is ended", limit, async () => {
  const { agent, client } = oddities.hang;
  const { exit } = await overStdio(JSON.stringify(agent), client);
  assert.equal(exit.signal, "SIGTERM");
});

test("banner and byte-order-mark: lines that are no messages do no harm on a real pipe", limit, async () => {
  for (const name of ["banner", "byte-order-mark", "blank-lines", "broken-json"] as const) {
    const { agent, client } = oddities[name];
    const { record } = await overStdio(JSON.stringify(agent), client);
    assert.deepEqual(record.steps.at(-1)?.result, { stopReason: "end_turn" }, name);
  }
});

test("an invalid scenario is reported with the position of the error", limit, async () => {
  const { stderr, exit } = await overStdio(
    '{"parley":"agent-scenario","version":1,"turns":[{"steps":[{"sya":1}]}]}',
    {
      parley: "client-scenario",
      version: 1,
      steps: [],
    },
  );
  assert.match(
    stderr,
    /ScenarioError: \$\.turns\[0\]\.steps\[0\]: got an object with sya, wanted exactly one of say/,
  );
  assert.equal(exit.exitCode, 1);
});
